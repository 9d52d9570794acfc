// The parts of a packet's path that are the same in every mode with iptables rules.
import { isLoopback, joinHostPort } from '../../../kernel/net/address.js';
import type {
  Cause,
  CauseCode,
  Dialled,
  EndpointPath,
  Explanation,
  PacketQuestion,
  Verdict,
} from '../explanation.js';
import { CLIENT_PORT, type Packet } from '../packet/packet.js';
import type { Decision, HookRules } from '../packet/walk.js';
import { clientOf } from './client.js';
import { listenerAt } from './delivery.js';
import { CONNECTIONS, reversePathFilters } from './facts.js';
import type { NodeNetwork } from './nodeNetwork.js';
import { PathTrace, type RuleMeanings } from './trace.js';

/** The result of a path. */
export type Outcome = Pick<Explanation, 'verdict' | 'causes'> &
  Partial<Pick<Explanation, 'virtualService' | 'endpoints' | 'masquerade' | 'process'>>;

/** The packet of a question on its path. */
export interface PathContext {
  readonly node: NodeNetwork;
  readonly trace: PathTrace;
  readonly client: Explanation['client'];
  readonly dialled: Dialled;
  /** A Service has the address: by the objects, by the rules, or possibly because rules of Services are missing. */
  readonly mayBeService: boolean;
}

/** A mode's part of an explanation. */
interface Explainer {
  readonly mode: string;
  readonly node: NodeNetwork;
  readonly meanings: RuleMeanings;
  /** Default: those of iptables. */
  readonly rules?: HookRules;
  follow(context: PathContext): Outcome;
  /** Differences from the state that the mode programs. */
  readonly warnings: readonly Cause[];
  /** Causes that may be the effect of missing rules. */
  readonly effectsOfRules: ReadonlySet<CauseCode>;
}

/** Explains a packet. Throws NoClientError if the place in the question has no address on this node. */
export function explainWith(explainer: Explainer, question: PacketQuestion): Explanation {
  const { mode, node, meanings, rules, warnings, effectsOfRules } = explainer;
  const client = clientOf(question, node);
  const { address, port, protocol } = question;
  const dialled = { address, port, protocol };
  const trace = new PathTrace(node, meanings, rules);
  trace.step('client', `${client.address} connects to ${nameOf(dialled)}`, client.reason);
  const mayBeService =
    question.clusterIP !== undefined ||
    node.mode.kindOf(address, port) !== undefined ||
    warnings.some(({ code }) => code === 'RulesMissing');
  const outcome = explainer.follow({ node, trace, client, dialled, mayBeService });
  const mayMiss = outcome.causes.some(({ code }) => effectsOfRules.has(code));
  const missing = mayMiss ? warnings.filter(({ code }) => code === 'RulesMissing') : [];
  return {
    mode,
    destination: dialled,
    client,
    steps: trace.steps,
    endpoints: [],
    ...outcome,
    causes: [...outcome.causes, ...missing],
    warnings: [...connectionLimit(node), ...warnings],
    notUnderstood: trace.notUnderstood,
    notJudged: notJudged(node, client, outcome.endpoints ?? []),
  };
}

/** The result of a packet that reaches no endpoint. */
export function failure(verdict: Verdict, code: CauseCode, text: string): Outcome {
  return { verdict, causes: [{ code, text }] };
}

/** The result of a packet that a rule, or a policy, drops or rejects. */
export function stopped({ trace }: PathContext, decision: Decision): Outcome {
  const { result, cause } = trace.stop(decision, 'the packet');
  return { verdict: result, causes: [cause] };
}

/** `10.96.0.10:53/udp`. */
export function nameOf({ address, port, protocol }: Dialled): string {
  return `${joinHostPort(address, port)}/${protocol}`;
}

/** The first packet of a connection. */
export function firstPacket(
  { node, client, dialled }: PathContext,
  links: Pick<Packet, 'input' | 'output'>,
): Packet {
  const { address, port, protocol } = dialled;
  return {
    family: node.facts.family,
    protocol,
    source: client.address,
    sourcePort: CLIENT_PORT,
    destination: address,
    port,
    mark: 0,
    state: 'NEW',
    fromBridgePort: links.input !== undefined && node.filtersBridge(links.input),
    ...links,
  };
}

/** The result of a packet of another host to a loopback address; undefined for other packets. */
export function loopbackFailure({ dialled: { address } }: PathContext): Outcome | undefined {
  if (!isLoopback(address)) return undefined;
  const text = `a packet of another host to ${address} is dropped: it is a loopback address`;
  return failure('hangs', 'Loopback', text);
}

/** Adds a step about the destination; returns whether the node has it. */
export function describeAddress({ node, trace, dialled: { address } }: PathContext): boolean {
  const assigned = node.topology.assigned(address);
  if (!assigned) {
    trace.step('address', `no link of this node has ${address}`);
    return false;
  }
  const { link, prefix } = assigned;
  trace.step(
    'address',
    `this node has ${address}: it receives the packet`,
    `${assigned.address}/${prefix} dev ${link}`,
  );
  return true;
}

/**
 * The result of a packet to an address that the node does not have.
 *
 * @param missing why it has no other destination
 */
