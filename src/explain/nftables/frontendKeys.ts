// The frontends in the maps of nftables mode: addresses, protocols and ports that are keys of elements. Pure.
import type { Element } from '../../kernel/nftables/types.js';
import { type Family, formatAddress, parseAddress } from '../../net/address.js';
import type { Protocol } from '../../net/protocol.js';
import type { Cause } from '../explanation.js';
import { dataOf, elementAt, keyOf, keyText, type ProgrammedTable } from './table.js';

/** The maps with frontends: those that lead to chains of Services, then those that refuse packets. */
const MAPS = ['service-ips', 'service-nodeports', 'no-endpoint-services', 'no-endpoint-nodeports'] as const;

const PROTOCOLS: Readonly<Record<number, Protocol>> = { 6: 'tcp', 17: 'udp', 132: 'sctp' };

/** An address, protocol and port in a map. */
export interface FrontendKey {
  /** Absent for a node port. */
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
export function* frontendElements(family: Family, { sets }: ProgrammedTable): Generator<FrontendElement> {
  for (const name of MAPS) {
    const map = sets.get(name);
    if (!map) continue;
    for (const element of map.elements) {
      const key = keyIn(family, keyOf(map, element), name.endsWith('nodeports'));
      if (key) yield { ...key, ...verdictIn(dataOf(map, element)), ...commentIn(element) };
    }
  }
}

function commentIn({ comment }: Element): Pick<FrontendElement, 'comment'> {
  return comment === undefined ? {} : { comment };
}

function verdictIn(data: ReturnType<typeof dataOf>): Pick<FrontendElement, 'chain' | 'refused'> {
  if (data === undefined || data instanceof Uint8Array) return {};
  if (data.verdict === 'drop') return { refused: 'DROP' };
  if (!('chain' in data)) return {};
  return data.chain === 'reject-chain' ? { refused: 'REJECT' } : { chain: data.chain };
}

/** An address or none, a protocol and a port; each is padded to 4 bytes. */
function keyIn(family: Family, bytes: Uint8Array, isNodePort: boolean): FrontendKey | undefined {
  const size = isNodePort ? 0 : family === 4 ? 4 : 16;
  const protocol = PROTOCOLS[bytes[size] ?? 0];
  if (bytes.length !== size + 8 || !protocol) return undefined;
  const port = (bytes[size + 4] ?? 0) * 256 + (bytes[size + 5] ?? 0);
  return { ...(isNodePort ? {} : { address: formatAddress(bytes.slice(0, size)) }), protocol, port };
}

/** Whether an address is one of a Service's own, in the set `cluster-ips`. */
export function isClusterIP({ sets }: ProgrammedTable, address: string): boolean {
  const bytes = parseAddress(address);
  return bytes !== undefined && sets.get('cluster-ips')?.single.has(keyText(bytes)) === true;
}

/** Whether source ranges limit an address and port. */
export function hasSourceRanges(
  { sets }: ProgrammedTable,
  { address = '', protocol, port }: FrontendKey,
): boolean {
  const bytes = parseAddress(address);
  const firewall = sets.get('firewall-ips');
  if (!firewall || !bytes) return false;
  const number = Number(Object.keys(PROTOCOLS).find((each) => PROTOCOLS[Number(each)] === protocol));
  return (
    elementAt(firewall, Uint8Array.of(...bytes, number, 0, 0, 0, port >> 8, port & 0xff, 0, 0)) !== undefined
  );
}

/** Why an element refuses packets; undefined if it does not. */
export function refusalOf({ refused, comment }: FrontendElement): Cause | undefined {
  if (refused === undefined) return undefined;
  const name = comment ?? 'the Service';
  return refused === 'DROP'
    ? { code: 'NoLocalEndpoint', text: `${name} has no local endpoints` }
    : { code: 'NoRealServer', text: `${name} has no endpoints` };
}
