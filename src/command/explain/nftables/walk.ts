// The path of a packet through a chain of nftables, as the kernel evaluates it: expression by expression. Pure. A random number makes a
// branch for each of its values, each with its probability.

import { formatAddress, joinHostPort } from '../../../kernel/net/address.js';
import type { Expression, Rule, Verdict } from '../../../kernel/nftables/types.js';
import { TABLE } from '../../../proxy/modes/nftables/plan/names.js';
import type { Packet } from '../packet/packet.js';
import type { Branch, Decision, MatchedRule, UnknownRule } from '../packet/walk.js';
import { type LoadContext, loaded } from './loads.js';
import { hostOrder, Registers } from './registers.js';
import { dataOf, elementAt, type ProgrammedTable } from './table.js';

/** Chains that a packet may be in at once: `NFT_JUMP_STACK_SIZE`, and the first one. */
const DEEPEST = 17;

/** A position in a chain. */
interface Frame {
  readonly chain: string;
  readonly rules: readonly Rule[];
  /** Index of the next rule. */
  next: number;
  /** Number of matched rules after the jump to this chain; -1 for the first one. */
  readonly matched: number;
}

/** A branch that has not ended. */
interface OpenBranch {
  share: number;
  packet: Packet;
  source: 'link' | undefined;
  readonly matched: MatchedRule[];
  readonly unknown: UnknownRule[];
  /** The innermost chain is last. */
  readonly frames: Frame[];
  readonly registers: Registers;
  /** Index of the next expression of the rule before `next`; 0 at the start of a rule. */
  at: number;
}

/** What a rule does with a packet that it matches. */
interface Effect {
  readonly target: string;
  readonly text: string;
  readonly verdict?: Decision['verdict'] | Verdict;
}

/** How an expression ends: the next one follows, the rule does not match, it is not understood, or the rule has its effect. */
type Outcome = 'next' | 'mismatch' | 'unknown' | Effect;

/** Follows a packet from the start of a chain to its end. A chain that does not exist accepts. */
export function walkChain(
  table: ProgrammedTable,
  chain: string,
  packet: Packet,
  context: LoadContext,
): Branch[] {
  return new Walker(table, context).run(chain, packet);
}

class Walker {
  readonly #table: ProgrammedTable;
  readonly #context: LoadContext;

  constructor(table: ProgrammedTable, context: LoadContext) {
    this.#table = table;
    this.#context = context;
  }

  run(chain: string, packet: Packet): Branch[] {
    const policy = this.#table.chains.get(chain)?.base?.policy ?? 'accept';
    const ended: Branch[] = [];
    const open: OpenBranch[] = [
      {
        ...{ share: 1, packet, source: undefined, matched: [], unknown: [], at: 0 },
        frames: [this.#frame(chain, -1)],
        registers: new Registers(),
      },
    ];
    for (let branch = open.pop(); branch; branch = open.pop()) {
      const decision = this.#finish(branch, open);
      if (decision === 'several') continue;
      const { share, packet: sent, matched, unknown, source } = branch;
      ended.push({
        ...{ share, packet: sent, matched, unknown },
        decision: decision ?? { verdict: policy, at: `${TABLE}/${chain}` },
        ...(source === undefined ? {} : { source }),
      });
    }
    return ended;
  }

  /** Returns the decision; undefined if no rule decides, and `several` if other branches replace this one. */
  #finish(branch: OpenBranch, open: OpenBranch[]): Decision | 'several' | undefined {
    for (let frame = branch.frames.at(-1); frame; frame = branch.frames.at(-1)) {
      if (branch.at === 0) frame.next += 1;
      const rule = frame.rules[frame.next - 1];
      if (!rule) {
        branch.frames.pop();
        // A chain in which no rule matches is not a step.
        if (branch.matched.length === frame.matched) branch.matched.pop();
        continue;
      }
      const outcome = this.#evaluate(branch, rule);
      if (typeof outcome === 'object' && 'numbers' in outcome) {
        // The first number is followed first.
        for (let n = outcome.numbers - 1; n >= 0; n--) open.push(numbered(branch, outcome, n));
        return 'several';
      }
      const decided = this.#follow(branch, frame, rule, outcome);
      if (decided) return decided;
    }
    return undefined;
  }

