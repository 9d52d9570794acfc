// The path of the first packet of a connection where rules select the endpoint. Pure: it follows the packet through the recorded
// state of the kernel, as the hooks of netfilter would.
import { joinHostPort } from '../../../kernel/net/address.js';
import type { Cause, CauseCode, Dialled, EndpointPath } from '../explanation.js';
import { percent } from '../packet/conditions.js';
import type { Packet } from '../packet/packet.js';
import type { Branch, Decision, MatchedRule } from '../packet/walk.js';
import { FORWARD_HOOKS, INPUT_HOOKS, OUTPUT_HOOKS } from './hooks.js';
import {
  atSocket,
  describeAddress,
  failure,
  firstPacket,
  leavesNode,
  loopbackFailure,
  masqueradeOf,
  nameOf,
  type Outcome,
  type PathContext,
  stopped,
  verdictOf,
} from './path.js';
import { endpointPath } from './rulesEndpoint.js';

/** Causes that may be the effect of missing rules. */
export const EFFECTS_OF_RULES: ReadonlySet<CauseCode> = new Set([
  'AddressNotBound',
  'PortNotServed',
  'RulesMissing',
  'ReplyBypasses',
  'Hairpin',
  'Rule',
]);

/** A rule or an element that accepts packets to an address, or refuses them because the Service has no endpoint. */
export interface FrontendRule {
  readonly kind: 'cluster IP' | 'external';
  readonly port: number;
  readonly protocol: string;
  /** The chain to which it leads, or `REJECT`, `DROP`. */
  readonly target: string;
  /** Why it refuses packets: `default/web has no local endpoints`. */
  readonly without?: Cause;
}

/** What a mode whose rules select endpoints shows besides the path of one packet. */
export interface SelectingRules {
  /** The table of its chains in steps: `nat`. */
  readonly table: string;
  /** Whether a rule selects an endpoint. */
  selects(rule: MatchedRule): boolean;
  /** The chain that selects among the endpoints, of the rules that matched. */
  chainOf(matched: readonly MatchedRule[]): string | undefined;
  /** Timeout of the session affinity of that chain, in s; 0 without. */
  persistenceOf(chain: string): number;
  /** The rules that name an address of a Service. */
  frontends(address: string): readonly FrontendRule[];
  /**
   * Why a node port is not served on an address, as the end of a sentence. Undefined if no Service has the node port, or no
   * rule excludes the address.
   */
  nodePortExclusion(dialled: Dialled): string | undefined;
  /** Whether the source ranges of a load-balancer IP contain a client; false without ranges. */
  areRangesOf(frontends: readonly FrontendRule[], client: string): boolean;
}

/** Follows the packet of a question. */
export function followRules(context: PathContext, selecting: SelectingRules): Outcome {
  return new Path(context, selecting).follow();
}

class Path {
  readonly #context: PathContext;
  readonly #selecting: SelectingRules;

  constructor(context: PathContext, selecting: SelectingRules) {
    this.#context = context;
    this.#selecting = selecting;
  }

  follow(): Outcome {
    return this.#context.client.place === 'node' ? this.#fromNode() : this.#fromHost();
  }

