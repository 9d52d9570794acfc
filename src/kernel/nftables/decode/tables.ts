// Tables, chains, rules, objects and the generation, as the kernel lists them.
import type { ListedAttribute } from '../../shared/types.js';
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import { nameOf, u32Of, u64Of } from '../expressions/formats.js';
import { OBJECT_PARTS } from '../expressions/objectParts.js';
import type { Reading } from '../expressions/parts.js';
import {
  CHAIN,
  CHAIN_IS_BASE,
  DEVICE,
  GENERATION,
  HOOK,
  hooksOf,
  OBJECT,
  OBJECT_TYPES,
  POLICIES,
  RULE,
  TABLE,
  TABLE_FLAGS,
} from '../numbers.js';
import type { BaseChain, Chain, Generation, NftObject, Rule, Table } from '../types.js';
import { commentIn } from '../values/userData.js';
import { readExpressions } from './expressions.js';
import { flagsIn, keepAttribute, Reply } from './reply.js';

/** What is being read: the fields of any object. */
type Draft<T> = { -readonly [Name in keyof T]?: T[Name] | undefined } & { attributes?: ListedAttribute[] };

/** Reads a table. Throws a NetlinkError `ERR_MALFORMED_REPLY`, as all these functions do, if the message is none. */
export function readTable(payload: Uint8Array, operation = 'nftables.listTables'): Table {
  const reply = new Reply(payload, operation);
  const table: Draft<Table> = {};
  for (const attribute = reply.attributes(); attribute.next(); ) {
    switch (attribute.type) {
      case TABLE.name:
        table.name = attribute.text();
        break;
      case TABLE.flags:
        table.flags = flagsIn(u32Of(attribute), TABLE_FLAGS);
        break;
      case TABLE.use:
        table.use = u32Of(attribute);
        break;
      case TABLE.handle:
        table.handle = u64Of(attribute);
        break;
      case TABLE.owner:
        table.owner = u32Of(attribute);
        break;
      case TABLE.userData:
        readComment(attribute, table);
        break;
      case TABLE.pad:
        break;
      default:
        keepAttribute(attribute, table);
    }
  }
  const { name, flags = [], handle = 0n, use = 0, ...rest } = table;
  const { family } = reply;
  return { family, name: reply.required(name, 'NFTA_TABLE_NAME'), flags, ...present(rest), handle, use };
}

/** Reads a chain. */
export function readChain(payload: Uint8Array, operation = 'nftables.listChains'): Chain {
  const reply = new Reply(payload, operation);
  const chain: Draft<Chain> = {};
  const base: Draft<BaseChain> = {};
  for (const attribute = reply.attributes(); attribute.next(); ) {
    switch (attribute.type) {
      case CHAIN.table:
        chain.table = attribute.text();
        break;
      case CHAIN.name:
        chain.name = attribute.text();
        break;
      case CHAIN.handle:
        chain.handle = u64Of(attribute);
        break;
      case CHAIN.use:
        chain.use = u32Of(attribute);
        break;
      case CHAIN.flags:
        chain.flags = u32Of(attribute) & ~CHAIN_IS_BASE || undefined;
        break;
      case CHAIN.userData:
        readComment(attribute, chain);
        break;
      case CHAIN.pad:
      case CHAIN.id:
        break;
      default:
        if (!readBase(attribute, base, reply.familyNumber)) keepAttribute(attribute, chain);
    }
  }
  const { name, table, handle = 0n, use = 0, ...rest } = chain;
  return {
    family: reply.family,
    table: reply.required(table, 'NFTA_CHAIN_TABLE'),
    name: reply.required(name, 'NFTA_CHAIN_NAME'),
    ...(base.hook === undefined ? {} : { base: present(base) as unknown as BaseChain }),
    ...present(rest),
    handle,
    use,
  };
}

const CHAIN_TYPES: ReadonlySet<string> = new Set(['filter', 'nat', 'route']);

/** Reads what a base chain has; false for any other attribute. */
function readBase(attribute: AttributeCursor, base: Draft<BaseChain>, family: number): boolean {
  if (attribute.type === CHAIN.type) {
    const type = attribute.text();
    if (!CHAIN_TYPES.has(type)) return false;
    base.type = type as BaseChain['type'];
    return true;
  }
  if (attribute.type === CHAIN.policy) {
    base.policy = nameOf(POLICIES, u32Of(attribute));
    return base.policy !== undefined;
  }
  if (attribute.type !== CHAIN.hook) return false;
  let isKnown = true;
  for (const inner = attribute.nested(); inner.next(); ) {
    switch (inner.type) {
      case HOOK.number:
        base.hook =
          nameOf(hooksOf(family) as Record<Extract<BaseChain['hook'], string>, number>, u32Of(inner)) ??
          u32Of(inner);
        break;
      case HOOK.priority:
        base.priority = u32Of(inner) | 0;
        break;
      case HOOK.device:
        base.devices = [inner.text()];
        break;
      case HOOK.devices: {
        const devices = readDevices(inner);
        if (devices) base.devices = devices;
        else isKnown = false;
        break;
      }
      default:
        isKnown = false;
    }
  }
  if (base.hook === undefined || base.priority === undefined) throw attribute.malformed('is no hook');
  return isKnown;
}