  /** The rest of a rule. */
  #evaluate(branch: OpenBranch, rule: Rule): Exclude<Outcome, 'next'> | Choice | undefined {
    for (let at = branch.at; at < rule.expressions.length; at++) {
      const expression = rule.expressions[at] as Expression;
      if (expression.kind === 'numgen' && expression.type === 'random') {
        const { modulus, offset = 0, register } = expression;
        return { numbers: modulus, offset, register, at: at + 1 };
      }
      const outcome = this.#expression(branch, expression);
      if (outcome === 'next') continue;
      branch.at = 0;
      return outcome === 'unknown' ? this.#unknown(branch, rule, expression) : outcome;
    }
    branch.at = 0;
    return undefined;
  }

  #unknown({ unknown }: OpenBranch, rule: Rule, { kind }: Expression): 'unknown' {
    unknown.push({ at: `${TABLE}/${rule.chain}`, rule: this.#table.textOf(rule), part: kind });
    return 'unknown';
  }

  /** The effect of a rule that matches: its decision, or undefined to continue. */
  #follow(
    branch: OpenBranch,
    frame: Frame,
    rule: Rule,
    outcome: Exclude<Outcome, 'next'> | undefined,
  ): Decision | undefined {
    if (typeof outcome === 'string') return undefined;
    const { target, text: effect, verdict } = outcome ?? withoutVerdict(rule, branch.packet);
    // A rule without an effect, such as one that only counts, is not a step.
    if (effect === '') return undefined;
    const at = `${TABLE}/${frame.chain}`;
    const text = [this.#table.textOf(rule), rule.comment === undefined ? '' : `comment "${rule.comment}"`];
    const written = text.filter((part) => part !== '').join(' ');
    const matched = branch.matched.push({ at, rule: written, target, reasons: '', effect });
    if (verdict === undefined) return undefined;
    if (typeof verdict === 'string') return { verdict, at, rule: written };
    switch (verdict.verdict) {
      case 'accept':
      case 'drop':
        return { verdict: verdict.verdict, at, rule: written };
      case 'return':
        branch.frames.pop();
        return undefined;
      case 'jump':
      case 'goto':
        if (verdict.verdict === 'goto') frame.next = Number.POSITIVE_INFINITY;
        if (branch.frames.length < DEEPEST) branch.frames.push(this.#frame(verdict.chain, matched));
        return undefined;
      default:
        return undefined;
    }
  }

  #frame(chain: string, matched: number): Frame {
    return { chain, rules: this.#table.chains.get(chain)?.rules ?? [], next: 0, matched };
  }

  #expression(branch: OpenBranch, expression: Expression): Outcome {
    const { registers } = branch;
    switch (expression.kind) {
      case 'payload':
      case 'meta':
      case 'ct':
      case 'fib': {
        const value = loaded(expression, branch.packet, this.#context);
        if (!value) return 'unknown';
        registers.write(expression.register, value);
        return 'next';
      }
      case 'cmp':
        return compares(expression, registers) ? 'next' : 'mismatch';
      case 'range': {
        const value = Buffer.from(registers.read(expression.source, expression.from.length));
        const within = value.compare(expression.from) >= 0 && value.compare(expression.to) <= 0;
        return within === (expression.operator === 'eq') ? 'next' : 'mismatch';
      }
      case 'bitwise': {
        const { mask, xor, register, source } = expression;
        const value = registers.read(source, mask.length);
        registers.write(
          register,
          value.map((byte, i) => (byte & (mask[i] ?? 0)) ^ (xor[i] ?? 0)),
        );
        return 'next';
      }
      case 'lookup':
        return this.#lookup(branch, expression);
      case 'immediate':
        registers.write(expression.register, expression.data);
        return 'next';
      case 'verdict':
        return effectOf(expression.verdict);
      case 'metaSet':
        return setMark(branch, expression);
      case 'nat':
        return translate(branch, expression);
      case 'masq':
        branch.source = 'link';
        return { target: 'MASQUERADE', text: 'masquerades the packet', verdict: 'accept' };
      case 'reject':
        return { target: 'REJECT', text: 'rejects the packet', verdict: 'reject' };
      // They have no effect on this packet.
      case 'counter':
      case 'log':
      case 'dynset':
        return 'next';
      case 'objref':
        return expression.type === 'counter' ? 'next' : 'unknown';
      default:
        return 'unknown';
    }
  }

  #lookup({ registers }: OpenBranch, expression: Extract<Expression, { kind: 'lookup' }>): Outcome {
    const { set: name, source, register, invert = false } = expression;
    const found = typeof name === 'string' ? this.#table.sets.get(name) : undefined;
    if (!found || (typeof found.set.key === 'object' && found.intervals.length > 0)) return 'unknown';
    // The packet is the first one of its client: no set that packets fill has it.
    const filled = found.set.flags.includes('dynamic');
    const element = filled ? undefined : elementAt(found, registers.read(source, found.set.keyLength));
    if ((element !== undefined) === invert) return 'mismatch';
    if (register === undefined || !element) return 'next';
    const data = dataOf(found, element);
    if (data === undefined) return 'unknown';
    if (!(data instanceof Uint8Array)) return effectOf(data);
    registers.write(register, data);
    return 'next';
  }
}

