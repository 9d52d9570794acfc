// What the expressions of a rule refer to, as the fake kernel reads them. Expressions are otherwise kept as they were written.
import { constants } from 'node:os';
import { DATA, DERIVED_SET_FLAGS, LIST_ELEMENT, VERDICT } from '../../nftables/numbers.js';
import { Attributes, AttributesOut, listIn } from './attributes.js';
import { type Context, refuse, setOf } from './context.js';
import { type FakeChain, type FakeSet, type FakeTable, objectKey, type Uses } from './state.js';
import { EXPRESSION_STATES, stateOf } from './stateful.js';

const { EINVAL, EMLINK, ENOENT, EOPNOTSUPP } = constants.errno;

/** `NFTA_EXPR_` */
const EXPRESSION = { name: 1, data: 2 } as const;
/** `NFTA_IMMEDIATE_` */
const IMMEDIATE = { register: 1, data: 2 } as const;
/** `NFTA_LOOKUP_` */
const LOOKUP = { name: 1, source: 2, register: 3, id: 4, flags: 5 } as const;
/** `NFTA_DYNSET_` */
const DYNSET = { name: 1, id: 2 } as const;
/** `NFTA_OBJREF_` */
const OBJREF = { type: 1, name: 2 } as const;
const OBJREF_MAP = { source: 3, name: 4, id: 5 } as const;
/** `NFTA_FLOW_TABLE_NAME` */
const FLOW_TABLE_NAME = 1;
/** `NFTA_NAT_TYPE` */
const NAT_TYPE = 1;
/** `NF_INET_` */
const HOOKS = { prerouting: 0, input: 1, output: 3, postrouting: 4 } as const;
const FIRST_HOOKS: readonly number[] = [HOOKS.prerouting, HOOKS.output];
const LAST_HOOKS: readonly number[] = [HOOKS.postrouting, HOOKS.input];
/** The most elements of a set that a rule fills, unless it has a size: nft_dynset_init(). */
const DYNAMIC_SIZE = 0xffff;
const JUMP = -3;
const GOTO = -4;

interface Found {
  readonly chains: FakeChain[];
  readonly sets: FakeSet[];
  readonly objects: { uses: number }[];
}

/** The expressions of a rule in the chain, and what they refer to: sets by their final names. */
export function expressionsOf(
  context: Context,
  chain: FakeChain,
  written: Uint8Array | undefined,
): { expressions: Uint8Array; uses: Uses } {
  const uses: Found = { chains: [], sets: [], objects: [] };
  const out = new AttributesOut();
  for (const { value } of listIn(written ?? new Uint8Array())) {
    const expression = new Attributes(value);
    const name = expression.text(EXPRESSION.name) ?? refuse(EINVAL, value);
    const data = expression.nested(EXPRESSION.data) ?? new Attributes(new Uint8Array());
    const found = { context, chain, uses, data, culprit: value };
    const states = EXPRESSION_STATES[name];
    const renamed = states ? stateOf(states, expression.bytes(EXPRESSION.data)) : READERS[name]?.(found);
    out.within(LIST_ELEMENT, () => {
      out.text(EXPRESSION.name, name);
      out.nested(EXPRESSION.data, renamed ?? expression.bytes(EXPRESSION.data));
    });
  }
  return { expressions: new Uint8Array(out.writer.written()), uses };
}

interface Reading {
  readonly context: Context;
  readonly chain: FakeChain;
  readonly uses: Found;
  readonly data: Attributes;
  readonly culprit: Uint8Array;
}

/** Reads an expression. Returns other attributes of it, if they are not those that were written. */
type Reader = (reading: Reading) => Uint8Array | undefined;

const READERS: Readonly<Record<string, Reader>> = {
  immediate({ chain, uses, data, culprit }) {
    const target = chainOfVerdict(chain.table, data.nested(IMMEDIATE.data));
    if (target === chain) refuse(EMLINK, culprit);
    if (target) uses.chains.push(target);
    return undefined;
  },
  lookup({ context, chain, uses, data }) {
    const set = setOf({ ...context, attributes: data }, chain.table, LOOKUP);
    const isMap = (set.flags & DERIVED_SET_FLAGS.map) !== 0;
    const flags = data.u32(LOOKUP.flags) ?? 0;
    if (data.has(LOOKUP.register) && (!isMap || flags !== 0)) refuse(EINVAL);
    uses.sets.push(set);
    const out = new AttributesOut().text(LOOKUP.name, set.name);
    for (const type of [LOOKUP.source, LOOKUP.register]) out.bytes(type, data.bytes(type));
    return out.u32(LOOKUP.flags, flags).writer.written();
  },
  dynset({ context, chain, uses, data }) {
    const set = setOf({ ...context, attributes: data }, chain.table, DYNSET);
    if (set.size === undefined) context.changes.set(set, 'size', DYNAMIC_SIZE);
    uses.sets.push(set);
    return undefined;
  },
  objref({ context, chain, uses, data, culprit }) {
    if (data.has(OBJREF_MAP.source)) {
      const set = setOf({ ...context, attributes: data }, chain.table, OBJREF_MAP);
      uses.sets.push(set);
      const out = new AttributesOut().bytes(OBJREF_MAP.source, data.bytes(OBJREF_MAP.source));
      return out.text(OBJREF_MAP.name, set.name).writer.written();
    }
    const key = objectKey(data.u32(OBJREF.type) ?? 0, data.text(OBJREF.name) ?? '');
    uses.objects.push(chain.table.objects.get(key) ?? refuse(ENOENT, culprit));
    return undefined;
  },
  flow_offload({ chain, uses, data, culprit }) {
    const name = data.text(FLOW_TABLE_NAME) ?? '';
    uses.objects.push(chain.table.flowTables.get(name) ?? refuse(ENOENT, culprit));
    return undefined;
  },
  nat: ({ chain, data }) => translates(chain, data.u32(NAT_TYPE) === 1 ? FIRST_HOOKS : LAST_HOOKS),
  masq: ({ chain }) => translates(chain, [HOOKS.postrouting]),
  redir: ({ chain }) => translates(chain, FIRST_HOOKS),
};

/** Only base chains are checked: the kernel also refuses a chain of another type that leads to such a rule. */
function translates({ base }: FakeChain, hooks: readonly number[]): undefined {
  if (base && (base.type !== 'nat' || !hooks.includes(base.hook))) refuse(EOPNOTSUPP);
}

/** The chain to which a verdict in data leads. */
export function chainOfVerdict(table: FakeTable, data: Attributes | undefined): FakeChain | undefined {
  const verdict = data?.nested(DATA.verdict);
  const code = verdict?.u32(VERDICT.code);
  if (!verdict || code === undefined) return undefined;
  if ((code | 0) !== JUMP && (code | 0) !== GOTO) return undefined;
  const target =
    table.chains.get(verdict.text(VERDICT.chain) ?? '') ?? refuse(ENOENT, verdict.bytes(VERDICT.chain));
  if (target.base) refuse(EOPNOTSUPP, verdict.bytes(VERDICT.chain));
  return target;
}