  #fromNode(): Outcome {
    const { node, dialled } = this.#context;
    const output = node.isLocal(dialled.address) ? 'lo' : node.topology.route(dialled.address)?.link;
    if (output === undefined) {
      const text = `no route of this node leads to ${dialled.address}: the kernel refuses to send the packet before any rule`;
      return failure('unreachable', 'NoRoute', text);
    }
    return this.#translate('OUTPUT', firstPacket(this.#context, { output }));
  }

  #fromHost(): Outcome {
    const { node, client } = this.#context;
    const input = node.topology.route(client.address)?.link;
    return (
      loopbackFailure(this.#context) ??
      this.#translate('PREROUTING', firstPacket(this.#context, input === undefined ? {} : { input }))
    );
  }

  /** The rules that may replace the destination. */
  #translate(hook: 'PREROUTING' | 'OUTPUT', packet: Packet): Outcome {
    const { trace } = this.#context;
    const begun = trace.pass([`raw/${hook}`, `mangle/${hook}`], packet);
    if (begun.stopped) return this.#stopped(begun.stopped);
    const branches = trace.branches(`nat/${hook}`, begun.packet);
    const common = commonLength(branches, this.#selecting);
    trace.rules(branches[0]?.matched.slice(0, common) ?? []);
    const selected = branches.filter((branch) => branch.packet.translated);
    const others = branches
      .filter((branch) => !branch.packet.translated)
      .map((branch) => ({ share: branch.share, ...this.#untranslated(branch, common) }));
    const [only] = others;
    if (selected.length === 0 && only && others.length === 1) {
      const { share: _, ...outcome } = only;
      return outcome;
    }
    return this.#toEndpoints(selected, common, others);
  }

  /** The paths to the endpoints, each with its probability, and to none. */
  #toEndpoints(
    selected: readonly Branch[],
    common: number,
    others: readonly (Outcome & { readonly share: number })[],
  ): Outcome {
    const service = this.#serviceOf(selected);
    const endpoints = this.#endpoints(selected, common);
    const missed = others.reduce((sum, { share }) => sum + share, 0);
    const text = `the rules select no endpoint with probability ${percent(missed)}`;
    const incomplete: Cause[] = missed > 0 ? [{ code: 'RulesMissing', text }] : [];
    return {
      ...service,
      endpoints,
      ...masqueradeOf(endpoints),
      verdict: verdictOf([...endpoints.map(({ result }) => result), ...others.map(({ verdict }) => verdict)]),
      causes: [
        ...endpoints.flatMap(({ cause }) => cause ?? []),
        ...incomplete,
        ...others.flatMap(({ causes }) => causes),
      ],
    };
  }

  /** The chain that selected the endpoints, with a step about it. */
  #serviceOf(selected: readonly Branch[]): Pick<Outcome, 'virtualService'> {
    const { trace } = this.#context;
    const { table, chainOf, persistenceOf } = this.#selecting;
    const chain = chainOf(selected[0]?.matched ?? []);
    if (chain === undefined) return {};
    const persistence = persistenceOf(chain);
    const kept = persistence > 0 ? `; a client keeps its endpoint for ${persistence} s` : '';
    const count = new Set(selected.map(({ packet }) => joinHostPort(packet.destination, packet.port))).size;
    const choice = count === 1 ? 'its only endpoint' : `one of ${count} endpoints at random`;
    trace.step(`${table}/${chain}`, `selects ${choice}${kept}`);
    return { virtualService: { name: chain, scheduler: 'random', persistence } };
  }

  /** Branches to the same endpoint are one: the steps are those of the first. */
  #endpoints(selected: readonly Branch[], common: number): EndpointPath[] {
    const byEndpoint = new Map<string, Branch>();
    for (const branch of selected) {
      const { destination, port } = branch.packet;
      const endpoint = joinHostPort(destination, port);
      const former = byEndpoint.get(endpoint);
      byEndpoint.set(endpoint, former ? { ...former, share: former.share + branch.share } : branch);
    }
    return [...byEndpoint].map(([endpoint, { packet, share, matched }]) => {
      this.#context.trace.rules(matched.slice(common), endpoint);
      return endpointPath(packet, share, this.#context);
    });
  }

  /** A packet that keeps its destination: no rule has it, or a rule drops it. */
  #untranslated({ packet, matched, decision }: Branch, common: number): Outcome {
    const { trace, client } = this.#context;
    trace.rules(matched.slice(common));
    if (decision.verdict !== 'accept') return this.#stopped(decision);
    const isBound = describeAddress(this.#context);
    if (client.place !== 'node') return isBound ? this.#received(packet) : this.#forwarded(packet);
    const sent = trace.pass(OUTPUT_HOOKS, packet);
    if (sent.stopped) return this.#stopped(sent.stopped);
    if (!isBound) return this.#left();
    const { output: _, ...rest } = sent.packet;
    return this.#received({ ...rest, input: 'lo' });
  }

  #received(packet: Packet): Outcome {
    const input = this.#context.trace.pass(INPUT_HOOKS, packet);
    if (input.stopped) return this.#stopped(input.stopped);
    return atSocket(this.#context, () => this.#unserved());
  }

  #forwarded(packet: Packet): Outcome {
    const { node, trace, dialled } = this.#context;
    const output = node.topology.route(dialled.address)?.link;
    if (output === undefined) return this.#left();
    const { on, text } = node.forwarding;
    if (!on) {
      return failure(
        'hangs',
        'ForwardingOff',
        `this node does not forward the packet to ${dialled.address}: ${text}`,
      );
    }
    const sent = trace.pass(FORWARD_HOOKS, { ...packet, output });
    return sent.stopped ? this.#stopped(sent.stopped) : this.#left();
  }

  /** The packet keeps its destination, which is not an address of the node. */
  #left(): Outcome {
    const { code, text } = this.#missing();
    return leavesNode(this.#context, code, text);
  }

  /** The packet keeps its destination, an address of the node, and no process listens. */
  #unserved(): Outcome {
    const { dialled } = this.#context;
    const exclusion = this.#selecting.nodePortExclusion(dialled);
    const { code, text } =
      exclusion === undefined
        ? this.#missing()
        : {
            code: 'NodePortAddress' as const,
            text: `node port ${dialled.port}/${dialled.protocol} ${exclusion}`,
          };
    if (dialled.protocol === 'sctp') return failure('unknown', code, `${text}; sockets of SCTP are not read`);
    return failure('refused', code, exclusion === undefined ? `${text}, and no process listens there` : text);
  }

  /**
   * A rule stops the packet. The firewall of load balancers also drops packets that are in the source ranges, if the traffic
   * policy leaves no endpoint for them.
   */
  #stopped(decision: Decision): Outcome {
    const outcome = stopped(this.#context, decision);
    const { client, dialled } = this.#context;
    if (!outcome.causes.some(({ code }) => code === 'SourceRanges')) return outcome;
    const own = ownRules(this.#selecting.frontends(dialled.address), dialled);
    const without = own.find((rule) => rule.without)?.without;
    if (without === undefined || !this.#selecting.areRangesOf(own, client.address)) return outcome;
    return failure(outcome.verdict, without.code, `${without.text}: ${decision.at} drops the packet`);
  }

  /** Why no rule replaced the destination. */
  #missing(): Cause {
    const { node, dialled } = this.#context;
    const known = this.#selecting.frontends(dialled.address);
    const own = ownRules(known, dialled);
    const name = nameOf(dialled);
    const without = own.find((rule) => rule.without)?.without;
    if (without !== undefined) {
      const text = `${without.text}, and no rule rejects packets of this node to its external addresses`;
      return { code: without.code, text };
    }
    if (own.length > 0) return { code: 'RulesMissing', text: `the rules select no endpoint for ${name}` };
    if (known.length > 0 || node.isLocal(dialled.address)) {
      return { code: 'PortNotServed', text: `no Service has ${name}` };
    }
    return { code: 'AddressNotBound', text: `no link of this node has ${dialled.address}` };
  }
}

/** The rules of one port. */
function ownRules(rules: readonly FrontendRule[], dialled: PathContext['dialled']): FrontendRule[] {
  return rules.filter(({ port, protocol }) => port === dialled.port && protocol === dialled.protocol);
}

/**
 * The number of rules that all branches have in common, before one of them selects an endpoint: by the jump to its chain,
 * or by a rule of another program that replaces the destination.
 */
function commonLength(branches: readonly Branch[], { selects }: SelectingRules): number {
  const [first, ...others] = branches.map(({ matched }) => matched);
  if (!first) return 0;
  const at = first.findIndex((rule, i) => selects(rule) || others.some((matched) => matched[i] !== rule));
  return at < 0 ? first.length : at;
}
