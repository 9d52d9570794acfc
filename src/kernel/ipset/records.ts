// Operations of ipset → the records that cross to the addon.
import type { InvalidValue } from '../shared/arguments.js';
import { onlyRecord, RecordWriter } from '../shared/records/recordWriter.js';
import { ATTR } from './attributes.js';
import { writeEntry } from './entryRecord.js';
import { OPERATION, SET_TYPE, VERB } from './layouts.js';
import { PARAMETERS, writeParameters } from './parameters.js';
import { refuse, SHAPES, type Shape } from './shapes.js';
import {
  DESTROY_ALL_CONFIRMATION,
  FLUSH_ALL_CONFIRMATION,
  type IpsetOperation,
  type SetDefinition,
  type SetEntry,
  type SetReference,
} from './types.js';

const SET_FIELDS: ReadonlySet<string> = new Set(['name', 'type', ...PARAMETERS]);
// A set that was listed, or is about to be created, names itself.
const REFERENCE_FIELDS: ReadonlySet<string> = new Set([
  ...SET_FIELDS,
  ...['revision', 'references', 'elements', 'memorySize', 'extended', 'attributes'],
]);
const OPERATION_FIELDS: Readonly<Record<IpsetOperation['do'], ReadonlySet<string>>> = {
  create: new Set(['do', 'set', 'strict']),
  add: new Set(['do', 'set', 'entry', 'strict']),
  delete: new Set(['do', 'set', 'entry', 'strict']),
  flush: new Set(['do', 'name']),
  destroy: new Set(['do', 'name']),
  flushAll: new Set(['do', 'confirm']),
  destroyAll: new Set(['do', 'confirm']),
  swap: new Set(['do', 'name', 'other']),
  rename: new Set(['do', 'name', 'newName']),
};
const OTHER_NAME = { offset: 0, width: OPERATION.name.width };

/** Writes an operation record, and the attributes behind it. */
export function writeOperation(operation: IpsetOperation, writer: RecordWriter): void {
  const verb = writer.choice('do', operation?.do, VERB.numbers);
  if (verb === 0) return;
  writer.u8(OPERATION.verb, verb);
  writer.onlyFields('', operation, OPERATION_FIELDS[operation.do], `the operation ${operation.do}`);
  switch (operation.do) {
    case 'create':
      writeStrictness(operation.strict, writer);
      if (writeReference(operation.set, SET_FIELDS, writer)) writeParameters(operation.set, writer);
      break;
    case 'add':
    case 'delete': {
      writeStrictness(operation.strict, writer);
      const shape = writeReference(operation.set, REFERENCE_FIELDS, writer);
      if (shape) writeEntry(operation.do, operation.set, shape, operation.entry, writer);
      break;
    }
    case 'flush':
    case 'destroy':
      writer.text('name', operation.name, OPERATION.name);
      break;
    case 'swap':
      writer.text('name', operation.name, OPERATION.name);
      writeOther('other', operation.other, writer);
      break;
    case 'rename':
      writer.text('name', operation.name, OPERATION.name);
      writeOther('newName', operation.newName, writer);
      break;
    case 'flushAll':
      writer.confirmation(operation.confirm, FLUSH_ALL_CONFIRMATION);
      break;
    case 'destroyAll':
      writer.confirmation(operation.confirm, DESTROY_ALL_CONFIRMATION);
  }
  if (writer.attributes > 0) writer.u8(OPERATION.attributes, writer.attributes / 4);
}

/** The record of a test. Throws the error of an invalid argument. */
export function testRecord(set: SetReference, entry: SetEntry): Uint8Array {
  const writer = new RecordWriter(OPERATION.SIZE, 1);
  const shape = writeReference(set, REFERENCE_FIELDS, writer);
  if (shape) writeEntry('test', set, shape, entry, writer);
  writer.u8(OPERATION.attributes, writer.attributes / 4);
  return onlyRecord(writer, 'ipset.test');
}

/** The rule that the set of an entry breaks, or one that was listed. */
export function findInvalidReference(set: SetReference): InvalidValue | undefined {
  const writer = new RecordWriter(OPERATION.SIZE, 1); // not sent
  writeReference(set, REFERENCE_FIELDS, writer);
  return writer.finish();
}

/** Throws the error of a call whose name of a set is invalid. */
export function checkName(name: string, operation: string): void {
  const writer = new RecordWriter(OPERATION.SIZE, 1); // not sent: the addon takes a string
  writer.text('name', name, OPERATION.name);
  onlyRecord(writer, operation);
}

function writeStrictness(strict: unknown, writer: RecordWriter): void {
  if (strict === undefined || strict === false) return;
  if (strict === true) writer.u8(OPERATION.strict, 1);
  else writer.fail('strict', strict, 'must be true or false', true);
}

function writeOther(path: string, name: string, writer: RecordWriter): void {
  writer.text(path, name, OTHER_NAME, writer.attribute(ATTR.setName2, OTHER_NAME.width));
}

/** Writes name, type and family of a set. Returns the rules of its type, or undefined when there is no such type. */
function writeReference(
  set: SetReference | SetDefinition,
  known: ReadonlySet<string>,
  writer: RecordWriter,
): Shape | undefined {
  if (!writer.object('set', set ?? {}, known, 'a set')) return undefined;
  writer.text('set.name', set?.name, OPERATION.name);
  const type = writer.choice('set.type', set?.type, SET_TYPE.numbers);
  if (type === 0) return undefined;
  writer.u8(OPERATION.type, type);
  const shape = SHAPES[set.type];
  const { families } = shape;
  const [only] = families;
  if (families.length === 2) {
    if (set.family === 4 || set.family === 6) writer.u8(OPERATION.family, set.family);
    else {
      writer.fail('set.family', set.family, 'must be 4 or 6');
      return undefined;
    }
  } else if (only === undefined) {
    if (set.family !== undefined) {
      refuse(writer, 'set.family', set.family, set.type);
      return undefined;
    }
  } else {
    writer.u8(OPERATION.family, only);
    if (set.family !== undefined && set.family !== only) {
      writer.fail('set.family', set.family, `must be ${only}, or left out, for ${set.type}`);
      return undefined;
    }
  }
  return shape;
}
