// Objects of the fake kernel: nf_tables_newobj(), nf_tables_delobj().
import { constants } from 'node:os';
import { MESSAGE, NLM_F, OBJECT } from '../../nftables/numbers.js';
import { type Context, nameIn, nextHandle, refuse, tableKey, tableOf } from './context.js';
import { objectMessage } from './dump.js';
import { type FakeObject, objectKey } from './state.js';
import { OBJECT_STATES, stateOf } from './stateful.js';

const { EBUSY, EEXIST, EINVAL, ENOENT } = constants.errno;

/** Adds an object; one that exists stays as it is. */
export function newObject(context: Context): void {
  const { changes, flags, attributes, notify } = context;
  const table = tableOf(context, OBJECT.table);
  const name = nameIn(attributes, OBJECT.name);
  const type = attributes.u32(OBJECT.type) ?? refuse(EINVAL);
  const key = objectKey(type, name);
  if (table.objects.has(key)) {
    if (flags & NLM_F.exclusive) refuse(EEXIST, attributes.bytes(OBJECT.name));
    return;
  }
  const object: FakeObject = {
    table,
    name,
    type,
    handle: nextHandle(context, table),
    data: dataOf(type, attributes),
    userData: attributes.copy(OBJECT.userData),
    uses: 0,
  };
  changes.add(table.objects, key, object);
  notify(() => objectMessage(MESSAGE.newObject, object));
}

/** What is listed of the content: that of most types as it was written. */
function dataOf(type: number, attributes: Context['attributes']): Uint8Array | undefined {
  const states = OBJECT_STATES.get(type);
  return states ? stateOf(states, attributes.bytes(OBJECT.data)) : attributes.copy(OBJECT.data);
}

/** Deletes an object, unless rules refer to it. */
export function deleteObject(context: Context): void {
  const { tables, family, ifExists, attributes } = context;
  const key = objectKey(attributes.u32(OBJECT.type) ?? 0, nameIn(attributes, OBJECT.name));
  const found = tables.get(tableKey(family, nameIn(attributes, OBJECT.table)));
  if (ifExists && !found?.objects.has(key)) return;
  const object = tableOf(context, OBJECT.table).objects.get(key);
  if (!object) refuse(ENOENT, attributes.bytes(OBJECT.name));
  if (object.uses > 0) refuse(EBUSY, attributes.bytes(OBJECT.name));
  deleteObjectOf(context, object);
}

/** Deletes an object that nothing refers to. */
export function deleteObjectOf({ changes, notify }: Context, object: FakeObject): void {
  changes.deleteInOrder(object.table.objects, objectKey(object.type, object.name));
  notify(() => objectMessage(MESSAGE.deleteObject, object));
}
