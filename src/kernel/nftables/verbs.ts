// The verbs of nftables: those that send operations, and those that read.
import { argumentError, checkCallOptions } from '../shared/arguments.js';
import { attemptAt, checkBatch } from '../shared/batch.js';
import { unless } from '../shared/calls.js';
import type { Attempt } from '../shared/failures.js';
import { RecordListing } from '../shared/listing.js';
import { reportedBatch } from '../shared/reported.js';
import type { CallOptions, Listing, OperationResult } from '../shared/types.js';
import { Applier } from '../shared/verbs.js';
import { portOf } from '../shared/wire/messages.js';
import { ElementBytesReader } from './decode/elementBytes.js';
import { ElementReader } from './decode/elements.js';
import { readFlowTable } from './decode/flowTables.js';
import { readSet } from './decode/sets.js';
import { readChain, readObject, readRule, readTable } from './decode/tables.js';
import type { Messages } from './encode/messages.js';
import { encodeSetName } from './encode/sets.js';
import { encodeChainName, encodeTableName } from './encode/tables.js';
import { attemptToRead, described, NAMING } from './names.js';
import { MESSAGE, SET } from './numbers.js';
import { elementRequests, elementsIn, generationIn, type Read, readEach, requestByName } from './reading.js';
import * as requests from './requests.js';
import { checkTransactionOptions } from './transaction/options.js';
import { findInvalidOperation } from './transaction/write.js';
import type * as types from './types.js';

type Operation = types.NftablesOperation;

/** The verbs that a client of nftables and its fake have in common. */
export abstract class NftablesVerbs extends Applier<Operation> implements Partial<types.Nftables> {
  addTable(table: types.NewTable, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addTable', table }, options);
  }

  deleteTable(table: types.TableName, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteTable', table }, options);
  }

  flushTable(table: types.TableName, options?: CallOptions): Promise<void> {
    return this.send({ do: 'flushTable', table }, options);
  }

  addChain(chain: types.NewChain, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addChain', chain }, options);
  }

  deleteChain(chain: types.NameInTable, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteChain', chain }, options);
  }

  flushChain(chain: types.NameInTable, options?: CallOptions): Promise<void> {
    return this.send({ do: 'flushChain', chain }, options);
  }

  addRule(rule: types.NewRule, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addRule', rule }, options);
  }

  insertRule(rule: types.NewRule, options?: CallOptions): Promise<void> {
    return this.send({ do: 'insertRule', rule }, options);
  }

  replaceRule(rule: types.NewRule & types.RuleName, options?: CallOptions): Promise<void> {
    return this.send({ do: 'replaceRule', rule }, options);
  }

  deleteRule(rule: types.RuleName, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteRule', rule }, options);
  }

  addSet(set: types.NewSet, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addSet', set }, options);
  }

  deleteSet(set: types.NameInTable, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteSet', set }, options);
  }

  flushSet(set: types.NameInTable, options?: CallOptions): Promise<void> {
    return this.send({ do: 'flushSet', set }, options);
  }

  addElements(
    set: types.SetName,
    elements: readonly types.NewElement[] | types.ElementBytes,
    options?: CallOptions,
  ): Promise<void> {
    return this.send({ do: 'addElements', set, elements }, options);
  }

  deleteElements(
    set: types.SetName,
    elements: readonly types.ElementName[] | types.ElementKeyBytes,
    options?: CallOptions,
  ): Promise<void> {
    return this.send({ do: 'deleteElements', set, elements }, options);
  }

  addObject(object: types.NewObject, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addObject', object }, options);
  }

  deleteObject(object: types.ObjectName, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteObject', object }, options);
  }

  addFlowTable(flowTable: types.NewFlowTable, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addFlowTable', flowTable }, options);
  }

  deleteFlowTable(flowTable: types.FlowTableName, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteFlowTable', flowTable }, options);
  }

