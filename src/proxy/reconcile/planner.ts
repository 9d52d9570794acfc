// Plans Services and the node: the desired items, and the Services to plan again.
import type { NetlinkError } from '../../kernel/errors.js';
import { TimeSlice } from '../../kernel/timeSlice.js';
import type { KeyedOperation, Known, Mode } from '../modes/mode.js';
import { type EndpointsByFamily, joinEndpoints, terminatingOf } from '../services/leftEndpoints.js';
import type { NodeFacts, ServicePlanInput } from '../services/types.js';
import { DesiredState, type Owner } from './desiredState.js';
import type { Inputs } from './inputs.js';
import { Kept } from './kept.js';
import { RefusedFields } from './refusedFields.js';
import { RefusedShare } from './refusedShare.js';
import type { Failure } from './summary.js';

/**
 * Maximum Services in a piece. The kernel needs several milliseconds for the items of as many, and planning them takes
 * no longer.
 */
export const PIECE = 256;

/** Steps of a {@link TimeSlice} that the plan of a Service counts as. A virtual machine reads the clock as slowly as it plans a small Service. */
const STEPS_OF_SERVICE = 16;

/** Owner of the kept items. No Service can have this name. */
const KEPT: Owner = { name: '/', rank: Number.POSITIVE_INFINITY };

/** Owner of the node's own plan. No Service can have this name. */
const NODE: Owner = { name: '', rank: -1 };

/** The form of plans in several forms. */
const MIXED = '';

/** The plans of all Services and of the node. */
export class Planner<Item, Operation extends KeyedOperation<Item>> {
  readonly desired: DesiredState<Item>;
  /** The part of the planned Services that the kernel refuses. */
  readonly share = new RefusedShare();
  readonly #mode: Mode<Item, Operation>;
  readonly #inputs: Inputs;
  readonly #refused: RefusedFields<Item, Operation>;
  /** Service → endpoints that were terminating in its last plan; only Services with such endpoints. */
  readonly #terminated = new Map<string, EndpointsByFamily>();
  #touched = new Set<string>();
  /** The Services of the pass under way. */
  readonly #taken: ReadonlySet<string>[] = [];
  /** Set while some objects are unreadable. */
  #kept: Kept<Item> | undefined;
  /** The facts from which the node's own items were planned. */
  #plannedNode: NodeFacts | undefined;
  /** The form of the plans; {@link MIXED} if it changed while they were made; undefined before the first one. */
  #form: string | undefined;
  /** A group changed on which the plan of the node depends. */
  #nodeAffected = false;
  /** The pass under way has made the plan of the node. */
  #nodeTaken = false;

  constructor(mode: Mode<Item, Operation>, inputs: Inputs) {
    this.#mode = mode;
    this.#inputs = inputs;
    this.#refused = new RefusedFields(mode, inputs);
    this.desired = new DesiredState((item) => mode.items.groups?.of(item));
  }

  /** The next pass plans this Service again. */
  touchOne(service: string): void {
    this.#touched.add(service);
  }

  /** The next pass plans these Services again. */
  touch(services: Iterable<string>): void {
    for (const service of services) this.touchOne(service);
  }

  /** The same for a set that is given up: it may have all Services of a cluster, which are not added one by one. */
  touchSet(services: Set<string>): void {
    const [more, fewer] =
      services.size > this.#touched.size ? [services, this.#touched] : [this.#touched, services];
    this.#touched = more;
    this.touch(fewer);
  }

