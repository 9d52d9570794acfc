// Collects the steps of a packet through the rules.
import type { CauseCode, Explanation, Step } from '../../explanation.js';
import type { Packet } from '../../shared/packet/packet.js';
import { type Decision, walk } from '../../shared/packet/walk.js';
import { describeRule } from './meanings.js';
import type { Surroundings } from './surroundings.js';

/** The result of several hooks. */
export interface Passage {
  /** The packet with its marks. */
  readonly packet: Packet;
  /** The decision against the packet, if there is one. */
  readonly stopped?: Decision;
  /** The new source, see `Walk.source`. */
  readonly source?: string;
}

/** Chains of which a drop means that the source ranges of a Service exclude the client. */
const SOURCE_RANGES = /\/KUBE-(SOURCE-RANGES-FIREWALL|IPVS-OUT-FILTER)$/;

/** The steps so far. */
export class Trail {
  readonly steps: Step[] = [];
  readonly #node: Surroundings;
  readonly #notUnderstood = new Map<string, Explanation['notUnderstood'][number]>();

  constructor(node: Surroundings) {
    this.#node = node;
  }

  /** The rules that are not understood, each once. */
  get notUnderstood(): Explanation['notUnderstood'] {
    return [...this.#notUnderstood.values()];
  }

  step(at: string, text: string, fact?: string, endpoint?: string): void {
    this.steps.push({
      at,
      text,
      ...(fact === undefined ? {} : { fact }),
      ...(endpoint === undefined ? {} : { endpoint }),
    });
  }

  /**
   * Sends a packet through hooks, in order, until one drops or rejects it.
   *
   * @param hooks `nat/PREROUTING`
   * @param quiet record steps only if the packet is stopped
   */
  pass(hooks: readonly string[], packet: Packet, endpoint?: string, quiet = false): Passage {
    let current: Passage = { packet };
    for (const hook of hooks) {
      const {
        decision,
        matched,
        unknown,
        packet: changed,
        source,
      } = walk(this.#node.facts.tables, hook, current.packet, this.#node);
      for (const rule of unknown) this.#notUnderstood.set(`${rule.at} ${rule.rule}`, rule);
      const stopped = decision.fate !== 'accept';
      if (stopped || !quiet) {
        for (const rule of matched) this.step(rule.at, describeRule(rule), rule.rule, endpoint);
      }
      current = { ...current, packet: changed, ...(source === undefined ? {} : { source }) };
      if (!stopped) continue;
      if (decision.rule === undefined) {
        this.step(hook, 'no rule accepts the packet, and the policy drops it', 'policy DROP', endpoint);
      }
      return { ...current, stopped: decision };
    }
    return current;
  }
}

/** The cause and the result of a decision against a packet. */
export function stopOf(
  { fate, at, rule }: Decision,
  of: string,
): { readonly result: 'refused' | 'hangs'; readonly cause: { code: CauseCode; text: string } } {
  const result = fate === 'reject' ? 'refused' : 'hangs';
  if (SOURCE_RANGES.test(at)) {
    return {
      result,
      cause: { code: 'SourceRanges', text: `${at} drops ${of}: no source range contains its source` },
    };
  }
  const by = rule === undefined ? `the policy of ${at}` : `the rule ${rule} of table ${at.split('/')[0]}`;
  return { result, cause: { code: 'Rule', text: `${by} ${fate === 'reject' ? 'rejects' : 'drops'} ${of}` } };
}