  /** See {@link types.Nftables.apply}. */
  async apply(
    operations: readonly Operation[],
    options: types.TransactionOptions = {},
  ): Promise<OperationResult[]> {
    checkBatch(operations, NAMING);
    checkTransactionOptions(options);
    return this.reported(operations.slice(), options);
  }

  listTables(filter: Pick<types.TableFilter, 'family'> = {}, options?: CallOptions): Listing<types.Table> {
    requests.checkFilter('nftables.listTables', filter, ['family']);
    const attempt = attemptToRead('listTables', described(filter.family));
    return this.listed(attempt, requests.tablesRequest(filter), each(readTable), options);
  }

  listChains(filter: types.TableFilter = {}, options?: CallOptions): Listing<types.Chain> {
    requests.checkFilter('nftables.listChains', filter);
    const { table } = filter;
    const read = each(readChain, (chain) => table === undefined || chain.table === table);
    return this.listed(attemptOf('listChains', filter), requests.chainsRequest(filter), read, options);
  }

  listRules(filter: types.RuleFilter = {}, options?: CallOptions): Listing<types.Rule> {
    requests.checkFilter('nftables.listRules', filter, ['family', 'table', 'chain']);
    return this.listed(
      attemptOf('listRules', filter),
      requests.rulesRequest(filter),
      each(readRule),
      options,
    );
  }

  listSets(filter: types.TableFilter = {}, options?: CallOptions): Listing<types.NftSet> {
    requests.checkFilter('nftables.listSets', filter);
    return this.listed(attemptOf('listSets', filter), requests.setsRequest(filter), each(readSet), options);
  }

  listObjects(filter: types.TableFilter = {}, options?: CallOptions): Listing<types.NftObject> {
    requests.checkFilter('nftables.listObjects', filter);
    const request = requests.objectsRequest(filter);
    return this.listed(attemptOf('listObjects', filter), request, each(readObject), options);
  }

  listFlowTables(filter: types.TableFilter = {}, options?: CallOptions): Listing<types.FlowTable> {
    requests.checkFilter('nftables.listFlowTables', filter);
    const request = requests.flowTablesRequest(filter);
    return this.listed(attemptOf('listFlowTables', filter), request, each(readFlowTable), options);
  }

  listElements(given: types.SetOfElements, options?: CallOptions): Listing<types.Element> {
    const set = requests.checkedSet('nftables.listElements', given);
    const attempt = attemptToRead('listElements', described('set', set.family, set.table, set.name));
    const reading = () => readerOf(set, attempt);
    // A set that does not exist has no elements to list, and is an error.
    return this.listed(attempt, requests.elementsRequest(set), reading, options, '');
  }

  listElementBytes(given: types.SetOfBytes, options?: CallOptions): Listing<types.ListedElementBytes> {
    const set = requests.checkedSetOfBytes('nftables.listElementBytes', given);
    const attempt = attemptToRead('listElementBytes', described('set', set.family, set.table, set.name));
    const reading = () => {
      const reader = new ElementBytesReader(set, attempt.operation);
      return (payload: Uint8Array) => {
        const elements = reader.read(payload);
        return elements ? [elements] : [];
      };
    };
    return this.listed(attempt, requests.elementsRequest(set), reading, options, '');
  }

  async getTable(table: types.TableName, options?: CallOptions): Promise<types.Table | undefined> {
    const attempt = attemptToRead('getTable', described('table', table?.family, table?.name));
    const encode = (messages: Messages) => encodeTableName(messages, MESSAGE.getTable, table);
    return this.named(attempt, encode, readTable, options);
  }

  async getChain(chain: types.NameInTable, options?: CallOptions): Promise<types.Chain | undefined> {
    const attempt = attemptToRead('getChain', described('chain', chain?.family, chain?.table, chain?.name));
    const encode = (messages: Messages) => encodeChainName(messages, MESSAGE.getChain, chain);
    return this.named(attempt, encode, readChain, options);
  }

