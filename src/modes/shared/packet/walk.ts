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
  /** The reasons in words, and the effect. */
  readonly text: string;
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
  /** The message of a rejection: `icmp-port-unreachable`, `tcp-reset`. */
  readonly message?: string;
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

/** Targets that neither decide about a packet nor change a field that rules of Services test. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
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
      decision: typeof decided === 'object' ? decided : { fate: policy, at: hook },
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
      if (!reasons) continue;
      const result = this.#follow(at, text, rule, reasons, depth);
      if (result !== 'next') return result;
    }
    return undefined;
  }

  /** The reasons why a rule matches; undefined if it does not match, or is not understood. */
  #test(at: string, text: string, { conditions }: Rule): string[] | undefined {
    const tests = conditions.map((condition) => testCondition(condition, this.#packet, this.#node));
    const matches = all(tests.map((test) => test.matches));
    if (matches === undefined) {
      const part = conditions.filter((_, i) => tests[i]?.matches === undefined).map(conditionText);
      this.#unknown.push({ at, rule: ruleText(at, text), part: part.join(' ') });
    }
    return matches ? reasonsOf(tests) : undefined;
  }

  #follow(
    at: string,
    text: string,
    rule: Rule,
    reasons: readonly string[],
    depth: number,
  ): Decision | undefined | 'next' {
    const { target } = rule;
    if (target === undefined || WITHOUT_EFFECT.has(target)) return 'next';
    const table = at.slice(0, at.indexOf('/'));
    const note = (effect: string) =>
      this.#matched.push({ at, rule: ruleText(at, text), text: [...reasons, effect].join(': ') });
    const decide = (fate: Decision['fate'], message?: string): Decision => {
      const source = ruleText(at, text);
      return { fate, at, rule: source, ...(message === undefined ? {} : { message }) };
    };
    const chain = `${table}/${target}`;
    if (this.#tables.rules.has(chain) && depth < MAX_DEPTH) {
      note(`continues in chain ${target}`);
      const decided = this.#chain(chain, depth + 1);
      if (decided || rule.goto) return decided;
      return 'next';
    }
    switch (target) {
      case 'ACCEPT':
        note(`table ${table} accepts the packet`);
        return decide('accept');
      case 'RETURN':
        note('leaves the chain');
        return undefined;
      case 'DROP':
        note('drops the packet');
        return decide('drop');
      case 'REJECT': {
        const message = rule.targetOptions.get('reject-with') ?? 'icmp-port-unreachable';
        note(`rejects the packet with ${message}`);
        return decide('reject', message);
      }
      case 'MARK':
        return this.#mark(at, text, rule, note);
      case 'MASQUERADE':
        this.#source = 'link';
        note('masquerades the packet');
        return decide('accept');
      case 'SNAT':
        this.#source = firstAddress(rule.targetOptions.get('to-source') ?? '');
        note(`replaces the source by ${this.#source}`);
        return decide('accept');
      default:
        this.#unknown.push({ at, rule: ruleText(at, text), part: `-j ${target}` });
        return 'next';
    }
  }

  #mark(at: string, text: string, { targetOptions }: Rule, note: (effect: string) => void): 'next' {
    const written = targetOptions.get('set-xmark');
    if (written === undefined) {
      this.#unknown.push({ at, rule: ruleText(at, text), part: '-j MARK' });
      return 'next';
    }
    const [value = 0, mask = 0xffff_ffff] = written.split('/').map(Number);
    const mark = ((this.#packet.mark & ~mask) ^ value) >>> 0;
    this.#packet = { ...this.#packet, mark };
    note(`the packet now has mark 0x${mark.toString(16)}`);
    return 'next';
  }
}

function reasonsOf(tests: readonly ConditionTest[]): string[] {
  const reasons = tests.flatMap(({ because }) => because ?? []);
  return reasons.length === 0 ? [] : [reasons.join(', ')];
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