  /** The next pass plans every Service again. */
  touchAll(): void {
    this.touch(this.#inputs.serviceNames());
    this.touch(this.services());
  }

  /** Whether something is to be planned. */
  get pending(): boolean {
    return this.#touched.size > 0 || this.#plannedNode !== this.#inputs.node();
  }

  /** Items that {@link found} reports and no plan contains are desired until {@link release}. */
  hold(): void {
    this.#kept ??= new Kept(this.#mode.items.keep);
  }

  /** Every object is known. */
  release(): void {
    if (!this.#kept) return;
    this.#kept = undefined;
    this.touchAll();
  }

  /** Whether some objects are unreadable. Then the kernel's items must be found before anything is planned. */
  get held(): boolean {
    return this.#kept !== undefined;
  }

  /** Records the items in the kernel at the start. */
  found(known: Known<Item>): void {
    this.#kept?.find(known);
  }

  /** Names of the Services with plans. */
  *services(): Iterable<string> {
    for (const name of this.desired.owners()) if (name !== NODE.name && name !== KEPT.name) yield name;
  }

  /** Names of the Services whose plans have a key, and whether the plan of the node has it. */
  ownersOf(key: string): { readonly services: readonly string[]; readonly node: boolean } {
    const owners = this.desired.ownersOf(key);
    const services = owners.filter((owner) => owner !== NODE.name && owner !== KEPT.name);
    return { services, node: owners.includes(NODE.name) };
  }

  /** The failure of an operation on an item. */
  failureOf(key: string, error: NetlinkError): Failure {
    const { services } = this.ownersOf(key);
    const fields = services.flatMap((service) => this.#refused.of(error, service));
    return {
      key,
      error,
      vital: this.isVital(key),
      ...(services.length > 0 && { services }),
      ...(fields.length > 0 && { fields }),
    };
  }

  /** Keys of the node's own items. */
  get nodeKeys(): Iterable<string> {
    return this.desired.planOf(NODE.name)?.keys() ?? [];
  }

  /** Keys of the kept items. */
  get keptKeys(): Iterable<string> {
    return this.desired.planOf(KEPT.name)?.keys() ?? [];
  }

  /** Number of Services in the next piece to program, after so many. */
  pieceAfter(services: number): number {
    const { largest = PIECE } = this.#mode.pieces ?? {};
    return Math.min(Math.max(PIECE, services >> 2), largest);
  }

  /** Whether the item is in the node's own plan. */
  isVital(key: string): boolean {
    return this.desired.planOf(NODE.name)?.has(key) ?? false;
  }

  /**
   * Takes the touched Services for a pass, in pieces. If there are many, the vital ones are first, alone. They are taken
   * until {@link settle} or {@link putBack}. Services that are touched meanwhile are for the next call.
   */
  take(): string[][] {
    this.#touchAllInNewForm();
    const touched = this.#touched;
    this.#inputs.taken();
    if (touched.size === 0) return [];
    this.#touched = new Set();
    this.#taken.push(touched);
    if (touched.size <= PIECE) return [[...touched]];
    const { vital, others } = this.#inputs.order(touched);
    const pieces = vital.length === 0 ? [] : [[...vital]];
    for (let start = 0; start < others.length; start += PIECE) {
      pieces.push(others.slice(start, start + PIECE));
    }
    return pieces;
  }

  /** Whether the pass under way has made a plan that has the key. */
  isPlannedNow(key: string): boolean {
    const { services, node } = this.ownersOf(key);
    if (node && this.#nodeTaken) return true;
    return services.some((service) => this.#taken.some((taken) => taken.has(service)));
  }

  /** The pass has ended. */
  settle(): void {
    this.#taken.length = 0;
    this.#nodeTaken = false;
  }

  /** The pass was aborted: the next one plans its Services again. */
  putBack(): void {
    for (const services of this.#taken) this.touch(services);
    this.settle();
  }

  /**
   * Plans a piece of the Services, each in one turn of the event loop.
   *
   * @param slice of the passes that plan several pieces
   * @returns the keys whose desired item may have changed; those that two of the Services have or had may repeat
   */
  async plan(services: readonly string[], slice = new TimeSlice()): Promise<string[]> {
    const keys: string[] = [];
    for (const service of services) {
      for (const key of this.#planService(service)) keys.push(key);
      this.#noteGroups();
      if (slice.spend(STEPS_OF_SERVICE)) await slice.yield();
    }
    return keys;
  }

  /** After the Services: plans kept items, and the node if a fact or group that it depends on has changed. */
  planRest(): Set<string> {
    const kept = this.#kept ? this.#kept.takeChanged() : new Map();
    const keys = new Set(kept ? this.desired.replace(KEPT, kept) : []);
    this.#noteGroups();
    const node = this.#inputs.node();
    if (node === this.#plannedNode && !this.#nodeAffected) return keys;
    const plan = this.#mode.planNode(this.desired, node);
    this.#plannedNode = node;
    this.#nodeAffected = false;
    this.#nodeTaken = true;
    for (const key of this.desired.replace(NODE, plan)) keys.add(key);
    return keys;
  }

  /** All Services have the form that a start would give them: else a start, or a plan, would have operations. */
  #touchAllInNewForm(): void {
    const form = this.#currentForm;
    if (this.#form !== undefined && form !== this.#form) this.touchAll();
    this.#form = form;
  }

  get #currentForm(): string | undefined {
    return this.#mode.sharedEndpoints?.formOf(this.#inputs.totalEndpoints());
  }

  /** Uses the current facts of the node. If they change later in this pass, the affected Services are touched again. */
  #planService(service: string): string[] {
    if (this.#currentForm !== this.#form) this.#form = MIXED;
    const node = this.#inputs.node();
    const input = this.#inputs.planInput(service);
    this.#inputs.planned?.(service, input);
    const owner = { name: service, rank: input?.createdAt ?? 0 };
    if (!this.#kept) this.#inputs.followUp?.planned(service, input);
    const former = this.desired.planOf(service);
    const plan = input ? this.#mode.planService(this.#withTerminated(input), node) : new Map();
    this.#noteTerminating(service, input);
    const keys = this.desired.replace(owner, this.#kept?.join(plan, former) ?? plan);
    const isPlanned = this.desired.planOf(service) !== undefined;
    if (isPlanned !== (former !== undefined)) this.share.planned(service, isPlanned ? 1 : -1);
    return keys;
  }

  /** The input with the endpoints that were terminating in the last plan: their connections may not have ended. */
  #withTerminated(input: ServicePlanInput): ServicePlanInput {
    const left = joinEndpoints(this.#terminated.get(input.service), input.left);
    return left === undefined || left === input.left ? input : { ...input, left };
  }

  /** With those that left: if this pass is aborted, the next one plans the Service again. */
  #noteTerminating(service: string, input: ServicePlanInput | undefined): void {
    const terminating = input && joinEndpoints(terminatingOf(input), input.left);
    if (terminating) this.#terminated.set(service, terminating);
    else this.#terminated.delete(service);
  }

  /** Notes whether the last change of the desired items affects the plan of the node. */
  #noteGroups(): void {
    if (!this.desired.groupsChanged) return;
    this.desired.takeGroupChanges(({ name, before, size }) => {
      this.#nodeAffected ||= this.#mode.items.groups?.affectsNode(name, before, size) ?? false;
    });
  }
}
