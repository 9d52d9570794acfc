// The frontends in the maps of nftables mode, with the endpoints that their chains select. Pure.

import { type Family, joinHostPort } from '../../../kernel/net/address.js';
import { TABLE } from '../../../proxy/modes/nftables/plan/names.js';
import type { FrontendKind } from '../../../proxy/services/types.js';
import type { FrontendQuery, ProgrammedEndpoint, ProgrammedFrontend } from '../inventory.js';
import { CLIENT_PORT, type Packet } from '../packet/packet.js';
import type { MatchedRule } from '../packet/walk.js';
import {
  type FrontendElement,
  type FrontendKey,
  frontendElements,
  hasSourceRanges,
  isClusterIP,
} from './frontendKeys.js';
import type { ProgrammedTable } from './table.js';
import { walkChain } from './walk.js';

/** Clients outside the cluster, of networks of documentation (RFC 5737, RFC 3849). */
const CLIENT = { 4: '192.0.2.1', 6: '2001:db8::1' } as const;
/** The destination of packets to node ports, where rules do not compare it. */
const ANY = { 4: '192.0.2.2', 6: '2001:db8::2' } as const;

/** No address is one of the node: the client is another host. */
const ELSEWHERE = { isLocal: () => false };

/**
 * The frontends of a family. Their endpoints are those that hosts outside the cluster reach, or the clients of a cluster IP.
 */
export function frontendsIn(
  family: Family,
  table: ProgrammedTable,
  { keys, bare }: FrontendQuery = {},
): ProgrammedFrontend[] {
  const nameOf = ({ address = '', protocol, port }: FrontendKey) => `${address} ${protocol} ${port}`;
  const wanted = keys && new Set(keys.map(nameOf));
  const found = new Map<string, ProgrammedFrontend>();
  for (const element of frontendElements(table)) {
    const at = nameOf(element);
    if (wanted && !wanted.has(at)) continue;
    found.set(at, frontendOf(family, table, element, found.get(at), bare));
  }
  return [...found.values()];
}

/** @param known the same frontend in a map of those with endpoints */
function frontendOf(
  family: Family,
  table: ProgrammedTable,
  element: FrontendElement,
  known: ProgrammedFrontend | undefined,
  bare: true | undefined,
): ProgrammedFrontend {
  const { chain, refused, comment, ...key } = element;
  if (refused !== undefined)
    return { ...(known ?? { ...base(family, table, key), ...namesInComment(comment) }), refused };
  const endpoints = chain === undefined || bare ? [] : endpointsOf(family, table, key, chain);
  return {
    ...base(family, table, key),
    ...namesInChain(chain),
    ...(chain === undefined ? {} : { chain }),
    persistence: persistenceOf(table, endpoints[0]?.chain),
    endpoints,
  };
}

function base(family: Family, table: ProgrammedTable, key: FrontendKey): ProgrammedFrontend {
  const kind = kindOf(table, key);
  return { family, ...key, ...(kind === undefined ? {} : { kind }), persistence: 0, endpoints: [] };
}

/** External and load-balancer IPs differ in the rules only if source ranges are given. */
function kindOf(table: ProgrammedTable, key: FrontendKey): FrontendKind | undefined {
  if (key.address === undefined) return 'nodePort';
  if (isClusterIP(table, key.address)) return 'clusterIP';
  return hasSourceRanges(table, key) ? 'loadBalancerIP' : undefined;
}

/** `service-2QRHZV4L-default/kubernetes/tcp/https`; a port without a name has a `/` at the end. */
const CHAIN = /^[a-z]+-[A-Z2-7]{8}-([^/]+\/[^/]+)\/[a-z]+\/([^/]*)$/;

export function namesInChain(chain = ''): Pick<ProgrammedFrontend, 'service' | 'portName'> {
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
  { address = ANY[family], protocol, port }: FrontendKey,
  chain: string,
): ProgrammedEndpoint[] {
  const packet: Packet = {
    ...{ family, protocol, source: CLIENT[family], destination: address, sourcePort: CLIENT_PORT, port },
    ...{ mark: 0, state: 'NEW', fromBridgePort: false },
  };
  const endpoints = new Map<string, ProgrammedEndpoint>();
  for (const { share, packet: sent, matched } of walkChain(table, chain, packet, ELSEWHERE)) {
    if (!sent.translated) continue;
    const name = joinHostPort(sent.destination, sent.port);
    const former = endpoints.get(name);
    endpoints.set(name, {
      ...{ address: sent.destination, port: sent.port, chain: lastChain(matched) ?? chain },
      share: (former?.share ?? 0) + share,
    });
  }
  return [...endpoints.values()];
}

/** The chain of the rule that replaced the destination: `kube-proxy/endpoint-…` without the table. */
function lastChain(matched: readonly MatchedRule[]): string | undefined {
  return matched.at(-1)?.at.slice(`${TABLE}/`.length);
}

/** The timeout of the set that the chain of an endpoint updates, in s; 0 without session affinity. */
export function persistenceOf({ chains, sets }: ProgrammedTable, chain: string | undefined): number {
  if (chain === undefined) return 0;
  const expressions = chains.get(chain)?.rules.flatMap((rule) => rule.expressions) ?? [];
  const update = expressions.find((expression) => expression.kind === 'dynset');
  const timeout = update && sets.get(update.set)?.set.timeout;
  return timeout === undefined ? 0 : Number(timeout) / 1000;
}
