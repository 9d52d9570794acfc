// Sets of the fake kernel: nf_tables_newset(), nf_tables_delset().
import { constants } from 'node:os';
import { DERIVED_SET_FLAGS, DESCRIPTION, MESSAGE, NLM_F, SET } from '../../nftables/numbers.js';
import type { Attributes } from './attributes.js';
import { type Context, nameIn, nextHandle, refuse, tableKey, tableOf } from './context.js';
import { setMessage } from './dump.js';
import { deleteElement } from './elements.js';
import { type FakeSet, type FakeTable, isAnonymous } from './state.js';

const { EBUSY, EEXIST, EINVAL, ENOENT, EOPNOTSUPP } = constants.errno;

/** Adds a set, or gives it another timeout. */
export function newSet(context: Context): void {
  const { changes, flags, attributes, setIds, unbound, notify } = context;
  const table = tableOf(context, SET.table);
  const given = givenSet(attributes);
  const id = attributes.u32(SET.id);
  const written = nameIn(attributes, SET.name);
  const found = table.sets.get(written);
  if (found) {
    if (flags & NLM_F.exclusive || !isSame(found, given)) refuse(EEXIST, attributes.bytes(SET.name));
    if (isAnonymous(found)) refuse(EOPNOTSUPP);
    changes.set(found, 'timeout', given.timeout);
    if (id !== undefined) setIds.set(id, found);
    notify(() => setMessage(MESSAGE.newSet, found));
    return;
  }
  const name = freeName(table, written);
  const set: FakeSet = {
    ...given,
    table,
    name,
    handle: nextHandle(context, table),
    bindings: 0,
    elements: new Map(),
  };
  changes.add(table.sets, name, set);
  if (id !== undefined) setIds.set(id, set);
  if (isAnonymous(set)) unbound.add(set);
  notify(() => setMessage(MESSAGE.newSet, set));
}

/** Attributes that the fake kernel only lists again. */
const KEPT = [SET.policy, SET.gcInterval, SET.objectType, SET.expression, SET.expressions];

type Given = Omit<FakeSet, 'table' | 'name' | 'handle' | 'bindings' | 'elements'>;

function givenSet(attributes: Attributes): Given {
  const description = attributes.nested(SET.description);
  const flags = attributes.u32(SET.flags) ?? 0;
  const isMap = (flags & DERIVED_SET_FLAGS.map) !== 0;
  const dataType = attributes.u32(SET.dataType);
  if (isMap !== (dataType !== undefined)) refuse(EINVAL);
  return {
    flags,
    keyType: attributes.u32(SET.keyType) ?? 0,
    keyLength: attributes.u32(SET.keyLength) ?? refuse(EINVAL),
    dataType,
    dataLength: attributes.u32(SET.dataLength),
    fields: description?.copy(DESCRIPTION.concatenation),
    size: description?.u32(DESCRIPTION.size),
    userData: attributes.copy(SET.userData),
    kept: new Map(
      KEPT.flatMap((type) => {
        const value = attributes.copy(type);
        return value ? [[type, value] as const] : [];
      }),
    ),
    timeout: attributes.u64(SET.timeout),
  };
}

/** What nft_set_is_same() compares. */
function isSame(a: Given, b: Given): boolean {
  const isEqual = (field: 'flags' | 'keyType' | 'keyLength' | 'dataType' | 'dataLength') =>
    a[field] === b[field];
  const sizes = a.size === b.size || b.size === undefined;
  return (
    isEqual('flags') &&
    isEqual('keyType') &&
    isEqual('keyLength') &&
    isEqual('dataType') &&
    isEqual('dataLength') &&
    sizes
  );
}

/** The name with the least number in place of `%d` that no other set has. */
function freeName({ sets }: FakeTable, name: string): string {
  if (!name.includes('%d')) return name;
  for (let number = 0; ; number++) {
    const candidate = name.replace('%d', String(number));
    if (!sets.has(candidate)) return candidate;
  }
}

/** Deletes a set, unless rules refer to it. */
export function deleteSet(context: Context): void {
  const { tables, family, ifExists, attributes } = context;
  const name = nameIn(attributes, SET.name);
  const found = tables.get(tableKey(family, nameIn(attributes, SET.table)));
  if (ifExists && !found?.sets.has(name)) return;
  const set = tableOf(context, SET.table).sets.get(name);
  if (!set) refuse(ENOENT, attributes.bytes(SET.name));
  if (set.bindings > 0) refuse(EBUSY, attributes.bytes(SET.name));
  removeSet(context, set);
}

/** Removes a set with its elements. */
export function removeSet(context: Context, set: FakeSet): void {
  const { changes, unbound, notify } = context;
  for (const element of [...set.elements.values()]) deleteElement(context, set, element, false);
  changes.deleteInOrder(set.table.sets, set.name);
  unbound.delete(set);
  notify(() => setMessage(MESSAGE.deleteSet, set));
}
