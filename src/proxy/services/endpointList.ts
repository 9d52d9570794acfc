// The endpoints of a Service port. They are columns, which a cluster with a hundred thousand endpoints needs; an object for an
// endpoint is made on request.
import { AddressPorts } from '../../kernel/net/addressPorts.js';
import { CONDITIONS, SliceEndpoints } from '../objects/sliceEndpoints.js';

/** An address and port that serves a Service port, usually of a pod. */
export interface Endpoint {
  /** Canonical address. */
  readonly address: string;
  readonly port: number;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  /** It is on this node. */
  readonly local: boolean;
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
}

/** The state of an endpoint as bits: its conditions, and whether it is on this node. */
export const STATE = { ...CONDITIONS, local: 8 } as const;

/** The weight of an endpoint whose slice has none. */
export const DEFAULT_WEIGHT = 1;

/** The character of an endpoint without a condition. */
const NONE = '\0';

const ALL_CONDITIONS = CONDITIONS.ready | CONDITIONS.serving | CONDITIONS.terminating;

/** Every endpoint of a Service port in any state, once, sorted by address and port as numbers. Immutable. */
export class EndpointList implements Iterable<Endpoint> {
  /** The addresses and ports of all endpoints. */
  readonly addressPorts: AddressPorts;
  // Not #private: isDeepStrictEqual, with which tests compare, does not see those.
  private readonly columns: SliceEndpoints;
  private readonly nodeName: string;
  /** The weight of each endpoint, or of all; undefined: 1. */
  private readonly weights: number | readonly number[] | undefined;
  /** The conditions that all endpoints have, and those that any has: nearly always, they answer for all endpoints. */
  private readonly common: number;
  private readonly any: number;

  /**
   * @param addressPorts those of the endpoints at the port of this list
   * @param columns the endpoints, in the same order
   * @param nodeName name of this node; the endpoints on it are local
   * @param weights the weight of each endpoint, in the same order, or of all; by default, 1
   */
  constructor(
    addressPorts: AddressPorts,
    columns: SliceEndpoints,
    nodeName: string,
    weights?: number | readonly number[],
  ) {
    this.addressPorts = addressPorts;
    this.columns = columns;
    this.nodeName = nodeName;
    this.weights = weights;
    const { conditions } = columns;
    let common = ALL_CONDITIONS;
    let any = 0;
    for (let index = 0; index < conditions.length; index++) {
      const code = conditions.charCodeAt(index);
      common &= code;
      any |= code;
    }
    this.common = common;
    this.any = any;
  }

  /** Number of endpoints. */
  get size(): number {
    return this.addressPorts.size;
  }

  /** The endpoints on this node, in any state. */
  get local(): AddressPorts {
    return this.select(STATE.local);
  }

  /** The endpoints that are terminating. */
  get terminating(): AddressPorts {
    return this.select(STATE.terminating);
  }

  /** The endpoints that do not serve, and neither terminate nor are ready: of a node that died, for example. */
  get notServing(): AddressPorts {
    if ((this.common & ALL_CONDITIONS) !== 0) return AddressPorts.none(this.addressPorts.family);
    return this.addressPorts.filter((index) => this.columns.conditions.charCodeAt(index) === 0);
  }

  /** Zone hints of each endpoint; undefined if no endpoint has any. */
  get zoneHints(): readonly (readonly string[])[] | undefined {
    return this.columns.zoneHints;
  }

  /** Node hints of each endpoint; undefined if no endpoint has any. */
  get nodeHints(): readonly (readonly string[])[] | undefined {
    return this.columns.nodeHints;
  }

  /** Whether the node of every endpoint is known. */
  get areOnKnownNodes(): boolean {
    const { nodeNames } = this.columns;
    return nodeNames.length === this.size && !nodeNames.includes('');
  }

  /** Whether a slice gives its endpoints a weight. */
  get isWeighted(): boolean {
    return this.weights !== undefined;
  }

  /** The weight of the endpoint with this index: 0 to 65535, times 1000 at most with weights of zones; with 0, it gets no new connections. */
  weightAt(index: number): number {
    const { weights } = this;
    return (typeof weights === 'number' ? weights : weights?.[index]) ?? DEFAULT_WEIGHT;
  }

  /** The list in which endpoints with weight 0 have no condition. This list itself if there are none. */
  get withoutWeightZero(): EndpointList {
    const { weights } = this;
    if (typeof weights === 'number' ? weights > 0 : !weights?.includes(0)) return this;
    return this.#without((index) => this.weightAt(index) === 0);
  }

  /**
   * The list in which ready endpoints on these nodes have no condition, as the control plane makes them once it gives a node up. At most
   * half of the ready endpoints: the others stay as they are. This list itself if none is on these nodes.
   */
  withoutNodes(names: ReadonlySet<string>): EndpointList {
    const { nodeNames } = this.columns;
    if (names.size === 0 || !nodeNames.some((name) => names.has(name))) return this;
    let most = Math.floor(this.select(STATE.ready).size / 2);
    return this.#without((index) => {
      const isOut = names.has(nodeNames[index] ?? '') && this.is(STATE.ready, index) && most > 0;
      if (isOut) most--;
      return isOut;
    });
  }

  /** Whether the endpoint with this index has all these bits of {@link STATE}. */
  is(state: number, index: number): boolean {
    const conditions = state & ALL_CONDITIONS;
    if ((this.columns.conditions.charCodeAt(index) & conditions) !== conditions) return false;
    return (state & STATE.local) === 0 || this.#isLocal(index);
  }

  /** The endpoints that have all these bits of {@link STATE}. The list of all, if all have them. */
  select(state: number): AddressPorts {
    const conditions = state & ALL_CONDITIONS;
    const here = (state & STATE.local) !== 0;
    if ((this.any & conditions) !== conditions || (here && !this.#hasLocal()))
      return AddressPorts.none(this.addressPorts.family);
    if ((this.common & conditions) === conditions && !here) return this.addressPorts;
    return this.addressPorts.filter((index) => this.is(state, index));
  }

  /** Whether an endpoint has all these bits of {@link STATE}. */
  has(state: number): boolean {
    for (let index = 0; index < this.size; index++) if (this.is(state, index)) return true;
    return false;
  }

  /** The endpoints, in order, each as a new object. */
  *[Symbol.iterator](): Generator<Endpoint, void> {
    for (let index = 0; index < this.size; index++) {
      const { nodeName: _, zone: __, address, ...state } = this.columns.at(index);
      yield { address, port: this.addressPorts.portAt(index), ...state, local: this.#isLocal(index) };
    }
  }

  #without(isOut: (index: number) => boolean): EndpointList {
    const { addressPorts, conditions, nodeNames, zoneHints, nodeHints } = this.columns;
    const kept = Array.from(conditions, (condition, index) => (isOut(index) ? NONE : condition)).join('');
    if (kept === conditions) return this;
    const without = new SliceEndpoints(addressPorts, kept, nodeNames, zoneHints, nodeHints);
    return new EndpointList(this.addressPorts, without, this.nodeName, this.weights);
  }

  #hasLocal(): boolean {
    return this.nodeName !== '' && this.columns.nodeNames.includes(this.nodeName);
  }

  #isLocal(index: number): boolean {
    return this.nodeName !== '' && this.columns.nodeNames[index] === this.nodeName;
  }
}
