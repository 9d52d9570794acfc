// Operations of transactions as messages of nf_tables.
import type { InvalidValue } from '../../shared/arguments.js';
import type { ByteWriter } from '../../shared/wire/byteWriter.js';
import { ELEMENTS, MESSAGE, NLM_F, RULE, SET } from '../numbers.js';
import type { NftablesOperation } from '../types.js';
import { encodeElements } from './elements.js';
import { encodeFlowTable, encodeFlowTableName } from './flowTables.js';
import { Messages } from './messages.js';
import { encodeObject, encodeObjectName } from './objects.js';
import { encodeDeleteRule, encodeReplaceRule, encodeRule } from './rules.js';
import { encodeSet, encodeSetName } from './sets.js';
import { encodeChain, encodeChainName, encodeFlushChain, encodeTable, encodeTableName } from './tables.js';

/** Flags of a message that adds. */
function addition(messages: Messages, exclusive: unknown): number {
  return messages.isTrue('exclusive', exclusive) ? NLM_F.create | NLM_F.exclusive : NLM_F.create;
}

/** Types of messages that delete: the one that refuses a missing object, and the one that accepts it. */
interface DeletionTypes {
  readonly strict: number;
  readonly lenient: number;
}

function deletion(messages: Messages, ifExists: unknown, { strict, lenient }: DeletionTypes): number {
  return messages.isTrue('ifExists', ifExists) ? lenient : strict;
}

const DELETE = {
  table: { strict: MESSAGE.deleteTable, lenient: MESSAGE.destroyTable },
  chain: { strict: MESSAGE.deleteChain, lenient: MESSAGE.destroyChain },
  rule: { strict: MESSAGE.deleteRule, lenient: MESSAGE.destroyRule },
  set: { strict: MESSAGE.deleteSet, lenient: MESSAGE.destroySet },
  elements: { strict: MESSAGE.deleteElements, lenient: MESSAGE.destroyElements },
  object: { strict: MESSAGE.deleteObject, lenient: MESSAGE.destroyObject },
  flowTable: { strict: MESSAGE.deleteFlowTable, lenient: MESSAGE.destroyFlowTable },
} as const;

type Verb = NftablesOperation['do'];
type Encode<Operation> = (messages: Messages, operation: Operation) => void;

const ENCODERS: { readonly [Name in Verb]: Encode<Extract<NftablesOperation, { readonly do: Name }>> } = {
  addTable(messages, { table, exclusive }) {
    encodeTable(messages, addition(messages, exclusive), table);
  },
  deleteTable(messages, { table, ifExists }) {
    encodeTableName(messages, deletion(messages, ifExists, DELETE.table), table);
  },
  flushTable(messages, { table }) {
    encodeTableName(messages, MESSAGE.deleteRule, table, RULE.table);
  },
  addChain(messages, { chain, exclusive }) {
    encodeChain(messages, addition(messages, exclusive), chain);
  },
  deleteChain(messages, { chain, ifExists }) {
    encodeChainName(messages, deletion(messages, ifExists, DELETE.chain), chain);
  },
  flushChain(messages, { chain }) {
    encodeFlushChain(messages, chain);
  },
  addRule(messages, { rule, after }) {
    const place = after === undefined ? undefined : ({ field: 'after', handle: after } as const);
    encodeRule(messages, NLM_F.create | NLM_F.append, rule, place);
  },
  insertRule(messages, { rule, before }) {
    const place = before === undefined ? undefined : ({ field: 'before', handle: before } as const);
    encodeRule(messages, NLM_F.create, rule, place);
  },
  replaceRule(messages, { rule }) {
    encodeReplaceRule(messages, rule);
  },
  deleteRule(messages, { rule, ifExists }) {
    encodeDeleteRule(messages, deletion(messages, ifExists, DELETE.rule), rule);
  },
  addSet(messages, { set, exclusive }) {
    encodeSet(messages, addition(messages, exclusive), set);
  },
  deleteSet(messages, { set, ifExists }) {
    encodeSetName(messages, deletion(messages, ifExists, DELETE.set), set, SET);
  },
  addElements(messages, { set, elements, exclusive }) {
    const flags = addition(messages, exclusive);
    encodeElements(messages, { type: MESSAGE.newElements, flags, isName: false }, set, elements);
  },
  deleteElements(messages, { set, elements, ifExists }) {
    const type = deletion(messages, ifExists, DELETE.elements);
    encodeElements(messages, { type, flags: 0, isName: true }, set, elements);
  },
  flushSet(messages, { set }) {
    encodeSetName(messages, MESSAGE.deleteElements, set, { table: ELEMENTS.table, name: ELEMENTS.set });
  },
  addObject(messages, { object, exclusive }) {
    encodeObject(messages, addition(messages, exclusive), object);
  },
  deleteObject(messages, { object, ifExists }) {
    encodeObjectName(messages, deletion(messages, ifExists, DELETE.object), object);
  },
  addFlowTable(messages, { flowTable, exclusive }) {
    encodeFlowTable(messages, addition(messages, exclusive), flowTable);
  },
  deleteFlowTable(messages, { flowTable, ifExists }) {
    encodeFlowTableName(messages, deletion(messages, ifExists, DELETE.flowTable), flowTable);
  },
};
const VERB_RULE = `must be one of ${Object.keys(ENCODERS).join(', ')}`;

