// The frontends in the maps of nftables mode: addresses, protocols and ports that are keys of elements. Pure.

import { PROTOCOL_NUMBERS, type Protocol } from '../../../kernel/net/protocol.js';
import type { Element, ElementValue, Verdict } from '../../../kernel/nftables/types.js';
import { REJECT_CHAIN, RESET_CHAIN } from '../../../proxy/modes/nftables/plan/fixedChains.js';
import type { Cause } from '../explanation.js';
import { has, type ProgrammedTable } from './table.js';

/** The maps with frontends: those that lead to chains of Services, then those that refuse packets. */
export const FRONTEND_MAPS = [
  'service-ips',
  'service-nodeports',
  'no-endpoint-services',
  'no-endpoint-nodeports',
] as const;

/** An address, protocol and port in a map. */
export interface FrontendKey {
  /** Canonical. Absent for a node port. */
  readonly address?: string;
  readonly protocol: Protocol;
  readonly port: number;
}

/** An element of a map of frontends. */
export interface FrontendElement extends FrontendKey {
  /** The chain to which it leads; absent if packets are refused. */
  readonly chain?: string;
  /** What happens to packets of a Service without endpoints. */
  readonly refused?: 'REJECT' | 'DROP';
  /** The names of the Service and the port, where it refuses packets: `demo/web:http`. */
  readonly comment?: string;
}

/** All elements, those with endpoints first. */
export function* frontendElements({ sets }: Pick<ProgrammedTable, 'sets'>): Generator<FrontendElement> {
  for (const name of FRONTEND_MAPS) {
    for (const { key, data, comment } of sets.get(name)?.elements ?? []) {
      const frontend = keyIn(key);
      if (frontend) yield { ...frontend, ...verdictIn(data), ...(comment !== undefined && { comment }) };
    }
  }
}

/** The key of a frontend in a map of that name; undefined if the map has no such frontends. */
export function keyOf(
  map: (typeof FRONTEND_MAPS)[number],
  { address, protocol, port }: FrontendKey,
): Exclude<ElementValue, string | number | Uint8Array> | undefined {
  if (map.endsWith('nodeports')) return address === undefined ? [protocol, port] : undefined;
  return address === undefined ? undefined : [address, protocol, port];
}

/** An address or none, a protocol and a port; undefined for anything else. */
function keyIn(key: Element['key']): FrontendKey | undefined {
  const [port, protocol, address] = Array.isArray(key) ? key.toReversed() : [];
  if (typeof port !== 'number' || typeof protocol !== 'string' || !(protocol in PROTOCOL_NUMBERS))
    return undefined;
  return { ...(typeof address === 'string' && { address }), protocol: protocol as Protocol, port };
}

function verdictIn(data: Element['data']): Pick<FrontendElement, 'chain' | 'refused'> {
  if (typeof data !== 'object' || !('verdict' in data)) return {};
  const verdict: Verdict = data;
  if (verdict.verdict === 'drop') return { refused: 'DROP' };
  if (!('chain' in verdict)) return {};
  const isRejected = verdict.chain === REJECT_CHAIN || verdict.chain === RESET_CHAIN;
  return isRejected ? { refused: 'REJECT' } : { chain: verdict.chain };
}

/** Whether an address is one of a Service's own, in the set `cluster-ips`. */
export function isClusterIP({ sets }: ProgrammedTable, address: string): boolean {
  return has(sets.get('cluster-ips'), address);
}

/** Whether source ranges limit an address and port. */
export function hasSourceRanges(
  { sets }: ProgrammedTable,
  { address, protocol, port }: FrontendKey,
): boolean {
  return address !== undefined && has(sets.get('firewall-ips'), [address, protocol, port]);
}

/** Why an element refuses packets; undefined if it does not. */
export function refusalOf({ refused, comment }: FrontendElement): Cause | undefined {
  if (refused === undefined) return undefined;
  const name = comment ?? 'the Service';
  return refused === 'DROP'
    ? { code: 'NoLocalEndpoint', text: `${name} has no local endpoints` }
    : { code: 'NoRealServer', text: `${name} has no endpoints` };
}