/** Names of links, and beginnings of names with an asterisk; undefined if one has no notation. */
export function readDevices(attribute: AttributeCursor): string[] | undefined {
  const devices: string[] = [];
  for (const device = attribute.nested(); device.next(); ) {
    const name = device.text();
    if (device.type === DEVICE.prefix) devices.push(`${name}*`);
    else if (device.type === DEVICE.name && !name.endsWith('*')) devices.push(name);
    else return undefined;
  }
  return devices;
}

/** Reads a rule. */
export function readRule(payload: Uint8Array, operation = 'nftables.listRules'): Rule {
  const reply = new Reply(payload, operation);
  const rule: Draft<Rule> = {};
  for (const attribute = reply.attributes(); attribute.next(); ) {
    switch (attribute.type) {
      case RULE.table:
        rule.table = attribute.text();
        break;
      case RULE.chain:
        rule.chain = attribute.text();
        break;
      case RULE.handle:
        rule.handle = u64Of(attribute);
        break;
      case RULE.position:
        rule.after = u64Of(attribute);
        break;
      case RULE.expressions:
        rule.expressions = readExpressions(attribute);
        break;
      case RULE.userData:
        readComment(attribute, rule);
        break;
      case RULE.pad:
      case RULE.id:
        break;
      default:
        keepAttribute(attribute, rule);
    }
  }
  const { table, chain, expressions = [], handle = 0n, ...rest } = rule;
  return {
    family: reply.family,
    table: reply.required(table, 'NFTA_RULE_TABLE'),
    chain: reply.required(chain, 'NFTA_RULE_CHAIN'),
    expressions,
    ...present(rest),
    handle,
  };
}

const NOTHING_NESTED: Reading = { nested: () => [] };

/** Reads an object that rules refer to by name. */
export function readObject(payload: Uint8Array, operation = 'nftables.listObjects'): NftObject {
  const reply = new Reply(payload, operation);
  const object: Draft<NftObject> = {};
  let content: AttributeCursor | undefined;
  let data: Uint8Array | undefined;
  for (const attribute = reply.attributes(); attribute.next(); ) {
    switch (attribute.type) {
      case OBJECT.table:
        object.table = attribute.text();
        break;
      case OBJECT.name:
        object.name = attribute.text();
        break;
      case OBJECT.type:
        object.type = nameOf(OBJECT_TYPES, u32Of(attribute)) ?? u32Of(attribute);
        break;
      case OBJECT.data:
        content = attribute.nested();
        data = attribute.bytes();
        break;
      case OBJECT.use:
        object.use = u32Of(attribute);
        break;
      case OBJECT.handle:
        object.handle = u64Of(attribute);
        break;
      case OBJECT.userData:
        readComment(attribute, object);
        break;
      case OBJECT.pad:
        break;
      default:
        keepAttribute(attribute, object);
    }
  }
  const { name, table, type = 0, handle = 0n, use = 0, ...rest } = object;
  const fields = typeof type === 'number' ? undefined : readContent(type, content);
  if (!fields && data) {
    rest.attributes = [...(rest.attributes ?? []), { type: OBJECT.data, value: new Uint8Array(data) }];
  }
  return {
    family: reply.family,
    table: reply.required(table, 'NFTA_OBJ_TABLE'),
    name: reply.required(name, 'NFTA_OBJ_NAME'),
    type,
    ...fields,
    ...present(rest),
    handle,
    use,
  } as NftObject;
}

/** The fields of an object of this type; undefined if an attribute has none. */
function readContent(
  type: keyof typeof OBJECT_PARTS,
  content: AttributeCursor | undefined,
): Record<string, unknown> | undefined {
  const fields: Record<string, unknown> = {};
  while (content?.next()) {
    const attribute = content;
    const part = OBJECT_PARTS[type].find(({ attributes }) => attributes.includes(attribute.type));
    if (!part?.read(content, fields, NOTHING_NESTED)) return undefined;
  }
  return fields;
}

/** Reads the number of the ruleset's state. */
export function readGeneration(payload: Uint8Array, operation = 'nftables.generation'): Generation {
  const reply = new Reply(payload, operation);
  let id: number | undefined;
  let pid = 0;
  let program = '';
  for (const attribute = reply.attributes(); attribute.next(); ) {
    if (attribute.type === GENERATION.id) id = u32Of(attribute);
    else if (attribute.type === GENERATION.pid) pid = u32Of(attribute);
    else if (attribute.type === GENERATION.program) program = attribute.text();
  }
  if (id === undefined) throw reply.malformed('NFTA_GEN_ID', 'is missing');
  return { id, pid, program };
}

/** The comment; what else is in user data is kept as it is. */
function readComment(
  attribute: AttributeCursor,
  object: { comment?: string | undefined; userData?: Uint8Array | undefined },
): void {
  Object.assign(object, commentIn(attribute.bytes()));
}

/** The fields that have a value. */
function present<T extends object>(draft: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(draft)) if (value !== undefined) copy[name] = value;
  return copy as { [Name in keyof T]: Exclude<T[Name], undefined> };
}
