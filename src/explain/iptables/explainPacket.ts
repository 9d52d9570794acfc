// The path of the first packet of a connection through this node. Pure: it follows the packet through the recorded state
// of the kernel, as the hooks of netfilter would.

import type { IptablesOptions } from '../../modes/iptables/plan/options.js';
import { joinHostPort } from '../../net/address.js';
import type { Cause, CauseCode, EndpointPath, Explanation, PacketQuestion } from '../explanation.js';
import { percent } from '../packet/conditions.js';
import type { Packet } from '../packet/packet.js';
import type { Branch, Decision, MatchedRule } from '../packet/walk.js';
import type { PathFacts } from '../shared/facts.js';
import {
  atSocket,
  describeAddress,
  explainWith,
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
} from '../shared/path.js';
import { endpointPath } from './endpointPath.js';
import { FORWARD_HOOKS, INPUT_HOOKS, OUTPUT_HOOKS } from './hooks.js';
import { codeWithoutEndpoints, IPTABLES_MEANINGS } from './meanings.js';
import { nodeOf } from './node.js';
import {
  affinityOf,
  areRangesOf,
  ENDPOINT_CHAIN,
  type FrontendRule,
  frontendRules,
  nodePortExclusion,
  POLICY_CHAIN,
} from './programmed.js';
import { warningsOf } from './warnings.js';

/** Causes that may be the effect of missing rules. */
const EFFECTS_OF_RULES: ReadonlySet<CauseCode> = new Set([
  'AddressNotBound',
  'PortNotServed',
  'RulesMissing',
  'ReplyBypasses',
  'Hairpin',
  'Rule',
]);

/** Explains a packet. Throws NoClientError if the place in the question has no address on this node. */
export function explainPacket(
  facts: PathFacts,
  question: PacketQuestion,
  options: IptablesOptions,
): Explanation {
  const node = nodeOf(facts, options.localDetector);
  return explainWith(
    {
      mode: 'iptables',
      node,
      meanings: IPTABLES_MEANINGS,
      follow: (context) => new Path(context).follow(),
      warnings: warningsOf(node, options),
      effectsOfRules: EFFECTS_OF_RULES,
    },
    question,
  );
}

class Path {
  readonly #context: PathContext;

  constructor(context: PathContext) {
    this.#context = context;
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
    const common = commonLength(branches);
    trace.rules(branches[0]?.matched.slice(0, common) ?? []);
    const selected = branches.filter((branch) => branch.packet.translated);
    const others = branches
      .filter((branch) => !branch.packet.translated)
      .map((branch) => ({ share: branch.share, ...this.#untranslated(branch, common) }));
    const [only] = others;
    if (selected.length === 0 && only && others.length === 1) return only;
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
    const { node, trace } = this.#context;
    const chain = selected[0]?.matched
      .map(({ target }) => target)
      .findLast((target) => POLICY_CHAIN.test(target));
    if (chain === undefined) return {};
    const persistence = affinityOf(node.facts.tables, chain);
    const kept = persistence > 0 ? `; a client keeps its endpoint for ${persistence} s` : '';
    const choice =
      selected.length === 1 ? 'its only endpoint' : `one of ${selected.length} endpoints at random`;
    trace.step(`nat/${chain}`, `selects ${choice}${kept}`);
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
    const { node, dialled } = this.#context;
    const { code, text } = this.#missing();
    if (dialled.protocol === 'sctp') return failure('unknown', code, `${text}; sockets of SCTP are not read`);
    const exclusion = nodePortExclusion(node.facts.tables, dialled);
    if (exclusion === undefined) return failure('refused', code, `${text}, and no process listens there`);
    return failure(
      'refused',
      'NodePortAddress',
      `node port ${dialled.port}/${dialled.protocol} ${exclusion}`,
    );
  }

  /**
   * A rule stops the packet. The firewall of load balancers also drops packets that are in the source ranges, if the traffic
   * policy leaves no endpoint for them.
   */
  #stopped(decision: Decision): Outcome {
    const outcome = stopped(this.#context, decision);
    const { node, client, dialled } = this.#context;
    if (!outcome.causes.some(({ code }) => code === 'SourceRanges')) return outcome;
    const own = ownRules(frontendRules(node.facts.tables, dialled.address), dialled);
    const without = own.find((rule) => rule.without)?.without;
    if (without === undefined || !areRangesOf(node.facts.tables, own, client.address)) return outcome;
    return failure(
      outcome.verdict,
      codeWithoutEndpoints(without),
      `${without}: ${decision.at} drops the packet`,
    );
  }

  /** Why no rule replaced the destination. */
  #missing(): Cause {
    const { node, dialled } = this.#context;
    const known = frontendRules(node.facts.tables, dialled.address);
    const own = ownRules(known, dialled);
    const name = nameOf(dialled);
    const without = own.find((rule) => rule.without)?.without;
    if (without !== undefined) {
      const text = `${without}, and no rule rejects packets of this node to its external addresses`;
      return { code: codeWithoutEndpoints(without), text };
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
function commonLength(branches: readonly Branch[]): number {
  const selects = ({ target }: MatchedRule) => ENDPOINT_CHAIN.test(target) || target === 'DNAT';
  const [first, ...others] = branches.map(({ matched }) => matched);
  if (!first) return 0;
  const at = first.findIndex((rule, i) => selects(rule) || others.some((matched) => matched[i] !== rule));
  return at < 0 ? first.length : at;
}