  async getSet(set: types.NameInTable, options?: CallOptions): Promise<types.NftSet | undefined> {
    const attempt = attemptToRead('getSet', described('set', set?.family, set?.table, set?.name));
    const encode = (messages: Messages) => encodeSetName(messages, MESSAGE.getSet, set, SET);
    return this.named(attempt, encode, readSet, options);
  }

  /** One thing by its name, which `encode` writes; undefined if there is none. */
  protected async named<T>(
    attempt: Attempt,
    encode: (messages: Messages) => void,
    decode: (payload: Uint8Array) => T,
    options?: CallOptions,
  ): Promise<T | undefined> {
    const request = requestByName(attempt.operation, encode);
    const replies = await unless('ENOENT', this.ask(attempt, request, options));
    return replies && [...readEach(replies, each(decode)())].find((found) => found !== undefined);
  }

  async getElements(
    set: types.SetName,
    elements: readonly types.ElementName[],
    options?: CallOptions,
  ): Promise<types.Element[]> {
    const asked = elementRequests(set, elements);
    const attempt = attemptToRead('getElements', described('set', set.family, set.table, set.name));
    const found: types.Element[] = [];
    for (const request of asked) {
      const replies = await unless('ENOENT', this.ask(attempt, request, options));
      if (replies) found.push(...elementsIn(replies, readerOf(set, attempt)));
    }
    return found;
  }

  async generation(options?: CallOptions): Promise<types.Generation> {
    return generationIn(await this.ask(attemptToRead('generation'), requests.generationRequest(), options));
  }

  async port(options?: CallOptions): Promise<number> {
    const attempt = attemptToRead('port');
    return portOf(await this.ask(attempt, requests.generationRequest(), options), attempt.operation);
  }

  /** A listing. `absent` is the code of an error that means that there are none: a table does not exist. */
  protected listed<T>(
    attempt: Attempt,
    request: Uint8Array,
    reading: () => Read<T>,
    options?: CallOptions,
    absent = 'ENOENT',
  ): Listing<T> {
    checkCallOptions(attempt.operation, options);
    const start = async () => {
      const replies = await unless(absent, this.ask(attempt, request, options));
      return replies ? readEach(replies, reading()) : [];
    };
    return new RecordListing(start, options?.signal);
  }

  /** A transaction of one operation. Rejects with its error. */
  protected async send(operation: Operation, options?: CallOptions): Promise<void> {
    const { operation: name } = attemptAt(operation, NAMING);
    checkCallOptions(name, options);
    const invalid = findInvalidOperation(operation);
    if (invalid) throw argumentError(name, invalid);
    const [error] = await this.reported([operation], options ?? {});
    if (error) throw error;
  }

  protected reported(
    operations: readonly Operation[],
    options: types.TransactionOptions,
  ): Promise<OperationResult[]> {
    const batch = { operations: () => operations, names: () => operations.map(NAMING.nameOf) };
    return reportedBatch(this, batch, () => this.transact(operations, options));
  }

  /** Carries a transaction out: one result for each operation. */
  protected abstract transact(
    operations: readonly Operation[],
    options: types.TransactionOptions,
  ): Promise<OperationResult[]>;

  /** The replies to a request. */
  protected abstract ask(attempt: Attempt, request: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
}

/** Reads one value of each message, those that are meant. */
function each<T>(
  decode: (payload: Uint8Array) => T,
  isMeant: (value: T) => boolean = () => true,
): () => Read<T> {
  return () => (payload) => [decode(payload)].filter(isMeant);
}

function readerOf(set: types.SetOfElements, { operation }: Attempt): Read<types.Element> {
  const reader = new ElementReader(set, operation);
  return (payload) => reader.read(payload);
}

function attemptOf(verb: string, { family, table, chain }: types.RuleFilter): Attempt {
  return attemptToRead(verb, described(family, table, chain));
}
