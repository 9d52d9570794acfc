// Pairs of routes and of addresses, and whether the kernel refuses to add the second because the first is there. The routes are by va,
// which has 10.1.0.1/24 and fd01::1/64.
import type { NewLinkAddress, NewRoute } from '../../../../src/kernel/rtnetlink/types.js';

const v4 = { destination: '10.9.0.0/16', link: 'va' } as const;
const v6 = { destination: 'fd09::/64', link: 'va' } as const;

/** The second differs in what is named. */
export const ROUTE_PAIRS: readonly (readonly [NewRoute, NewRoute, isSame: boolean])[] = [
  [v4, v4, true],
  [v4, { ...v4, protocol: 'static' }, true],
  [v4, { destination: '10.9.0.0/16', gateway: '10.1.0.2' }, true],
  [v4, { destination: '10.9.0.0/16', type: 'blackhole' }, true],
  [v4, { ...v4, scope: 'host', preferredSource: '10.1.0.1' }, true],
  [v4, { ...v4, metric: 0, tos: 0, table: 'main' }, true],
  [v4, { ...v4, metric: 5 }, false],
  [v4, { ...v4, tos: 16 }, false],
  [v4, { ...v4, table: 1000 }, false],
  [v4, { ...v4, destination: '10.9.0.0/17' }, false],
  [v4, { ...v4, destination: '10.8.0.0/16' }, false],
  [v6, v6, true],
  [v6, { destination: 'fd09::/64', gateway: 'fd01::2' }, true],
  [v6, { ...v6, metric: 1024 }, true],
  [v6, { ...v6, metric: 0 }, true],
  [v6, { ...v6, destination: 'FD09:0::5/64' }, true],
  [v6, { ...v6, source: '::/0' }, true],
  [v6, { ...v6, metric: 5 }, false],
  [v6, { ...v6, source: 'fd03::/64' }, false],
  [v6, { ...v6, table: 1000 }, false],
  [v6, { ...v6, destination: 'fd09::/65' }, false],
];

const a4 = { link: 'va', address: '10.2.0.1', prefix: 24 } as const;
const a6 = { link: 'va', address: 'fd02::1', prefix: 64, flags: ['nodad'] } as const;

/** The same of addresses. */
export const ADDRESS_PAIRS: readonly (readonly [NewLinkAddress, NewLinkAddress, isSame: boolean])[] = [
  [a4, a4, true],
  [a4, { ...a4, scope: 'link', metric: 5 }, true],
  [a4, { ...a4, prefix: 32 }, false],
  [a4, { ...a4, address: '10.2.0.2' }, false],
  [a4, { ...a4, peer: '10.2.0.7' }, true],
  [a4, { ...a4, peer: '10.3.0.7' }, false],
  [a4, { ...a4, link: 'vb' }, false],
  [a6, a6, true],
  [a6, { ...a6, prefix: 128 }, true],
  [a6, { ...a6, address: 'FD02:0::1' }, true],
  [a6, { ...a6, peer: 'fd02::7' }, true],
  [a6, { ...a6, address: 'fd02::2' }, false],
  [a6, { ...a6, link: 'vb' }, false],
];