/** A random number, of which each value makes a branch. */
interface Choice {
  readonly numbers: number;
  readonly offset: number;
  readonly register: Parameters<Registers['write']>[0];
  /** Index of the expression behind it. */
  readonly at: number;
}

/** The branch of one of the numbers. */
function numbered(branch: OpenBranch, { numbers, offset, register, at }: Choice, number: number): OpenBranch {
  const registers = branch.registers.copy();
  registers.write(register, hostOrder(number + offset));
  return {
    ...branch,
    ...{ share: branch.share / numbers, registers, at },
    matched: [...branch.matched],
    unknown: [...branch.unknown],
    frames: branch.frames.map((frame) => ({ ...frame })),
  };
}

function effectOf(verdict: Verdict): Outcome {
  switch (verdict.verdict) {
    case 'accept':
      return { target: 'ACCEPT', text: 'accepts the packet', verdict };
    case 'drop':
      return { target: 'DROP', text: 'drops the packet', verdict };
    case 'return':
      return { target: 'RETURN', text: 'leaves the chain', verdict };
    case 'jump':
    case 'goto':
      return { target: verdict.chain, text: `continues in chain ${verdict.chain}`, verdict };
    case 'continue':
      return 'next';
    default:
      return 'unknown';
  }
}

function compares(
  { operator, source, data }: Extract<Expression, { kind: 'cmp' }>,
  registers: Registers,
): boolean {
  const order = Buffer.from(registers.read(source, data.length)).compare(data);
  switch (operator) {
    case 'eq':
      return order === 0;
    case 'neq':
      return order !== 0;
    case 'lt':
      return order < 0;
    case 'lte':
      return order <= 0;
    case 'gt':
      return order > 0;
    case 'gte':
      return order >= 0;
  }
}

/** The effect of a rule at its end: it may have set the mark. */
function withoutVerdict({ expressions }: Rule, { mark }: Packet): Effect {
  const marks = expressions.some((expression) => expression.kind === 'metaSet');
  return marks
    ? { target: 'MARK', text: `the packet now has mark 0x${mark.toString(16)}` }
    : { target: '', text: '' };
}

function setMark(branch: OpenBranch, { key, source }: Extract<Expression, { kind: 'metaSet' }>): Outcome {
  if (key !== 'mark') return 'unknown';
  const [mark = 0] = new Uint32Array(branch.registers.read(source, 4).buffer);
  branch.packet = { ...branch.packet, mark };
  return 'next';
}

/** Replaces the destination. */
function translate(branch: OpenBranch, expression: Extract<Expression, { kind: 'nat' }>): Outcome {
  const { type, address, port, addressEnd, portEnd } = expression;
  const isRange = (addressEnd ?? address) !== address || (portEnd ?? port) !== port;
  if (type !== 'dnat' || address === undefined || isRange) return 'unknown';
  const { registers, packet } = branch;
  const [high = 0, low = 0] = port === undefined ? [] : registers.read(port, 2);
  const destination = formatAddress(registers.read(address, packet.family === 4 ? 4 : 16));
  const translated = port === undefined ? packet.port : high * 256 + low;
  branch.packet = { ...packet, destination, port: translated, translated: true };
  const text = `replaces the destination by ${joinHostPort(destination, translated)}`;
  return { target: 'DNAT', text, verdict: 'accept' };
}
