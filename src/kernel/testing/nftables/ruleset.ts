// The fake kernel of nftables: takes the messages of the client, keeps state, and answers as nfnetlink and nf_tables do. A transaction
// is carried out as a whole or not at all.
import { constants } from 'node:os';
import { NLM_F_DUMP } from '../../netlink/flags.js';
import {
  CHAIN,
  ELEMENTS,
  FLOW_TABLE,
  MESSAGE,
  NFGEN_HEADER,
  OBJECT,
  RULE,
  SET,
  SUBSYSTEM,
  TABLE,
} from '../../nftables/numbers.js';
import type { Refused } from '../../nftables/transaction/answer.js';
import { MESSAGE_HEADER, messagesIn } from '../../shared/wire/messages.js';
import { Attributes } from './attributes.js';
import { type Context, KernelRefusal, refuse, tableKey, tableOf } from './context.js';
import {
  chainMessage,
  elementsMessage,
  flowTableMessage,
  generationMessage,
  objectMessage,
  ruleMessage,
  setMessage,
  tableMessage,
} from './dump.js';
import { deleteElements, findElements, listedElements, newElements } from './elements.js';
import { deleteFlowTable, newFlowTable } from './flowTables.js';
import { deleteObject, newObject } from './objects.js';
import { deleteRule, newRule } from './rules.js';
import { deleteSet, newSet } from './sets.js';
import { Changes, type FakeSet, type FakeTable } from './state.js';
import { deleteChain, deleteTable, newChain, newTable } from './tables.js';

const { EINVAL, ENOENT, ERESTART } = { ...constants.errno, ERESTART: 85 };

/** `NFNL_MSG_BATCH_BEGIN`, `NFNL_MSG_BATCH_END`, and the attribute of the former. */
const BEGIN = 16;
const END = 17;
const GENERATION_ID = 1;

const CHANGES: ReadonlyMap<number, (context: Context) => void> = new Map([
  [MESSAGE.newTable, newTable],
  [MESSAGE.deleteTable, deleteTable],
  [MESSAGE.destroyTable, deleteTable],
  [MESSAGE.newChain, newChain],
  [MESSAGE.deleteChain, deleteChain],
  [MESSAGE.destroyChain, deleteChain],
  [MESSAGE.newRule, newRule],
  [MESSAGE.deleteRule, deleteRule],
  [MESSAGE.destroyRule, deleteRule],
  [MESSAGE.newSet, newSet],
  [MESSAGE.deleteSet, deleteSet],
  [MESSAGE.destroySet, deleteSet],
  [MESSAGE.newElements, newElements],
  [MESSAGE.deleteElements, deleteElements],
  [MESSAGE.destroyElements, deleteElements],
  [MESSAGE.newObject, newObject],
  [MESSAGE.deleteObject, deleteObject],
  [MESSAGE.destroyObject, deleteObject],
  [MESSAGE.newFlowTable, newFlowTable],
  [MESSAGE.deleteFlowTable, deleteFlowTable],
  [MESSAGE.destroyFlowTable, deleteFlowTable],
]);

interface Received {
  /** Without the subsystem. */
  readonly type: number;
  readonly flags: number;
  readonly family: number;
  readonly attributes: Attributes;
  /** Of the message in the bytes. */
  readonly start: number;
}

function* received(bytes: Uint8Array): Generator<Received, void> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (const { type, flags, start, end } of messagesIn(view, 'nftables')) {
    const attributes = new Attributes(bytes.subarray(0, end), start + NFGEN_HEADER);
    const own = type >> 8 === SUBSYSTEM ? type & 0xff : -type;
    yield { type: own, flags, family: bytes[start] as number, attributes, start: start - MESSAGE_HEADER };
  }
}

/** What is notified. */
export interface Watch {
  /** Whether it is listened to. */
  readonly isWatched: boolean;
  /** Called with the notifications of each transaction that changes something. */
  notify(messages: Uint8Array): void;
}

/** The ruleset of a network namespace. */
export class FakeRuleset {
  readonly #tables = new Map<string, FakeTable>();
  #tableHandles = 0n;
  /** Raised by each transaction that changes something. */
  generation = 1;
  readonly #now: () => number;
  readonly #watch: Watch;

  /** @param now the time by which timeouts pass, in ms */
  constructor(now: () => number, watch: Watch) {
    this.#now = now;
    this.#watch = watch;
  }

  /** Carries a transaction out. Returns the refused messages, or the error of the whole. */
  transact(bytes: Uint8Array): readonly Refused[] | number {
    const changes = new Changes();
    const refused: Refused[] = [];
    const events: Uint8Array[] = [];
    const handles = this.#tableHandles;
    const whole = {
      tables: this.#tables,
      changes,
      setIds: new Map<number, FakeSet>(),
      unbound: new Set<FakeSet>(),
      nextTable: () => ++this.#tableHandles,
      now: this.#now,
      notify: (event: () => Uint8Array) => {
        if (this.#watch.isWatched) events.push(event());
      },
    };
    let index = 0;
    for (const message of received(bytes)) {
      if (message.type === -BEGIN) {
        const expected = message.attributes.u32(GENERATION_ID);
        if (expected !== undefined && expected !== this.generation) return ERESTART;
      } else if (message.type !== -END) {
        const failure = this.#change(whole, message, bytes, index);
        if (failure) refused.push(failure);
      }
      index++;
    }
    const isUnbound = whole.unbound.size > 0;
    if (refused.length > 0 || isUnbound) {
      changes.undo();
      this.#tableHandles = handles;
      return refused.length > 0 ? refused : EINVAL;
    }
    if (changes.any) this.#commit(events);
    return [];
  }

  #change(
    whole: Omit<Context, 'family' | 'flags' | 'ifExists' | 'attributes'>,
    { type, flags, family, attributes, start }: Received,
    bytes: Uint8Array,
    index: number,
  ): Refused | undefined {
    const ifExists = type >= MESSAGE.destroyTable;
    try {
      const change = CHANGES.get(type) ?? refuse(EINVAL);
      change({ ...whole, family, flags, ifExists, attributes });
      return undefined;
    } catch (error) {
      if (!(error instanceof KernelRefusal)) throw error;
      const { errno, culprit } = error;
      const isWithin = culprit !== undefined && culprit.buffer === bytes.buffer;
      const offset = isWithin ? culprit.byteOffset - bytes.byteOffset - start - 4 : 0;
      return { index, errno, offset, text: '' };
    }
  }

