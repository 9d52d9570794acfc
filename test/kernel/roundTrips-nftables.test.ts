// What nftables lists is deleted and written again: every expression, and every kind of object.
// Needs: nftables
import { afterEach, describe } from 'node:test';
import { type Expression, openNftables } from '../../src/kernel/nftables/index.js';
import { emptyNamespaces } from '../support/namespaces/netns.js';
import { nftablesRoundTrips } from '../support/roundTrips/nftables.js';

const namespaces = emptyNamespaces();
afterEach(() => namespaces.remove());

/** Modules that not every kernel has, or that are for another family. */
const MODULES: ReadonlySet<unknown> = new Set([
  'queue',
  'dup',
  'fwd',
  'tproxy',
  'socket',
  'connlimit',
  'synproxy',
]);

/** Values that a kernel may refuse: it lacks a module or a flag, or the value is one that no rule can use. */
function isOptional(value: object): boolean {
  const { kind, data, expressions, ...fields } = value as Extract<Expression, { kind: 'dynset' }> & {
    readonly data?: Uint8Array;
    readonly type?: string;
    readonly code?: number;
    readonly flags?: readonly unknown[];
    readonly family?: unknown;
    readonly base?: { readonly hook: unknown; readonly devices?: unknown };
    readonly key?: unknown;
    readonly expires?: bigint;
  };
  if (kind === undefined) {
    const { family, flags = [], base, key, expires } = fields;
    const isForeign = typeof family === 'number' || family === 'netdev' || base?.devices !== undefined;
    const isUnknown = flags.some((flag) => typeof flag === 'number') || typeof base?.hook === 'number';
    // An element that has a rest of its time, and no time; and a port of a protocol without ports.
    const isOdd = expires === 1n || (Array.isArray(key) && key.includes(99));
    return isForeign || isUnknown || isOdd || fields.type === 'synproxy';
  }
  if (MODULES.has(kind)) return true;
  const { type, code, flags = [] } = fields;
  switch (kind as string) {
    case 'immediate':
      return data?.length === 64; // beyond the last register
    case 'meta':
      return typeof fields.key === 'number';
    case 'reject':
      return type === 'icmp' && code === undefined;
    case 'fib':
      return flags.includes('oif');
    case 'dynset':
      return (expressions?.length ?? 0) > 1;
    default:
      return false;
  }
}

describe('nftables', () =>
  nftablesRoundTrips(
    async () => namespaces.keep(await openNftables({ netns: namespaces.add() })),
    isOptional,
  ));
