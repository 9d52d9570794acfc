// Follows a packet through the chains of a table of nftables, expression by expression. Pure. A random choice leads to a branch for
// each of its results, each with its probability.
import type { Expression, Rule, Verdict } from '../../kernel/nftables/types.js';
import { formatAddress } from '../../net/address.js';
import type { Packet } from '../packet/packet.js';
import { type LoadContext, loaded } from './loads.js';
import { hostOrder, Registers } from './registers.js';
import { bytesIn, elementAt, type ProgrammedTable } from './table.js';

/** A rule whose verdict or statement took effect. */
export interface AppliedRule {
  readonly chain: string;
  readonly rule: Rule;
}

/** One way of a packet through a chain. */
export interface NftablesBranch {
  /** Its probability, from 0 to 1. */
  readonly share: number;
  /** The packet at the end: destination and mark may differ. */
  readonly packet: Packet;
  readonly verdict: 'accept' | 'drop' | 'reject';
  readonly masqueraded: boolean;
  readonly applied: readonly AppliedRule[];
}

/** All ways of a packet through a chain. */
export interface NftablesWalk {
  readonly branches: readonly NftablesBranch[];
  /** Rules with an expression that is not understood: they were taken not to match. */
  readonly notUnderstood: readonly { readonly chain: string; readonly expression: string }[];
}

/** Chains that a packet may be in at once: the kernel's limit is 16 jumps (`NFT_JUMP_STACK_SIZE`). */
const DEEPEST = 17;

/** A place in a chain. */
interface Frame {
  readonly chain: string;
  readonly rules: readonly Rule[];
  next: number;
}

/** A packet on its way. */
interface State {
  share: number;
  packet: Packet;
  masqueraded: boolean;
  frames: Frame[];
  applied: AppliedRule[];
  registers: Registers;
  /** The next expression of the rule before `next`; 0 at the start of a rule. */
  at: number;
}

/** What an expression does with the packet. */
type Effect = 'next' | 'mismatch' | 'unknown' | 'accept' | 'reject' | Verdict;

/** Follows a packet from the start of a chain. A chain that does not exist accepts. */
export function walkChain(
  table: ProgrammedTable,
  chain: string,
  packet: Packet,
  context: LoadContext,
): NftablesWalk {
  return new Walker(table, context, table.chains.get(chain)?.base?.policy ?? 'accept').walk(chain, packet);
}

class Walker {
  readonly #table: ProgrammedTable;
  readonly #context: LoadContext;
  readonly #policy: 'accept' | 'drop';
  readonly #branches: NftablesBranch[] = [];
  readonly #unknown = new Map<string, { readonly chain: string; readonly expression: string }>();

  /** @param policy the fate of packets at the end of the first chain */
  constructor(table: ProgrammedTable, context: LoadContext, policy: 'accept' | 'drop') {
    this.#table = table;
    this.#context = context;
    this.#policy = policy;
  }

  walk(chain: string, packet: Packet): NftablesWalk {
    const waiting: State[] = [
      {
        ...{ share: 1, packet, masqueraded: false, applied: [], at: 0 },
        frames: [this.#frame(chain)],
        registers: new Registers(),
      },
    ];
    for (let state = waiting.pop(); state; state = waiting.pop()) {
      // The first result of a choice is followed first.
      waiting.push(...this.#follow(state).reverse());
    }
    return { branches: this.#branches, notUnderstood: [...this.#unknown.values()] };
  }

  /** Follows one packet to its end, or to a random choice: the branches after it. */
  #follow(state: State): State[] {
    for (;;) {
      const frame = state.frames.at(-1);
      if (!frame) {
        this.#end(state, this.#policy);
        return [];
      }
      if (state.at === 0) frame.next += 1;
      const rule = frame.rules[frame.next - 1];
      if (!rule) {
        state.frames.pop();
        continue;
      }
      const choices = this.#rule(state, frame, rule);
      if (choices) return choices;
    }
  }

  /** The rest of a rule. Returns the branches of a choice, none if the packet is at its end; undefined: the next rule follows. */
  #rule(state: State, { chain }: Frame, rule: Rule): State[] | undefined {
    for (let at = state.at; at < rule.expressions.length; at++) {
      const expression = rule.expressions[at] as Expression;
      if (expression.kind === 'numgen' && expression.type === 'random') return choices(state, at, expression);
      const effect = this.#expression(state, expression);
      if (effect === 'next') continue;
      state.at = 0;
      if (effect === 'mismatch') return undefined;
      if (effect === 'unknown') {
        this.#unknown.set(`${chain} ${expression.kind}`, { chain, expression: expression.kind });
        return undefined;
      }
      state.applied = [...state.applied, { chain, rule }];
      return this.#decide(state, effect);
    }
    state.at = 0;
    state.applied = [...state.applied, { chain, rule }];
    return undefined;
  }

  #decide(state: State, effect: 'accept' | 'reject' | Verdict): State[] | undefined {
    const verdict = typeof effect === 'string' ? effect : effect.verdict;
    switch (verdict) {
      case 'accept':
      case 'drop':
      case 'reject':
        this.#end(state, verdict);
        return [];
      case 'return':
        state.frames.pop();
        return undefined;
      case 'jump':
      case 'goto':
        if (verdict === 'goto') state.frames.pop();
        if (typeof effect === 'object' && 'chain' in effect && state.frames.length < DEEPEST)
          state.frames.push(this.#frame(effect.chain));
        return undefined;
      default:
        return undefined;
    }
  }

  #frame(chain: string): Frame {
    return { chain, rules: this.#table.chains.get(chain)?.rules ?? [], next: 0 };
  }

  #end({ share, packet, masqueraded, applied }: State, verdict: NftablesBranch['verdict']): void {
    this.#branches.push({ share, packet, verdict, masqueraded, applied });
  }

