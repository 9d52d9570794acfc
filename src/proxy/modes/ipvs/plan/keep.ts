// Selects the state that stays in the kernel while some objects are unreadable: items without a plan may belong to such
// an object.
import type { Keep } from '../../mode.js';
import { type Item, isOurs, itemMap } from './items.js';
import { joined, withOthers, without } from './realServers.js';
import { nodeDropsOf, shortcutsOf } from './rules.js';

/** Kinds of items that belong to Services. */
const OF_SERVICES: ReadonlySet<Item['kind']> = new Set([
  'entry',
  'nodeDrop',
  'shortcut',
  'address',
  'virtualService',
  'tunnelRoute',
]);

/** Keeps virtual services, real servers, entries, addresses, routes of tunnels, and the rules of nodeDrops and shortcuts. */
export const keep: Keep<Item> = {
  found(known) {
    const items = [...known.values()];
    const ofRules = items.flatMap((item) =>
      item.kind === 'chain' ? [...nodeDropsOf(item), ...shortcutsOf(item)] : [],
    );
    return itemMap([...items.filter((item) => OF_SERVICES.has(item.kind) && isOurs(item)), ...ofRules]);
  },
  beyond(found, wanted) {
    if (found.kind !== 'virtualService' || wanted.kind !== 'virtualService') return undefined;
    const { realServers, others } = without(found, wanted);
    if (realServers.size === 0 && !others) return undefined;
    return withOthers({ ...found, realServers }, others);
  },
  join(wanted, rest) {
    if (wanted.kind !== 'virtualService' || rest.kind !== 'virtualService') return wanted;
    return joined(wanted, without(rest, wanted));
  },
};