/** The fields of each operation beside `do`. */
const FIELDS: Readonly<Record<Verb, readonly string[]>> = {
  addTable: ['table', 'exclusive'],
  deleteTable: ['table', 'ifExists'],
  flushTable: ['table'],
  addChain: ['chain', 'exclusive'],
  deleteChain: ['chain', 'ifExists'],
  flushChain: ['chain'],
  addRule: ['rule', 'after'],
  insertRule: ['rule', 'before'],
  replaceRule: ['rule'],
  deleteRule: ['rule', 'ifExists'],
  addSet: ['set', 'exclusive'],
  deleteSet: ['set', 'ifExists'],
  addElements: ['set', 'elements', 'exclusive'],
  deleteElements: ['set', 'elements', 'ifExists'],
  flushSet: ['set'],
  addObject: ['object', 'exclusive'],
  deleteObject: ['object', 'ifExists'],
  addFlowTable: ['flowTable', 'exclusive'],
  deleteFlowTable: ['flowTable', 'ifExists'],
};
const KNOWN: ReadonlyMap<unknown, ReadonlySet<string>> = new Map(
  Object.entries(FIELDS).map(([verb, fields]) => [verb, new Set(['do', ...fields])]),
);

/**
 * Writes operations as messages, one behind another, into a writer that the transactions share. A message has its header with
 * NLM_F_REQUEST; its sequence number and its port are 0. The messages that begin and end the transaction are not written here.
 */
export class OperationEncoder {
  readonly #messages: Messages;

  constructor(writer: ByteWriter) {
    this.#messages = new Messages(writer);
  }

  /** Begins a transaction. */
  begin(): void {
    this.#messages.transaction();
  }

  /** The number of messages of the last operation: 0 if it was invalid, or has an empty list of elements. */
  get messages(): number {
    return this.#messages.count;
  }

  /** Writes an operation. If it is invalid, returns the rule that it breaks, and writes nothing. */
  write(operation: NftablesOperation): InvalidValue | undefined {
    const messages = this.#messages;
    const { length } = messages.bytes;
    messages.operation();
    const { check } = messages;
    if (check.isObject('operation', operation)) {
      const known = KNOWN.get(operation.do);
      if (known) {
        check.onlyFields('', operation, known, `the operation ${operation.do}`);
        (ENCODERS[operation.do] as Encode<NftablesOperation>)(messages, operation);
      } else check.fail('do', operation.do, VERB_RULE, typeof operation.do !== 'string');
    }
    if (check.invalid) {
      messages.bytes.truncate(length);
      messages.count = 0;
    }
    return check.invalid;
  }
}