  #commit(events: readonly Uint8Array[]): void {
    this.generation++;
    if (!this.#watch.isWatched) return;
    const last = generationMessage(this.generation, process.pid, process.title.slice(0, 15));
    this.#watch.notify(Buffer.concat([...events, last]));
  }

  /** The replies to a message that reads, or the number of the error. */
  query(bytes: Uint8Array): Uint8Array | number {
    try {
      const [request] = received(bytes);
      if (!request) return EINVAL;
      return Buffer.concat([...this.#replies(request)]);
    } catch (error) {
      if (error instanceof KernelRefusal) return error.errno;
      throw error;
    }
  }

  *#replies(request: Received): Generator<Uint8Array, void> {
    const { type, flags, family, attributes } = request;
    const named = flags & NLM_F_DUMP ? undefined : this.#named(request);
    if (named) return yield named;
    switch (type) {
      case MESSAGE.getGeneration:
        yield generationMessage(this.generation, process.pid, process.title.slice(0, 15));
        return;
      case MESSAGE.getTable:
        for (const table of this.#of(family)) yield tableMessage(MESSAGE.newTable, table);
        return;
      case MESSAGE.getChain:
        for (const { chains } of this.#of(family)) {
          for (const chain of chains.values()) yield chainMessage(MESSAGE.newChain, chain);
        }
        return;
      case MESSAGE.getRule:
        yield* this.#rules(family, attributes);
        return;
      case MESSAGE.getSet:
        for (const { sets } of this.#of(family, attributes, SET.table)) {
          for (const set of sets.values()) yield setMessage(MESSAGE.newSet, set);
        }
        return;
      case MESSAGE.getObject:
        for (const { objects } of this.#of(family, attributes, OBJECT.table)) {
          for (const object of objects.values()) yield objectMessage(MESSAGE.newObject, object);
        }
        return;
      case MESSAGE.getFlowTable:
        for (const { flowTables } of this.#of(family, attributes, FLOW_TABLE.table)) {
          for (const flowTable of flowTables.values())
            yield flowTableMessage(MESSAGE.newFlowTable, flowTable);
        }
        return;
      case MESSAGE.getElements:
        yield* this.#elements(family, attributes);
        return;
      default:
        refuse(EINVAL);
    }
  }

  /** The table, chain or set that a request names; undefined if it asks for something else. */
  #named({ type, family, attributes }: Received): Uint8Array | undefined {
    const tableOf = (attribute: number) => this.#of(family, attributes, attribute)[0] ?? refuse(EINVAL);
    switch (type) {
      case MESSAGE.getTable:
        return tableMessage(MESSAGE.newTable, tableOf(TABLE.name));
      case MESSAGE.getChain: {
        const { chains } = tableOf(CHAIN.table);
        return chainMessage(
          MESSAGE.newChain,
          chains.get(attributes.text(CHAIN.name) ?? refuse(EINVAL)) ?? refuse(ENOENT),
        );
      }
      case MESSAGE.getSet: {
        const { sets } = tableOf(SET.table);
        return setMessage(
          MESSAGE.newSet,
          sets.get(attributes.text(SET.name) ?? refuse(EINVAL)) ?? refuse(ENOENT),
        );
      }
      default:
        return undefined;
    }
  }

  *#rules(family: number, attributes: Attributes): Generator<Uint8Array, void> {
    const only = attributes.text(RULE.chain);
    const table = attributes.text(RULE.table);
    for (const { name, chains } of this.#of(family)) {
      if (table !== undefined && name !== table) continue;
      for (const chain of chains.values()) {
        if (only !== undefined && chain.name !== only) continue;
        for (const rule of chain.rules) yield ruleMessage(MESSAGE.newRule, rule);
      }
    }
  }

  *#elements(family: number, attributes: Attributes): Generator<Uint8Array, void> {
    const context = { tables: this.#tables, family, attributes, setIds: new Map(), now: this.#now };
    const now = this.#now();
    if (attributes.has(ELEMENTS.list)) {
      const { set, elements } = findElements(context);
      for (const element of elements) yield elementsMessage(MESSAGE.newElements, set, [element], now);
      return;
    }
    const table = tableOf(context, ELEMENTS.table);
    const set = table.sets.get(attributes.text(ELEMENTS.set) ?? '') ?? refuse(ENOENT);
    const elements = listedElements(set, now);
    for (let at = 0; at < elements.length; at += AT_ONCE) {
      yield elementsMessage(MESSAGE.newElements, set, elements.slice(at, at + AT_ONCE), now);
    }
  }

  /** The tables of a family, 0 for all; of the name that a message has, or ENOENT. */
  #of(family: number, attributes?: Attributes, type: number = TABLE.name): FakeTable[] {
    const name = attributes?.text(type);
    if (name !== undefined) return [this.#tables.get(tableKey(family, name)) ?? refuse(ENOENT)];
    return [...this.#tables.values()].filter((table) => family === 0 || table.family === family);
  }
}

/** Elements in one message: the list has at most 65535 bytes. */
const AT_ONCE = 64;
