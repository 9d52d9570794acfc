// The path of a packet through the chains of iptables, as the kernel evaluates them: rule by rule, until one decides.
import type { SavedTables } from '../../../kernel/iptables/types.js';
import { type ConditionTest, testCondition } from './conditions.js';
import { all, type Packet, type RuleContext } from './packet.js';
import { conditionText, type Rule, readRule } from './ruleText.js';
import { translatedBy } from './translation.js';

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
  readonly verdict: 'accept' | 'drop' | 'reject';
  /** The chain that decided, and its rule; the rule is absent if the policy decided. */
  readonly at: string;
  readonly rule?: string;
}

/** The result of a walk. */
export interface Walk {
  readonly decision: Decision;
  /** The packet with the marks that rules set, and the destination that they replaced. */
  readonly packet: Packet;
  readonly matched: readonly MatchedRule[];
  readonly unknown: readonly UnknownRule[];
  /** The new source: `link` is the address of the output link (MASQUERADE), otherwise an address (SNAT). */
  readonly source?: 'link' | string;
}

/** One of the walks that chance selects from. */
export interface Branch extends Walk {
  /** Its probability. The probabilities of all branches add up to 1. */
  readonly share: number;
}

/** The rules of the hooks of a node. */
export interface HookRules {
  /**
   * Walks through a hook of a table and the chains that it calls. A rule that matches by chance, or replaces the destination, is not
   * understood.
   *
   * @param hook `nat/PREROUTING`
   */
  walk(hook: string, packet: Packet): Walk;
  /**
   * The same, for rules that select an endpoint: a rule that matches by chance makes several branches, and a rule may replace the
   * destination.
   */
  branches(hook: string, packet: Packet): Branch[];
}

