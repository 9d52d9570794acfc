// Connection tracking in memory. It refuses the same arguments as the real one, and has the kernel's rules.
import { constants } from 'node:os';
import { checkedName } from '../conntrack/encode/operations.js';
import { attemptOn, nameFlow, nameSelections } from '../conntrack/names.js';
import { additionOf } from '../conntrack/newFlow.js';
import { deletionOf, PACKING } from '../conntrack/packing.js';
import { planListingInSteps, planWatch, readGetOptions, selectionsOf } from '../conntrack/plans.js';
import type {
  Conntrack,
  ConntrackCapabilities,
  ConntrackStatistics,
  Expectation,
  Flow,
  FlowChange,
  FlowDeletion,
  FlowEvent,
  FlowEventKind,
  FlowFilter,
  FlowId,
  FlowOperation,
  FlowSelection,
  FlowWatchOptions,
  GetOptions,
  ListOptions,
  NewFlow,
} from '../conntrack/types.js';
import { ConntrackVerbs } from '../conntrack/verbs.js';
import { familyOf } from '../net/address.js';
import { ADDRESS } from '../net/shapes.js';
import { checkArgument } from '../shapes.js';
import { checkArray, checkObject, checkOptions } from '../shared/arguments.js';
import { type Packing, writerOf } from '../shared/batch.js';
import type { CallOptions, EventStream, Listing, OperationResult } from '../shared/types.js';
import { withVerbs } from '../shared/verbs.js';
import { atOnce } from '../steps.js';
import { FakeClient, refusalError } from './client.js';
import { FakeEvents } from './events.js';
import { begun, changedFlow, hasName, haveOneTuple, listedTuple, selects, statusOf } from './flowRules.js';
import { lineOf } from './flowText.js';

const { EBUSY, EEXIST, ENOENT, EOPNOTSUPP } = constants.errno;
/** `nf_conntrack_max` of a machine with much memory. */
const MAX_ENTRIES = 262_144;
const NO_COUNTERS = { packets: 0n, bytes: 0n };

/** The fields of a tracked flow that a test must give. */
export type TrackedFlow = Pick<Flow, 'protocol' | 'original' | 'reply'> & Partial<Flow>;

/** A fake of conntrack. In delete(), fault() is called for the listing, and for each flow that was found: each may fail on its own. */
export class FakeConntrack extends withVerbs(FakeClient<FlowChange>, ConntrackVerbs) implements Conntrack {
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
    checkObject('FakeConntrack.track', 'flow', flow);
    checkObject('FakeConntrack.track', 'flow.original', flow.original);
    checkArgument('FakeConntrack.track', 'flow.original.source', flow.original.source, ADDRESS);
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
    additionOf(tracked, 'FakeConntrack.track'); // checks it
    this.#set('new', tracked);
    return tracked;
  }

  list(selection?: FlowSelection | readonly FlowSelection[], options: ListOptions = {}): Listing<Flow> {
    checkOptions('conntrack.list', options);
    const selections = selection === undefined ? undefined : selectionsOf(selection);
    const { table = 'conntrack', zeroCounters = false, signal } = options;
    const act = () => {
      atOnce(planListingInSteps(selections, options)); // checks them
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
    checkedName(flow, 'conntrack.get');
    const { zeroCounters, call } = readGetOptions(options);
    const act = () => {
      const found = this.#find(flow);
      if (found && zeroCounters) this.#zero(found);
      return found;
    };
    return this.read(attemptOn('get', nameFlow(flow)), act, call);
  }

  async deleteFlows(flows: readonly FlowId[], options?: CallOptions): Promise<OperationResult[]> {
    checkArray('conntrack.deleteFlows', 'flows', flows);
    return this.apply(Array.from(flows, deletionOf), options);
  }

  protected async deleteEach(filter: FlowFilter, options?: CallOptions): Promise<FlowDeletion> {
    const select = () => [...this.#flows.values()].filter((flow) => selects(filter, flow));
    const found = await this.change(attemptOn('delete', nameSelections([filter])), select, options);
    const packing: Packing<FlowOperation> = {
      ...PACKING,
      attempt: ({ flow }) => attemptOn('delete', nameFlow(flow as Flow)),
    };
    const results = await this.results(found.map(deletionOf), packing, writerOf(packing));
    const failures = results.filter((result) => result !== undefined);
    return { deleted: found.length - failures.length, failures };
  }

  protected deleteAll(options: CallOptions): Promise<void> {
    return this.change(attemptOn('flush'), () => this.#removeAll(), options);
  }

  watch(options: FlowWatchOptions = {}): EventStream<FlowEvent> {
    planWatch(options);
    const { kinds, selection, ...watching } = options;
    const stream = this.events.stream('conntrack.watch', watching, this.closed);
    const selections = selection && [selection].flat();
    const isReported = ({ kind, flow }: FlowEvent) =>
      (kinds?.includes(kind) ?? true) && (selections?.some((each) => selects(each, flow)) ?? true);
    return filtered(stream, isReported, () => this.#checkEvents());
  }

  #checkEvents(): void {
    if (this.offers.events) return;
    const message = 'net.netfilter.nf_conntrack_events is 0: new flows have no events';
    throw refusalError({ errno: EOPNOTSUPP, message }, { operation: 'conntrack.watch' });
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

  protected act(operation: FlowOperation): number | undefined {
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
    checkedName(flow, 'FakeConntrack.end'); // checks it
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
