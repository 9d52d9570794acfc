// Connection tracking in memory. It refuses the same arguments as the real one, and has the kernel's rules.
import { constants } from 'node:os';
import type { NetlinkError } from '../../errors.js';
import { familyOf } from '../../net/address.js';
import { attemptOn, nameFlow, nameSelections } from '../conntrack/names.js';
import { packName } from '../conntrack/operations.js';
import { PACKING } from '../conntrack/packing.js';
import { packFilter, packListing, packWatch, readGetOptions } from '../conntrack/selections.js';
import {
  type Conntrack,
  type ConntrackCapabilities,
  type ConntrackStatistics,
  type Expectation,
  FLUSH_CONFIRMATION,
  type Flow,
  type FlowChange,
  type FlowChanges,
  type FlowDeletion,
  type FlowEvent,
  type FlowEventKind,
  type FlowFilter,
  type FlowId,
  type FlowOperation,
  type FlowSelection,
  type FlowWatchOptions,
  type FlushOptions,
  type GetOptions,
  type ListOptions,
  type NewFlow,
} from '../conntrack/types.js';
import { checkArray, checkOptions } from '../shared/arguments.js';
import { checkConfirmation } from '../shared/confirmation.js';
import { toNetlinkError } from '../shared/failures.js';
import { changed, reported } from '../shared/reported.js';
import type { CallOptions, EventStream, Listing, OperationResult } from '../shared/types.js';
import { FakeClient } from './client.js';
import { FakeEvents } from './events.js';
import { begun, changedFlow, hasName, haveOneTuple, listedTuple, selects, statusOf } from './flowRules.js';
import { lineOf } from './flowText.js';

const { EBUSY, EEXIST, ENOENT, EOPNOTSUPP } = constants.errno;
/** `nf_conntrack_max` of a machine with much memory. */
const MAX_ENTRIES = 262_144;
const NO_COUNTERS = { packets: 0n, bytes: 0n };

/** The fields of a tracked flow that a test must give. */
export type TrackedFlow = Pick<Flow, 'protocol' | 'original' | 'reply'> & Partial<Flow>;

/** A fake of conntrack. */
export class FakeConntrack extends FakeClient<FlowChange> implements Conntrack {
  /** Listings so far: each is a walk over the whole table in reality. */
  listings = 0;
  /** What capabilities() returns. A test may change it. */
  offers: ConntrackCapabilities = {
    accounting: false,
    timestamps: false,
    events: true,
    zones: true,
    deleteByFilter: false,
  };
  /** Notifications, for every watch(). A test may lose some. */
  readonly events = new FakeEvents<FlowEvent>();
  /** What expectations() lists: a helper adds them in reality. */
  readonly expected: Expectation[] = [];
  readonly #flows = new Map<number, Flow>();
  #lastId = 0;

  /** Adds a flow, as packets do. The fields left out have the values of a new flow in the default zone. */
  track(flow: TrackedFlow): Flow {
    const tracked: Flow = {
      family: familyOf(flow.original.source),
      zone: 0,
      replyZone: flow.zone ?? 0,
      id: ++this.#lastId,
      status: ['CONFIRMED'],
      mark: 0,
      timeout: 30,
      use: 1,
      ...flow,
    };
    this.#set('new', tracked);
    return tracked;
  }

  list(selection?: FlowSelection | readonly FlowSelection[], options: ListOptions = {}): Listing<Flow> {
    checkOptions('conntrack.list', options);
    const selections = selection === undefined ? undefined : [selection].flat();
    const { table = 'conntrack', zeroCounters = false, signal } = options;
    const act = () => {
      packListing(selections, options);
      this.listings++;
      if (table !== 'conntrack') return [];
      const found = [...this.#flows.values()].filter(
        (flow) => !selections || selections.some((each) => selects(each, flow)),
      );
      if (zeroCounters) for (const flow of found) this.#zero(flow);
      return found;
    };
    return this.listing(attemptOn('list', nameSelections(selections ?? [])), act, { signal });
  }

  async get(flow: FlowId, options: GetOptions = {}): Promise<Flow | undefined> {
    packName(flow, 'conntrack.get');
    const { zeroCounters, call } = readGetOptions(options);
    const act = () => {
      const found = this.#find(flow);
      if (found && zeroCounters) this.#zero(found);
      return found;
    };
    return this.read(attemptOn('get', nameFlow(flow)), act, call);
  }

