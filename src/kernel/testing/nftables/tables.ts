// Tables and chains of the fake kernel: nf_tables_newtable(), nf_tables_newchain(), and their counterparts.
import { constants } from 'node:os';
import { CHAIN, HOOK, MESSAGE, NLM_F, TABLE } from '../../nftables/numbers.js';
import { type Context, chainOf, nameIn, nextHandle, refuse, tableKey, tableOf } from './context.js';
import { chainMessage, tableMessage } from './dump.js';
import { deleteElement } from './elements.js';
import { removeFlowTable } from './flowTables.js';
import { deleteObjectOf } from './objects.js';
import { removeRule } from './rules.js';
import { removeSet } from './sets.js';
import type { FakeBase, FakeChain, FakeTable } from './state.js';

const { EBUSY, EEXIST, EOPNOTSUPP } = constants.errno;

/** Hooks of which chains of the type `nat` have one: forward is not among them. */
const NAT_HOOKS: ReadonlySet<number> = new Set([0, 1, 3, 4]);
/** `NF_IP_PRI_CONNTRACK` */
const CONNTRACK_PRIORITY = -200;
const ACCEPT = 1;

/** Adds a table. */
export function newTable(context: Context): void {
  const { tables, changes, family, flags, attributes, notify } = context;
  const name = nameIn(attributes, TABLE.name);
  const key = tableKey(family, name);
  const found = tables.get(key);
  const tableFlags = attributes.u32(TABLE.flags) ?? 0;
  if (found) {
    if (flags & NLM_F.exclusive) refuse(EEXIST, attributes.bytes(TABLE.name));
    if (tableFlags !== found.flags) changes.set(found, 'flags', tableFlags);
    else return;
    notify(() => tableMessage(MESSAGE.newTable, found));
    return;
  }
  const table: FakeTable = {
    family,
    name,
    handle: context.nextTable(),
    userData: attributes.copy(TABLE.userData),
    flags: tableFlags,
    handles: 0n,
    chains: new Map(),
    sets: new Map(),
    objects: new Map(),
    flowTables: new Map(),
  };
  changes.add(tables, key, table);
  notify(() => tableMessage(MESSAGE.newTable, table));
}

/** Deletes a table with all that is in it. */
export function deleteTable(context: Context): void {
  const { tables, changes, family, ifExists, attributes, notify } = context;
  const key = tableKey(family, nameIn(attributes, TABLE.name));
  if (ifExists && !tables.has(key)) return;
  const table = tableOf(context, TABLE.name);
  for (const chain of table.chains.values()) for (const rule of [...chain.rules]) removeRule(context, rule);
  for (const set of [...table.sets.values()]) {
    for (const element of [...set.elements.values()]) deleteElement(context, set, element);
    removeSet(context, set);
  }
  for (const flowTable of [...table.flowTables.values()]) removeFlowTable(context, flowTable);
  for (const object of [...table.objects.values()]) deleteObjectOf(context, object);
  for (const chain of [...table.chains.values()]) removeChain(context, chain);
  changes.deleteInOrder(tables, key);
  notify(() => tableMessage(MESSAGE.deleteTable, table));
}

/** Adds a chain, or gives it another policy. */
export function newChain(context: Context): void {
  const { changes, flags, attributes, notify } = context;
  const table = tableOf(context, CHAIN.table);
  const name = nameIn(attributes, CHAIN.name);
  const base = baseOf(context);
  const policy = attributes.u32(CHAIN.policy);
  const found = table.chains.get(name);
  if (found) {
    if (flags & NLM_F.exclusive) refuse(EEXIST, attributes.bytes(CHAIN.name));
    if (base) checkSameBase(found, base, attributes.bytes(CHAIN.hook));
    // A change, even if it changes nothing.
    changes.set(found, 'policy', policy ?? found.policy);
    notify(() => chainMessage(MESSAGE.newChain, found));
    return;
  }
  const chain: FakeChain = {
    table,
    name,
    handle: nextHandle(context, table),
    base,
    userData: attributes.copy(CHAIN.userData),
    policy: policy ?? ACCEPT,
    rules: [],
    jumps: 0,
  };
  changes.add(table.chains, name, chain);
  notify(() => chainMessage(MESSAGE.newChain, chain));
}

function baseOf({ attributes }: Context): FakeBase | undefined {
  const written = attributes.copy(CHAIN.hook);
  const hook = attributes.nested(CHAIN.hook);
  if (!hook || !written) return undefined;
  const base = {
    type: attributes.text(CHAIN.type) ?? 'filter',
    hook: hook.u32(HOOK.number) ?? 0,
    priority: (hook.u32(HOOK.priority) ?? 0) | 0,
    written,
  };
  if (base.type === 'nat' && (!NAT_HOOKS.has(base.hook) || base.priority <= CONNTRACK_PRIORITY))
    refuse(EOPNOTSUPP);
  return base;
}

function checkSameBase({ base: former }: FakeChain, base: FakeBase, culprit: Uint8Array | undefined): void {
  if (!former || former.type !== base.type) refuse(EEXIST, culprit);
  if (former.hook !== base.hook || former.priority !== base.priority) refuse(EOPNOTSUPP, culprit);
}

/** Deletes a chain with its rules, unless others lead to it. */
export function deleteChain(context: Context): void {
  const { tables, family, ifExists, attributes } = context;
  if (ifExists) {
    const found = tables.get(tableKey(family, nameIn(attributes, CHAIN.table)));
    if (!found?.chains.has(nameIn(attributes, CHAIN.name))) return;
  }
  const chain = chainOf(tableOf(context, CHAIN.table), attributes, CHAIN.name);
  for (const rule of [...chain.rules]) removeRule(context, rule);
  if (chain.jumps > 0) refuse(EBUSY);
  removeChain(context, chain);
}

function removeChain({ changes, notify }: Context, chain: FakeChain): void {
  changes.deleteInOrder(chain.table.chains, chain.name);
  notify(() => chainMessage(MESSAGE.deleteChain, chain));
}
