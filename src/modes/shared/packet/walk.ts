// The way of a packet through the chains of iptables, as the kernel evaluates them: rule by rule, until one decides.
import type { SavedTables } from '../../../kernel/iptables/types.js';
import { type ConditionTest, testCondition } from './conditions.js';
import { all, type Packet, type RuleSurroundings } from './packet.js';
import { conditionText, type Rule, readRule } from './ruleText.js';

/** A rule that matched the packet. */
export interface MatchedRule {
  /** `nat/KUBE-SERVICES`. */
  readonly at: string;
  /** As iptables-save prints it: `-A KUBE-SERVICES …`. */
  readonly rule: string;
  /** Its target: a chain, or `ACCEPT`. */
  readonly target: string;
  /** Why it matches, in words; empty if it matches all packets. */
  readonly reasons: string;
  /** The effect, in words. */
  readonly effect: string;
}

/** A rule that is not understood: its part, and the whole rule. It is skipped. */
export interface UnknownRule {
  readonly at: string;
  readonly rule: string;
  readonly part: string;
}

/** The decision of a table about a packet in a hook. */
export interface Decision {
  readonly fate: 'accept' | 'drop' | 'reject';
  /** The chain that decided, and its rule; the rule is absent if the policy decided. */
  readonly at: string;
  readonly rule?: string;
}

/** The result of a walk. */
export interface Walk {
  readonly decision: Decision;
  /** The packet with the marks that rules set. */
  readonly packet: Packet;
  readonly matched: readonly MatchedRule[];
  readonly unknown: readonly UnknownRule[];
  /** The new source: `link` is the address of the output link (MASQUERADE), otherwise an address (SNAT). */
  readonly source?: 'link' | string;
}

/** Targets that neither decide about a packet nor change a field that rules of Services test; empty: no target. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  '',
  'LOG',
  'NFLOG',
  'TRACE',
  'TCPMSS',
  'TOS',
  'DSCP',
  'CHECKSUM',
  'CLASSIFY',
  'TTL',
  'HL',
  'SET',
  'AUDIT',
]);
/** Chains may call each other at most this deep; the kernel refuses loops. */
const MAX_DEPTH = 64;

/**
 * Walks through a built-in chain and the chains that it calls.
 *
 * @param hook `nat/PREROUTING`; a table without this chain accepts
 */
export function walk(tables: SavedTables, hook: string, packet: Packet, node: RuleSurroundings): Walk {
  const walker = new Walker(tables, node, packet);
  return walker.run(hook);
}

class Walker {
  readonly #tables: SavedTables;
  readonly #node: RuleSurroundings;
  readonly #matched: MatchedRule[] = [];
  readonly #unknown: UnknownRule[] = [];
  #packet: Packet;
  #source: string | undefined;

  constructor(tables: SavedTables, node: RuleSurroundings, packet: Packet) {
    this.#tables = tables;
    this.#node = node;
    this.#packet = packet;
  }

  run(hook: string): Walk {
    const decided = this.#chain(hook, 0);
    const policy = this.#tables.policies.get(hook) === 'DROP' ? 'drop' : 'accept';
    return {
      decision: decided ?? { fate: policy, at: hook },
      packet: this.#packet,
      matched: this.#matched,
      unknown: this.#unknown,
      ...(this.#source === undefined ? {} : { source: this.#source }),
    };
  }

  /** Returns the decision, or undefined if the packet returns to the caller. */
  #chain(at: string, depth: number): Decision | undefined {
    for (const text of this.#tables.rules.get(at) ?? []) {
      const rule = readRule(text);
      const reasons = this.#test(at, text, rule);
      if (reasons === undefined) continue;
      const result = this.#follow(at, text, rule, reasons, depth);
      if (result !== 'next') return result;
    }
    return undefined;
  }

  /** The reasons why a rule matches; undefined if it does not match, or is not understood. */
  #test(at: string, text: string, { conditions }: Rule): string | undefined {
    const tests = conditions.map((condition) => testCondition(condition, this.#packet, this.#node));
    const matches = all(tests.map((test) => test.matches));
    if (matches === undefined) {
      const part = conditions.filter((_, i) => tests[i]?.matches === undefined).map(conditionText);
      this.#unknown.push({ at, rule: ruleText(at, text), part: part.join(' ') });
    }
    return matches ? reasonsOf(tests) : undefined;
  }

  /** The effect of a rule that matches: a decision, undefined to return to the caller, or `next` for the next rule. */
  #follow(
    at: string,
    text: string,
    rule: Rule,
    reasons: string,
    depth: number,
  ): Decision | undefined | 'next' {
    const { target = '', targetOptions } = rule;
    const table = at.slice(0, at.indexOf('/'));
    const chain = `${table}/${target}`;
    const written = ruleText(at, text);
    const note = (effect: string) => this.#matched.push({ at, rule: written, target, reasons, effect });
    if (this.#tables.rules.has(chain) && depth < MAX_DEPTH) {
      const length = note(`continues in chain ${target}`);
      const decided = this.#chain(chain, depth + 1);
      // A chain in which no rule matches is no step.
      if (this.#matched.length === length && !decided) this.#matched.pop();
      return decided || rule.goto ? decided : 'next';
    }
    switch (target) {
      case 'ACCEPT':
        note(`table ${table} accepts the packet`);
        return { fate: 'accept', at, rule: written };
      case 'RETURN':
        note('leaves the chain');
        return undefined;
      case 'DROP':
        note('drops the packet');
        return { fate: 'drop', at, rule: written };
      case 'REJECT':
        note(`rejects the packet with ${targetOptions.get('reject-with') ?? 'an ICMP message'}`);
        return { fate: 'reject', at, rule: written };
      case 'MASQUERADE':
        this.#source = 'link';
        note('masquerades the packet');
        return { fate: 'accept', at, rule: written };
      case 'SNAT':
        this.#source = firstAddress(targetOptions.get('to-source') ?? '');
        note(`replaces the source by ${this.#source}`);
        return { fate: 'accept', at, rule: written };
      default:
        if (target === 'MARK' && targetOptions.has('set-xmark')) note(this.#mark(rule));
        else if (!WITHOUT_EFFECT.has(target)) this.#unknown.push({ at, rule: written, part: `-j ${target}` });
        return 'next';
    }
  }

  /** `--set-xmark VALUE/MASK` clears the bits of the mask, and inverts those of the value. */
  #mark({ targetOptions }: Rule): string {
    const written = targetOptions.get('set-xmark') ?? '';
    const [value = 0, mask = 0xffff_ffff] = written.split('/').map(Number);
    const mark = ((this.#packet.mark & ~mask) ^ value) >>> 0;
    this.#packet = { ...this.#packet, mark };
    return `the packet now has mark 0x${mark.toString(16)}`;
  }
}

function reasonsOf(tests: readonly ConditionTest[]): string {
  return tests.flatMap(({ because }) => because ?? []).join(', ');
}

function ruleText(at: string, text: string): string {
  return `-A ${at.slice(at.indexOf('/') + 1)} ${text}`;
}

/** The address of `--to-source`, the first of a range: `192.0.2.7-192.0.2.9:1024-2048`, `[fd00::7]:1024`. */
function firstAddress(written: string): string {
  const [, bracketed] = /^\[([^\]]*)\]/.exec(written) ?? [];
  const [first = ''] = (bracketed ?? written).split('-');
  return bracketed === undefined && first.includes('.') ? (first.split(':')[0] ?? '') : first;
}
