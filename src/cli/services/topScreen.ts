// The order and the texts of top. Pure.
import { count } from '../summary.js';
import { serviceName, type VirtualServiceReport } from './report.js';
import { shortNumber } from './table.js';

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

/** The virtual services in an order. Equal ones keep their order, by name. */
export function sorted(services: readonly VirtualServiceReport[], order: Order): VirtualServiceReport[] {
  if (order === 'name') return [...services];
  return [...services].sort((a, b) => weightOf(b, order) - weightOf(a, order));
}

function weightOf(service: VirtualServiceReport, order: Exclude<Order, 'name'>): number {
  const { rates, activeConnections, inactiveConnections } = service;
  switch (order) {
    case 'rate':
      return rates.connections;
    case 'active':
      return activeConnections;
    case 'inactive':
      return inactiveConnections;
    case 'bytes':
      return rates.inBytes + rates.outBytes;
  }
}

/** The first line: sums of the list, and its order. */
export function titleLine(services: readonly VirtualServiceReport[], order: Order): string {
  const sum = (value: (service: VirtualServiceReport) => number) =>
    services.reduce((total, service) => total + value(service), 0);
  const names = new Set(services.map(serviceName).filter(Boolean)).size;
  const parts = [
    `${count(services.length, 'virtual service')} of ${count(names, 'Service port')}`,
    `${sum(({ activeConnections }) => activeConnections)} active`,
    `${sum(({ inactiveConnections }) => inactiveConnections)} inactive`,
    `${shortNumber(sum(({ rates }) => rates.connections))} new/s`,
  ];
  return `${parts.join(', ')}; by ${TITLES[order]}`;
}

/** The last line: the keys. */
export function lastLine(interval: number, orders: readonly Order[]): string {
  const keys = Object.entries(KEYS)
    .filter(([, order]) => orders.includes(order))
    .map(([key, order]) => `${key} ${order}`);
  return `every ${interval} s; order: ${keys.join(', ')}; q quit`;
}
