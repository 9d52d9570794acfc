// The frontends in the maps of nftables mode, with the endpoints that their chains select. Pure.
import type { Element } from '../../kernel/nftables/types.js';
import { type Family, formatAddress, joinHostPort, parseAddress } from '../../net/address.js';
import type { Protocol } from '../../net/protocol.js';
import type { FrontendKind } from '../../services/types.js';
import type { ProgrammedEndpoint, ProgrammedFrontend } from '../inventory.js';
import { CLIENT_PORT, type Packet } from '../packet/packet.js';
import { bytesIn, elementAt, keyText, type ProgrammedTable } from './table.js';
import { walkChain } from './walk.js';

/** The maps with frontends: those that lead to chains of Services, then those that refuse packets. */
const MAPS = ['service-ips', 'service-nodeports', 'no-endpoint-services', 'no-endpoint-nodeports'] as const;

const PROTOCOLS: Readonly<Record<number, Protocol>> = { 6: 'tcp', 17: 'udp', 132: 'sctp' };

/** Clients outside the cluster, of networks of documentation (RFC 5737, RFC 3849). */
const CLIENT = { 4: '192.0.2.1', 6: '2001:db8::1' } as const;
/** The destination of packets to node ports, where rules do not compare it. */
const ANY = { 4: '192.0.2.2', 6: '2001:db8::2' } as const;

/** No address is one of the node: the client is another host. */
const ELSEWHERE = { isLocal: () => false };

/** An address, protocol and port in a map. */
interface Key {
  readonly address?: string;
  readonly protocol: Protocol;
  readonly port: number;
}

/**
 * The frontends of a family. Their endpoints are those that hosts outside the cluster reach, or the clients of a cluster IP.
 */
export function frontendsIn(family: Family, table: ProgrammedTable): ProgrammedFrontend[] {
  const found = new Map<string, ProgrammedFrontend>();
  for (const name of MAPS) {
    for (const element of table.sets.get(name)?.single.values() ?? []) {
      const bytes = bytesIn(element.key);
      const key = keyIn(family, bytes, name.endsWith('nodeports'));
      if (!key) continue;
      // Keys of node ports are shorter than others.
      const at = keyText(bytes);
      found.set(at, frontendOf(family, table, key, element, found.get(at)));
    }
  }
  return [...found.values()];
}

/** @param known the same frontend in a map of those with endpoints */
function frontendOf(
  family: Family,
  table: ProgrammedTable,
  key: Key,
  { data, comment }: Element,
  known: ProgrammedFrontend | undefined,
): ProgrammedFrontend {
  const verdict = typeof data === 'object' && 'verdict' in data ? data : undefined;
  const chain = verdict && 'chain' in verdict ? verdict.chain : undefined;
  if (verdict?.verdict === 'drop' || chain === 'reject-chain') {
    const refused = chain === undefined ? 'DROP' : 'REJECT';
    const named = known ?? { ...base(family, table, key), ...namesInComment(comment) };
    return { ...named, refused };
  }
  const endpoints = chain === undefined ? [] : endpointsOf(family, table, key, chain);
  return {
    ...base(family, table, key),
    ...namesInChain(chain),
    ...(chain === undefined ? {} : { chain }),
    persistence: persistenceOf(table, endpoints),
    endpoints,
  };
}

function base(family: Family, table: ProgrammedTable, key: Key): ProgrammedFrontend {
  const kind = kindOf(table, key);
  return { family, ...key, ...(kind === undefined ? {} : { kind }), persistence: 0, endpoints: [] };
}

/** An address or none, a protocol and a port; each is padded to 4 bytes. */
function keyIn(family: Family, bytes: Uint8Array, isNodePort: boolean): Key | undefined {
  const size = isNodePort ? 0 : family === 4 ? 4 : 16;
  const protocol = PROTOCOLS[bytes[size] ?? 0];
  if (bytes.length !== size + 8 || !protocol) return undefined;
  const port = (bytes[size + 4] ?? 0) * 256 + (bytes[size + 5] ?? 0);
  return { ...(isNodePort ? {} : { address: formatAddress(bytes.slice(0, size)) }), protocol, port };
}

/** External and load-balancer IPs differ in the rules only if source ranges are given. */
function kindOf({ sets }: ProgrammedTable, key: Key): FrontendKind | undefined {
  if (key.address === undefined) return 'nodePort';
  const text = parseAddress(key.address);
  if (text && sets.get('cluster-ips')?.single.has(keyText(text))) return 'clusterIP';
  const firewall = sets.get('firewall-ips');
  return firewall && text && elementAt(firewall, concatenated(text, key)) ? 'loadBalancerIP' : undefined;
}

function concatenated(address: Uint8Array, { protocol, port }: Key): Uint8Array {
  const number = Number(Object.keys(PROTOCOLS).find((each) => PROTOCOLS[Number(each)] === protocol));
  return Uint8Array.of(...address, number, 0, 0, 0, port >> 8, port & 0xff, 0, 0);
}

/** `service-2QRHZV4L-default/kubernetes/tcp/https`; a port without a name has a `/` at the end. */
const CHAIN = /^[a-z]+-[A-Z2-7]{8}-([^/]+\/[^/]+)\/[a-z]+\/([^/]*)$/;

function namesInChain(chain = ''): Pick<ProgrammedFrontend, 'service' | 'portName'> {
  const [, service, portName] = CHAIN.exec(chain) ?? [];
  return service === undefined ? {} : { service, ...(portName ? { portName } : {}) };
}

/** `demo/web:http`, or `demo/web` for a port without a name. */
function namesInComment(comment = ''): Pick<ProgrammedFrontend, 'service' | 'portName'> {
  const [, service, portName] = /^([^\s:]+\/[^\s:]+)(?::(\S+))?$/.exec(comment) ?? [];
  return service === undefined ? {} : { service, ...(portName ? { portName } : {}) };
}

/** The endpoints to which a chain sends packets of another host, each with its probability. */
function endpointsOf(
  family: Family,
  table: ProgrammedTable,
  { address = ANY[family], protocol, port }: Key,
  chain: string,
): ProgrammedEndpoint[] {
  const packet: Packet = {
    ...{ family, protocol, source: CLIENT[family], destination: address, sourcePort: CLIENT_PORT, port },
    ...{ mark: 0, state: 'NEW', fromBridgePort: false },
  };
  const endpoints = new Map<string, ProgrammedEndpoint>();
  for (const { share, packet: sent, applied } of walkChain(table, chain, packet, ELSEWHERE).branches) {
    if (!sent.translated) continue;
    const name = joinHostPort(sent.destination, sent.port);
    const former = endpoints.get(name);
    endpoints.set(name, {
      ...{ address: sent.destination, port: sent.port, chain: applied.at(-1)?.chain ?? chain },
      share: (former?.share ?? 0) + share,
    });
  }
  return [...endpoints.values()];
}

/** The timeout of the set that the chain of an endpoint updates, in s; 0 without session affinity. */
function persistenceOf({ chains, sets }: ProgrammedTable, [first]: readonly ProgrammedEndpoint[]): number {
  const expressions = chains.get(first?.chain ?? '')?.rules.flatMap((rule) => rule.expressions) ?? [];
  const update = expressions.find((expression) => expression.kind === 'dynset');
  const timeout = update && sets.get(update.set)?.set.timeout;
  return timeout === undefined ? 0 : Number(timeout) / 1000;
}