  add(flow: NewFlow, options?: CallOptions): Promise<void> {
    return this.applyOne<FlowOperation>({ do: 'addFlow', flow }, PACKING, (each) => this.#act(each), options);
  }

  update(flow: FlowId, changes: FlowChanges, options?: CallOptions): Promise<void> {
    const operation = { do: 'updateFlow', flow, changes } as const;
    return this.applyOne<FlowOperation>(operation, PACKING, (each) => this.#act(each), options);
  }

  /** Deleting each flow may fail on its own: fault() is called for the listing, and for each flow that was found. */
  async delete(filter: FlowFilter, options?: CallOptions): Promise<FlowDeletion> {
    packFilter(filter);
    let found: FlowOperation[] = [];
    let failures: NetlinkError[] = [];
    const change = { do: 'delete', filter } as const;
    await reported<FlowChange, OperationResult>(
      this,
      [change],
      () => 'delete',
      async () => {
        const select = () => [...this.#flows.values()].filter((flow) => selects(filter, flow));
        const attempt = attemptOn('delete', nameSelections([filter]));
        const flows = await this.change(attempt, select, options);
        found = flows.map((flow) => ({ do: 'deleteFlow', flow }));
        const packing = {
          ...PACKING,
          attempt: ({ flow }: FlowOperation) => attemptOn('delete', nameFlow(flow)),
        };
        const results = await this.results(found, packing, (operation) => this.#act(operation));
        failures = results.filter((result) => result !== undefined);
        return [failures[0]];
      },
    );
    return { deleted: found.length - failures.length, failures };
  }

  async deleteFlows(flows: readonly FlowId[], options?: CallOptions): Promise<OperationResult[]> {
    checkArray('conntrack.deleteFlows', 'flows', flows);
    const operations = Array.from(flows, (flow) => ({ do: 'deleteFlow', flow }) as const);
    return this.apply(operations, options);
  }

  apply(operations: readonly FlowOperation[], options?: CallOptions): Promise<OperationResult[]> {
    return this.applyAll(operations, PACKING, (operation) => this.#act(operation), options);
  }

  async flush(options: FlushOptions): Promise<void> {
    checkConfirmation('conntrack.flush', FLUSH_CONFIRMATION, options);
    const { signal } = options;
    await changed<FlowChange>(this, { do: 'flush' }, () =>
      this.change(attemptOn('flush'), () => this.#removeAll(), { signal }),
    );
  }

  watch(options: FlowWatchOptions = {}): EventStream<FlowEvent> {
    packWatch(options);
    const { kinds, selection, ...watching } = options;
    const stream = this.events.stream('conntrack.watch', watching, this.closed);
    const selections = selection && [selection].flat();
    const isReported = ({ kind, flow }: FlowEvent) =>
      (kinds?.includes(kind) ?? true) && (selections?.some((each) => selects(each, flow)) ?? true);
    return filtered(stream, isReported, () => this.#checkEvents());
  }

  #checkEvents(): void {
    if (this.offers.events) return;
    const kernelMessage = 'net.netfilter.nf_conntrack_events is 0: new flows have no events';
    throw toNetlinkError(
      { errno: EOPNOTSUPP, code: '', message: kernelMessage },
      { operation: 'conntrack.watch' },
    );
  }

  statistics(options?: CallOptions): Promise<ConntrackStatistics> {
    const act = () => ({ entries: this.#flows.size, maxEntries: MAX_ENTRIES, cpus: [{ ...NO_EVENTS }] });
    return this.read(attemptOn('statistics'), act, options);
  }

  expectations(options?: CallOptions): Listing<Expectation> {
    return this.listing(attemptOn('expectations'), () => [...this.expected], options);
  }

  capabilities(options?: CallOptions): Promise<ConntrackCapabilities> {
    return this.read(attemptOn('capabilities'), () => ({ ...this.offers }), options);
  }

  /** The output of `conntrack -L`, sorted, without ids and the values that change by themselves. */
  dump(): string {
    return [...this.#flows.values()]
      .map((flow) => `${lineOf(flow).replace(/ id=\d+$/, '')}\n`)
      .sort()
      .join('');
  }

  #act(operation: FlowOperation): number | undefined {
    if (operation.do === 'addFlow') return this.#add(operation.flow);
    const flow = this.#find(operation.flow);
    if (operation.do === 'deleteFlow') {
      if (flow) this.#remove(flow);
      return undefined;
    }
    if (!flow) return ENOENT;
    const { changes } = operation;
    if (flow.helper !== undefined && changes.helper !== undefined && flow.helper !== changes.helper)
      return EBUSY;
    this.#set('update', changedFlow(flow, changes));
    return undefined;
  }

  #add(flow: NewFlow): number | undefined {
    if (flow.master && !this.#find(flow.master)) return ENOENT;
    const added = begun(flow, this.#lastId + 1);
    if ([...this.#flows.values()].some((other) => haveOneTuple(other, added))) return EEXIST;
    this.#lastId = added.id;
    this.#set('new', this.offers.accounting ? { ...added, counters: zeroed() } : added);
    return undefined;
  }

  #find(name: FlowId): Flow | undefined {
    const listed = { ...name, original: listedTuple(name.original) };
    return [...this.#flows.values()].find((flow) => hasName(flow, listed));
  }

  #set(kind: 'new' | 'update', flow: Flow): void {
    this.#flows.set(flow.id, flow);
    this.#notify(kind, flow);
  }

  /** Ends a flow, as its time does. */
  end(flow: FlowId): void {
    const found = this.#find(flow);
    if (found) this.#remove(found);
  }

  #remove(flow: Flow): void {
    this.#flows.delete(flow.id);
    this.#notify('destroy', { ...flow, status: statusOf([...flow.status, 'DYING']) });
  }

  #notify(kind: FlowEventKind, flow: Flow): void {
    if (this.offers.events) this.events.emit({ kind, flow });
  }

  #removeAll(): void {
    for (const flow of this.#flows.values()) this.#remove(flow);
  }

  #zero(flow: Flow): void {
    if (flow.counters) this.#flows.set(flow.id, { ...flow, counters: zeroed() });
  }
}

/** The events of a stream that `isReported` selects. `check` throws the error of an iteration that cannot begin. */
function filtered<Event extends { readonly kind: string }>(
  stream: EventStream<Event>,
  isReported: (event: Event) => boolean,
  check: () => void,
): EventStream<Event> {
  return {
    async *[Symbol.asyncIterator]() {
      check();
      for await (const event of stream)
        if (event.kind === 'resync' || isReported(event as Event)) yield event;
      return undefined;
    },
  };
}

function zeroed() {
  return { original: NO_COUNTERS, reply: NO_COUNTERS };
}

const NO_EVENTS = {
  cpu: 0,
  found: 0,
  invalid: 0,
  insert: 0,
  insertFailed: 0,
  drop: 0,
  earlyDrop: 0,
  error: 0,
  searchRestart: 0,
  clashResolve: 0,
  chainTooLong: 0,
};