  #expression(state: State, expression: Expression): Effect {
    const { registers } = state;
    switch (expression.kind) {
      case 'payload':
      case 'meta':
      case 'ct':
      case 'fib': {
        const value = loaded(expression, state.packet, this.#context);
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
        const value = registers.read(expression.source, expression.mask.length);
        const { mask, xor, register } = expression;
        registers.write(
          register,
          value.map((byte, i) => (byte & (mask[i] ?? 0)) ^ (xor[i] ?? 0)),
        );
        return 'next';
      }
      case 'lookup':
        return this.#lookup(state, expression);
      case 'immediate':
        registers.write(expression.register, expression.data);
        return 'next';
      case 'verdict':
        return expression.verdict;
      case 'metaSet': {
        if (expression.key !== 'mark') return 'unknown';
        const [mark = 0] = new Uint32Array(registers.read(expression.source, 4).buffer);
        state.packet = { ...state.packet, mark };
        return 'next';
      }
      case 'nat':
        return translate(state, expression);
      case 'masq':
        state.masqueraded = true;
        return 'accept';
      case 'reject':
        return 'reject';
      // They have no effect on this packet.
      case 'counter':
      case 'log':
      case 'dynset':
        return 'next';
      default:
        return 'unknown';
    }
  }

  #lookup({ registers }: State, expression: Extract<Expression, { kind: 'lookup' }>): Effect {
    const { set: name, source, register, invert = false } = expression;
    const found = typeof name === 'string' ? this.#table.sets.get(name) : undefined;
    if (!found) return 'unknown';
    // The packet is the first one of its client: no set that packets fill has it.
    const filled = found.set.flags.includes('dynamic');
    const element = filled ? undefined : elementAt(found, registers.read(source, found.set.keyLength));
    if ((element !== undefined) === invert) return 'mismatch';
    if (register === undefined || !element) return 'next';
    const { data } = element;
    if (typeof data === 'object' && 'verdict' in data) return data;
    registers.write(register, bytesIn(data));
    return 'next';
  }
}

function choices(
  state: State,
  at: number,
  { modulus, offset = 0, register }: Extract<Expression, { kind: 'numgen' }>,
): State[] {
  return Array.from({ length: modulus }, (_, number) => {
    const registers = state.registers.copy();
    registers.write(register, hostOrder(number + offset));
    const frames = state.frames.map((frame) => ({ ...frame }));
    return { ...state, share: state.share / modulus, registers, frames, at: at + 1 };
  });
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

/** Replaces the destination. */
function translate(state: State, expression: Extract<Expression, { kind: 'nat' }>): Effect {
  const { type, address, port, addressEnd, portEnd } = expression;
  const isRange = (addressEnd ?? address) !== address || (portEnd ?? port) !== port;
  if (type !== 'dnat' || address === undefined || isRange) return 'unknown';
  const { registers, packet } = state;
  const [high = 0, low = 0] = port === undefined ? [] : registers.read(port, 2);
  state.packet = {
    ...packet,
    destination: formatAddress(registers.read(address, packet.family === 4 ? 4 : 16)),
    port: port === undefined ? packet.port : high * 256 + low,
    translated: true,
  };
  return 'accept';
}