export function leavesNode(
  { node, dialled, mayBeService }: PathContext,
  code: CauseCode,
  missing: string,
): Outcome {
  const route = node.topology.route(dialled.address);
  if (!route) return failure('unreachable', code, `${missing}, and no route leads to it`);
  const next = `${route.gateway === undefined ? '' : `${route.gateway} on `}${route.link}`;
  if (code !== 'AddressNotBound' || mayBeService)
    return failure('hangs', code, `${missing}: the packet leaves this node to ${next}`);
  // Any host of the network may have the address.
  const text = `no Service has ${dialled.address}, and ${missing}: the packet leaves this node to ${next}, and its further path is unknown`;
  return failure('unknown', code, text);
}

/**
 * The result of a packet that no Service gets, at the sockets of the node.
 *
 * @param unserved if no process listens
 */
export function atSocket({ node, trace, dialled }: PathContext, unserved: () => Outcome): Outcome {
  const { port, protocol } = dialled;
  const process = listenerAt(node.facts, dialled);
  if (!process) return unserved();
  const text = `a process of this node listens on ${joinHostPort(process.address, port)}/${protocol} and gets the packet`;
  trace.step('socket', text);
  return { process: { address: process.address, port }, verdict: 'connects', causes: [] };
}

/** The common verdict of paths of which each may be selected. */
export function verdictOf(verdicts: readonly Verdict[]): Verdict {
  const found = new Set(verdicts);
  // An endpoint that was not asked may not connect.
  if (found.has('forwarded')) found.delete('connects');
  const [first = 'unknown', ...others] = found;
  if (others.length === 0) return first;
  if (found.has('unknown')) return 'unknown';
  return found.has('forwarded') || found.has('connects') || found.has('partly') ? 'partly' : 'hangs';
}

/** Whether the packets to endpoints are masqueraded; absent if none gets one. */
export function masqueradeOf(endpoints: readonly EndpointPath[]): Pick<Explanation, 'masquerade'> {
  const reached = endpoints.filter(({ source }) => source !== undefined);
  if (reached.length === 0) return {};
  const masqueraded = reached.filter((endpoint) => endpoint.masqueraded).length;
  if (masqueraded === 0) return { masquerade: 'no' };
  return { masquerade: masqueraded === reached.length ? 'yes' : 'some' };
}

// What may stop packets and is not followed: it is named, as far as the node shows it. Pure.

/** The share of the limit from which the table of connections counts as full: entries come and go while it is read. */
const FULL = 0.98;

/** A table of connections without room. */
function connectionLimit({ facts: { settings } }: NodeNetwork): Cause[] {
  const [count, max] = [CONNECTIONS.count, CONNECTIONS.max].map((name) =>
    Number(settings.get(name) ?? Number.NaN),
  );
  if (count === undefined || max === undefined || !(max > 0 && count >= max * FULL)) return [];
  const text = `the table of connections is full (net.netfilter.nf_conntrack_count = ${count}, nf_conntrack_max = ${max}): the kernel drops packets of new connections`;
  return [{ code: 'ConntrackFull', text }];
}

/** Base chains of other programs, reverse-path filters, and links with a smaller MTU than that of the client. */
function notJudged(
  node: NodeNetwork,
  client: Explanation['client'],
  endpoints: readonly EndpointPath[],
): string[] {
  const chains = (node.facts.unread ?? []).map((chain) => `not read: ${chain}`);
  if (client.place === 'node') return chains;
  const input = node.topology.route(client.address)?.link;
  return input === undefined
    ? chains
    : [...chains, ...filterOf(node, input), ...smallerLinks(node, input, endpoints)];
}

/** A strict filter: the kernel uses the larger value of all links and of the link (`IN_DEV_RPFILTER`). */
function filterOf({ facts: { family, settings } }: NodeNetwork, input: string): string[] {
  const values = reversePathFilters(['all', input], family).map(
    (path) => [path, Number(settings.get(path) ?? 0)] as const,
  );
  if (Math.max(0, ...values.map(([, value]) => value)) !== 1) return [];
  const [path = ''] = values.find(([, value]) => value === 1) ?? [];
  return [
    `not judged: ${path.replaceAll('/', '.')} = 1: packets of the client are dropped if they arrive on another link than ${input}`,
  ];
}

function smallerLinks(
  { topology, facts: { mtus } }: NodeNetwork,
  input: string,
  endpoints: readonly EndpointPath[],
): string[] {
  const largest = mtus?.get(input);
  if (mtus === undefined || largest === undefined) return [];
  const outputs = new Set(
    endpoints.flatMap(({ endpoint }) => topology.route(addressOf(endpoint))?.link ?? []),
  );
  return [...outputs].flatMap((output) => {
    const mtu = mtus.get(output);
    if (mtu === undefined || mtu >= largest) return [];
    return [
      `not judged: the MTU of link ${output} is ${mtu}, that of ${input} ${largest}: larger packets need ICMP messages to the client`,
    ];
  });
}

/** The address of `address:port`, `[address]:port`. */
function addressOf(endpoint: string): string {
  return endpoint.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
}
