// Collects the steps of a packet through the rules.
import type { Cause, Explanation, Step } from '../explanation.js';
import type { Packet } from '../packet/packet.js';
import {
  type Branch,
  type Decision,
  type HookRules,
  iptablesRules,
  type MatchedRule,
  type Walk,
} from '../packet/walk.js';
import type { NodeNetwork } from './nodeNetwork.js';

/** The purpose of a mode's rules, in words. */
export interface RuleMeanings {
  /** The purpose of a rule that matched; undefined for a rule of another program, which is described by its effect. */
  meaningOf(rule: MatchedRule): string | undefined;
  /**
   * The cause if a rule of the mode drops or rejects a packet; undefined for other rules.
   *
   * @param of `the packet`
   */
  causeOf(decision: Decision, of: string): Cause | undefined;
}

/** The result of several hooks. */
export interface HooksResult extends Pick<Walk, 'packet' | 'source'> {
  /** The decision against the packet, if there is one. */
  readonly stopped?: Decision;
}

/** The steps so far. */
export class PathTrace {
  readonly steps: Step[] = [];
  readonly #rules: HookRules;
  readonly #meanings: RuleMeanings;
  readonly #notUnderstood = new Map<string, Explanation['notUnderstood'][number]>();

  /** @param rules default: those of iptables */
  constructor(node: NodeNetwork, meanings: RuleMeanings, rules = iptablesRules(node.facts.tables, node)) {
    this.#meanings = meanings;
    this.#rules = rules;
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
  pass(hooks: readonly string[], packet: Packet, endpoint?: string, quiet = false): HooksResult {
    let current: HooksResult = { packet };
    for (const hook of hooks) {
      const { decision, matched, unknown, packet: changed, source } = this.#rules.walk(hook, current.packet);
      this.#note(unknown);
      const stopped = decision.verdict !== 'accept';
      if (stopped || !quiet) {
        this.rules(matched, endpoint);
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

  /** The branches of a packet through a hook. Records no step: see {@link rules}. */
  branches(hook: string, packet: Packet): Branch[] {
    const found = this.#rules.branches(hook, packet);
    for (const { unknown } of found) this.#note(unknown);
    return found;
  }

  /** A step for each rule that matched: why it matched, and its purpose. */
  rules(matched: readonly MatchedRule[], endpoint?: string): void {
    for (const rule of matched) {
      const purpose = this.#meanings.meaningOf(rule) ?? rule.effect;
      const text = rule.reasons === '' ? purpose : `${rule.reasons}: ${purpose}`;
      this.step(rule.at, text, rule.rule, endpoint);
    }
  }

  /** The result and the cause of a decision against a packet. */
  stop(decision: Decision, of: string): { readonly result: 'refused' | 'hangs'; readonly cause: Cause } {
    const { verdict, at, rule } = decision;
    const result = verdict === 'reject' ? 'refused' : 'hangs';
    const own = this.#meanings.causeOf(decision, of);
    if (own) return { result, cause: own };
    const by = rule === undefined ? `the policy of ${at}` : `the rule ${rule} of table ${at.split('/')[0]}`;
    return {
      result,
      cause: { code: 'Rule', text: `${by} ${verdict === 'reject' ? 'rejects' : 'drops'} ${of}` },
    };
  }

  #note(unknown: Branch['unknown']): void {
    for (const rule of unknown) this.#notUnderstood.set(`${rule.at} ${rule.rule}`, rule);
  }
}
