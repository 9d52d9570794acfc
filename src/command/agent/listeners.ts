// Listeners of the events of a proxy.
import type { ProxyEvents } from '../../proxy/proxy.js';

/** What a listener does on the events that it names. */
export type ProxyListener = Partial<ProxyEvents>;

/** Every event goes to all listeners, in their order. An event that none of them names stays undefined: no one makes its arguments. */
export function inOrder(listeners: readonly ProxyListener[]): ProxyEvents {
  const names = new Set(listeners.flatMap((listener) => Object.keys(listener) as (keyof ProxyEvents)[]));
  const events = Array.from(names, (name) => {
    const calls = listeners.flatMap((listener) => listener[name] ?? []) as ((...args: unknown[]) => void)[];
    return [name, (...args: unknown[]) => calls.forEach((call) => void call(...args))];
  });
  return { ...NOTHING, ...Object.fromEntries(events) };
}

/** The events that every proxy reports. */
const NOTHING = { synced() {}, problems() {}, failed() {}, retrying() {} };
