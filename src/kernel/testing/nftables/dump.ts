// The objects of the fake kernel as its messages: nf_tables_fill_table_info() and its like. Of what is deleted, they have the names and
// the handle only.
import {
  CATCH_ALL,
  CHAIN,
  CHAIN_IS_BASE,
  DATA,
  DESCRIPTION,
  ELEMENT,
  ELEMENTS,
  FLOW_TABLE,
  FLOW_TABLE_HOOK,
  GENERATION,
  INTERVAL_END,
  LIST_ELEMENT,
  MESSAGE,
  OBJECT,
  RULE,
  SET,
  TABLE,
} from '../../nftables/numbers.js';
import { type AttributesOut, messageOf } from './attributes.js';
import type {
  FakeChain,
  FakeElement,
  FakeFlowTable,
  FakeObject,
  FakeRule,
  FakeSet,
  FakeTable,
} from './state.js';

/** Length of the data of a verdict map: sizeof(struct nft_verdict). */
const VERDICT_LENGTH = 16;
const VERDICT_TYPE = 0xffff_ff00;

export function tableMessage(type: number, table: FakeTable): Uint8Array {
  return messageOf(type, table.family, (out) => {
    out.text(TABLE.name, table.name).u64(TABLE.handle, table.handle);
    if (type !== MESSAGE.newTable) return;
    out
      .u32(TABLE.use, table.chains.size + table.sets.size + table.objects.size + table.flowTables.size)
      .u32(TABLE.flags, table.flags)
      .bytes(TABLE.userData, table.userData);
  });
}

export function chainMessage(type: number, chain: FakeChain): Uint8Array {
  const { table, base } = chain;
  return messageOf(type, table.family, (out) => {
    out.text(CHAIN.table, table.name).u64(CHAIN.handle, chain.handle).text(CHAIN.name, chain.name);
    if (type !== MESSAGE.newChain) return;
    if (base) {
      out
        .nested(CHAIN.hook, base.written)
        .u32(CHAIN.policy, chain.policy)
        .text(CHAIN.type, base.type)
        .u32(CHAIN.flags, CHAIN_IS_BASE);
    }
    out.u32(CHAIN.use, chain.rules.length + chain.jumps).bytes(CHAIN.userData, chain.userData);
  });
}

export function ruleMessage(type: number, rule: FakeRule): Uint8Array {
  const { chain } = rule;
  const before = chain.rules[chain.rules.indexOf(rule) - 1];
  return messageOf(type, chain.table.family, (out) => {
    out.text(RULE.table, chain.table.name).text(RULE.chain, chain.name).u64(RULE.handle, rule.handle);
    if (type !== MESSAGE.newRule) return;
    if (before) out.u64(RULE.position, before.handle);
    out.nested(RULE.expressions, rule.expressions).bytes(RULE.userData, rule.userData);
  });
}

export function setMessage(type: number, set: FakeSet): Uint8Array {
  return messageOf(type, set.table.family, (out) => {
    out.text(SET.table, set.table.name).text(SET.name, set.name).u64(SET.handle, set.handle);
    if (type !== MESSAGE.newSet) return;
    if (set.flags !== 0) out.u32(SET.flags, set.flags);
    out.u32(SET.keyType, set.keyType).u32(SET.keyLength, set.keyLength);
    if (set.dataType !== undefined) {
      out.u32(SET.dataType, set.dataType);
      out.u32(SET.dataLength, set.dataType === VERDICT_TYPE ? VERDICT_LENGTH : (set.dataLength ?? 0));
    }
    if (set.timeout !== undefined) out.u64(SET.timeout, set.timeout);
    for (const [attribute, value] of set.kept) out.bytes(attribute, value);
    out.bytes(SET.userData, set.userData);
    out.within(SET.description, () => {
      if (set.size !== undefined) out.u32(DESCRIPTION.size, set.size);
      out.nested(DESCRIPTION.concatenation, set.fields);
    });
  });
}

export function objectMessage(type: number, object: FakeObject): Uint8Array {
  return messageOf(type, object.table.family, (out) => {
    out
      .text(OBJECT.table, object.table.name)
      .text(OBJECT.name, object.name)
      .u32(OBJECT.type, object.type)
      .u64(OBJECT.handle, object.handle);
    if (type !== MESSAGE.newObject) return;
    out.u32(OBJECT.use, object.uses).nested(OBJECT.data, object.data).bytes(OBJECT.userData, object.userData);
  });
}

export function flowTableMessage(type: number, flowTable: FakeFlowTable): Uint8Array {
  const { table, name, handle, uses, flags, priority, devices } = flowTable;
  return messageOf(type, table.family, (out) => {
    out.text(FLOW_TABLE.table, table.name).text(FLOW_TABLE.name, name).u64(FLOW_TABLE.handle, handle);
    if (type !== MESSAGE.newFlowTable) return;
    out.u32(FLOW_TABLE.use, uses).u32(FLOW_TABLE.flags, flags);
    out.within(FLOW_TABLE.hook, () => {
      out.u32(FLOW_TABLE_HOOK.number, 0).u32(FLOW_TABLE_HOOK.priority, priority);
      out.within(FLOW_TABLE_HOOK.devices, () => {
        for (const [device, type] of devices) out.text(type, device);
      });
    });
  });
}

export function elementsMessage(
  type: number,
  set: FakeSet,
  elements: readonly FakeElement[],
  now: number,
): Uint8Array {
  return messageOf(type, set.table.family, (out) => {
    out.text(ELEMENTS.table, set.table.name).text(ELEMENTS.set, set.name);
    out.within(ELEMENTS.list, () => {
      for (const element of elements) writeElement(out, element, now);
    });
  });
}

function writeElement(out: AttributesOut, element: FakeElement, now: number): void {
  const { key, keyEnd, data, object, expressions, flags, timeout, until, userData } = element;
  out.within(LIST_ELEMENT, () => {
    if (!(flags & CATCH_ALL)) out.within(ELEMENT.key, () => out.bytes(DATA.value, key));
    if (keyEnd) out.within(ELEMENT.keyEnd, () => out.bytes(DATA.value, keyEnd));
    out.nested(ELEMENT.data, data);
    if (object !== undefined) out.text(ELEMENT.object, object);
    if (expressions) out.nested(expressions.type, expressions.value);
    if (flags !== 0) out.u32(ELEMENT.flags, flags);
    if (timeout !== undefined && !(flags & INTERVAL_END)) out.u64(ELEMENT.timeout, timeout);
    if (until !== undefined) out.u64(ELEMENT.expires, BigInt(Math.max(0, Math.ceil(until - now))));
    out.bytes(ELEMENT.userData, userData);
  });
}

export function generationMessage(id: number, pid: number, program: string): Uint8Array {
  return messageOf(MESSAGE.newGeneration, 0, (out) => {
    out.u32(GENERATION.id, id).u32(GENERATION.pid, pid).text(GENERATION.program, program);
  });
}
