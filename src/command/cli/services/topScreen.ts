// The orders and the texts of top. Pure.

/** The orders of the list: largest number first, or by name. */
export const ORDERS = ['rate', 'active', 'inactive', 'bytes', 'name'] as const;

/** An order of the list. */
export type Order = (typeof ORDERS)[number];

const KEYS: Readonly<Record<string, Order>> = {
  c: 'rate',
  a: 'active',
  i: 'inactive',
  b: 'bytes',
  n: 'name',
};

/** What each order is by. */
export const TITLES: Readonly<Record<Order, string>> = {
  rate: 'new connections per second',
  active: 'active connections',
  inactive: 'inactive connections',
  bytes: 'bytes per second',
  name: 'name',
};

/** The order that a key selects; undefined for another key. */
export function orderOfKey(key: string): Order | undefined {
  return Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
}

/** The last line: the keys. */
export function lastLine(interval: number, orders: readonly Order[]): string {
  const keys = Object.entries(KEYS)
    .filter(([, order]) => orders.includes(order))
    .map(([key, order]) => `${key} ${order}`);
  return `every ${interval} s; order: ${keys.join(', ')}; q quit`;
}