/** The rules of iptables. */
export function iptablesRules(tables: SavedTables, node: RuleContext): HookRules {
  return {
    walk: (hook, packet) => walk(tables, hook, packet, node),
    branches: (hook, packet) => branches(tables, hook, packet, node),
  };
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
/** With this many branches, a rule of chance is not understood. Many more than a Service has endpoints. */
const MAX_BRANCHES = 100_000;

/**
 * Walks through a built-in chain and the chains that it calls. A rule that matches by chance, or replaces the
 * destination, is not understood.
 *
 * @param hook `nat/PREROUTING`; a table without this chain accepts
 */
export function walk(tables: SavedTables, hook: string, packet: Packet, node: RuleContext): Walk {
  const [only] = new Walker(tables, node, false).run(hook, packet);
  return only as Walk;
}

/**
 * The same, for rules that select an endpoint: a rule that matches by chance makes two branches, and a rule may replace
 * the destination. The branches are in the order of their rules.
 */
export function branches(tables: SavedTables, hook: string, packet: Packet, node: RuleContext): Branch[] {
  return new Walker(tables, node, true).run(hook, packet);
}

/** A position in a chain. */
interface Frame {
  readonly at: string;
  /** Index of the next rule. */
  next: number;
  /** Number of matched rules after the jump to this chain; -1 for a built-in chain. */
  readonly matched: number;
}

/** A branch that has not ended. */
interface OpenBranch {
  packet: Packet;
  source: string | undefined;
  share: number;
  readonly matched: MatchedRule[];
  readonly unknown: UnknownRule[];
  /** The innermost chain is last. */
  readonly frames: Frame[];
}

interface WrittenRule extends Rule {
  readonly text: string;
}

/** The rules of each chain, read once: the packet to each endpoint passes the same chains. */
const READ = new WeakMap<readonly string[], readonly WrittenRule[]>();

class Walker {
  readonly #tables: SavedTables;
  readonly #node: RuleContext;
  /** Follow rules of chance, and rules that replace the destination. */
  readonly #selects: boolean;
  /** Branches that are not finished. */
  readonly #open: OpenBranch[] = [];
  #made = 1;

  constructor(tables: SavedTables, node: RuleContext, selects: boolean) {
    this.#tables = tables;
    this.#node = node;
    this.#selects = selects;
  }

  run(hook: string, packet: Packet): Branch[] {
    const frames = [{ at: hook, next: 0, matched: -1 }];
    this.#open.push({ packet, source: undefined, share: 1, matched: [], unknown: [], frames });
    const ended: Branch[] = [];
    for (let branch = this.#open.pop(); branch; branch = this.#open.pop()) {
      const decided = this.#finish(branch);
      const policy = this.#tables.policies.get(hook) === 'DROP' ? 'drop' : 'accept';
      const { source, frames: _, ...rest } = branch;
      ended.push({
        ...rest,
        decision: decided ?? { verdict: policy, at: hook },
        ...(source === undefined ? {} : { source }),
      });
    }
    return ended;
  }

  /** Returns the decision, or undefined if no rule decides. */
  #finish(branch: OpenBranch): Decision | undefined {
    for (let frame = branch.frames.at(-1); frame; frame = branch.frames.at(-1)) {
      const rule = this.#rulesOf(frame.at)[frame.next++];
      if (!rule) {
        branch.frames.pop();
        // A chain in which no rule matches is not a step.
        if (branch.matched.length === frame.matched) branch.matched.pop();
        continue;
      }
      const reasons = this.#test(branch, frame, rule);
      const decided = reasons === undefined ? undefined : this.#follow(branch, frame, rule, reasons);
      if (decided) return decided;
    }
    return undefined;
  }

  #rulesOf(at: string): readonly WrittenRule[] {
    const texts = this.#tables.rules.get(at) ?? [];
    const read = READ.get(texts) ?? texts.map((text) => ({ text, ...readRule(text) }));
    READ.set(texts, read);
    return read;
  }

  /** The reasons why a rule matches; undefined if it does not match, or is not understood. */
  #test(branch: OpenBranch, { at }: Frame, { text, conditions }: WrittenRule): string | undefined {
    const tests = conditions.map((each) => testCondition(each, branch.packet, this.#node, conditions));
    const matches = all(tests.map((test) => test.matches));
    if (matches === undefined) {
      const open = tests.filter((test) => test.matches === undefined);
      const follows = this.#selects && this.#made < MAX_BRANCHES;
      if (follows && open.every(({ chance }) => chance !== undefined)) {
        this.#fork(
          branch,
          open.reduce((product, { chance = 1 }) => product * chance, 1),
        );
        return reasonsOf(tests);
      }
      const part = conditions.filter((_, i) => tests[i]?.matches === undefined).map(conditionText);
      branch.unknown.push({ at, rule: ruleText(at, text), part: part.join(' ') });
    }
    return matches ? reasonsOf(tests) : undefined;
  }

  /** Adds the branch in which a rule does not match. */
  #fork(branch: OpenBranch, chance: number): void {
    const { matched, unknown, frames } = branch;
    const other = {
      ...branch,
      share: branch.share * (1 - chance),
      matched: [...matched],
      unknown: [...unknown],
    };
    if (other.share > 0) this.#open.push({ ...other, frames: frames.map((frame) => ({ ...frame })) });
    this.#made += 1;
    branch.share *= chance;
  }

  /** The effect of a rule that matches: its decision, or undefined to continue. */
  #follow(branch: OpenBranch, frame: Frame, rule: WrittenRule, reasons: string): Decision | undefined {
    const { at } = frame;
    const { target = '', targetOptions } = rule;
    const table = at.slice(0, at.indexOf('/'));
    const written = ruleText(at, rule.text);
    const note = (effect: string) => branch.matched.push({ at, rule: written, target, reasons, effect });
    const decide = (verdict: Decision['verdict'], effect: string): Decision => {
      note(effect);
      return { verdict, at, rule: written };
    };
    const chain = `${table}/${target}`;
    if (this.#tables.rules.has(chain) && branch.frames.length <= MAX_DEPTH) {
      if (rule.goto) frame.next = Number.POSITIVE_INFINITY;
      branch.frames.push({ at: chain, next: 0, matched: note(`continues in chain ${target}`) });
      return undefined;
    }
    switch (target) {
      case 'ACCEPT':
        return decide('accept', `table ${table} accepts the packet`);
      case 'RETURN':
        note('leaves the chain');
        branch.frames.pop();
        return undefined;
      case 'DROP':
        return decide('drop', 'drops the packet');
      case 'REJECT':
        return decide(
          'reject',
          `rejects the packet with ${targetOptions.get('reject-with') ?? 'an ICMP message'}`,
        );
      case 'MASQUERADE':
        branch.source = 'link';
        return decide('accept', 'masquerades the packet');
      case 'SNAT':
        branch.source = firstAddress(targetOptions.get('to-source') ?? '');
        return decide('accept', `replaces the source by ${branch.source}`);
      default:
        return this.#change(branch, frame, rule, note) ? { verdict: 'accept', at, rule: written } : undefined;
    }
  }

  /** A target that changes the packet; returns whether it decides. A target that is not understood is skipped. */
  #change(branch: OpenBranch, { at }: Frame, rule: WrittenRule, note: (effect: string) => void): boolean {
    const { target = '', targetOptions } = rule;
    const written = targetOptions.get('set-xmark');
    if (target === 'MARK' && written !== undefined) {
      branch.packet = marked(branch.packet, written);
      note(`the packet now has mark 0x${branch.packet.mark.toString(16)}`);
      return false;
    }
    const translated = this.#selects ? translatedBy(target, targetOptions, branch.packet) : undefined;
    if (translated) {
      branch.packet = translated.packet;
      note(`replaces the destination by ${translated.destination}`);
      return true;
    }
    if (!WITHOUT_EFFECT.has(target)) {
      branch.unknown.push({ at, rule: ruleText(at, rule.text), part: `-j ${target}` });
    }
    return false;
  }
}

/** `--set-xmark VALUE/MASK` clears the bits of the mask, and inverts those of the value. */
function marked(packet: Packet, written: string): Packet {
  const [value = 0, mask = 0xffff_ffff] = written.split('/').map(Number);
  return { ...packet, mark: ((packet.mark & ~mask) ^ value) >>> 0 };
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
