// The endpoints of an EndpointSlice in columns: a cluster has tens of thousands of them, and an object for each, with its
// address as text, would take ten times the memory.
import { argumentError } from '../../kernel/arguments.js';
import type { Family } from '../../kernel/net/address.js';
import { type AddressPorts, AddressPortsBuilder } from '../../kernel/net/addressPorts.js';
import { FAMILY } from '../../kernel/net/shapes.js';
import {
  ANY_TEXT,
  checkArgument,
  FLAG,
  iterable,
  listOf,
  object,
  optional,
  TEXT,
} from '../../kernel/shapes.js';
import type { Interning } from './interning.js';
import { type ZoneColumn, zoneColumn } from './zoneColumn.js';

/** One of `endpoints`, with the defaults of its conditions filled in. */
export interface SliceEndpoint {
  /** Canonical address. */
  readonly address: string;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  /** Empty when unknown: such an endpoint is not local to any node. */
  readonly nodeName: string;
  /** Topology zone; absent if it is unknown. */
  readonly zone?: string;
  /** `hints.forZones[].name`. */
  readonly zoneHints: readonly string[];
  /** `hints.forNodes[].name`. */
  readonly nodeHints: readonly string[];
}

/** The conditions of an endpoint, as bits. */
export const CONDITIONS = { ready: 1, serving: 2, terminating: 4 } as const;

const ENDPOINT = object<SliceEndpoint>({
  address: TEXT,
  ready: FLAG,
  serving: FLAG,
  terminating: FLAG,
  nodeName: ANY_TEXT,
  zone: optional(TEXT),
  zoneHints: listOf(TEXT),
  nodeHints: listOf(TEXT),
});

/** Endpoints, each address and port once, sorted by number. Immutable. Iteration makes an object for each endpoint. */
export class SliceEndpoints implements Iterable<SliceEndpoint> {
  /** The addresses. Those of a slice have the port of its first `ports`, so that most Services need no other list. */
  readonly addressPorts: AddressPorts;
  /** One character for each endpoint: its code is the sum of the endpoint's {@link CONDITIONS}. Slices share it. */
  readonly conditions: string;
  /** Name of the node of each endpoint; empty if unknown. */
  readonly nodeNames: readonly string[];
  /** Zone hints of each endpoint; undefined if no endpoint has any. */
  readonly zoneHints: readonly (readonly string[])[] | undefined;
  /** Node hints of each endpoint; undefined if no endpoint has any. */
  readonly nodeHints: readonly (readonly string[])[] | undefined;
  /** The zone of each endpoint; undefined if none is known. */
  readonly zones: ZoneColumn | undefined;

  /** @internal Columns of the same order, from the builder. */
  constructor(
    addressPorts: AddressPorts,
    conditions: string,
    nodeNames: readonly string[],
    zoneHints?: readonly (readonly string[])[],
    nodeHints?: readonly (readonly string[])[],
    zones?: ZoneColumn,
  ) {
    this.addressPorts = addressPorts;
    this.conditions = conditions;
    this.nodeNames = nodeNames;
    this.zoneHints = zoneHints;
    this.nodeHints = nodeHints;
    this.zones = zones;
  }

  /** The endpoints of a slice. Throws a RangeError for an address that is not of the family. */
  static of(family: Family, endpoints: Iterable<SliceEndpoint>): SliceEndpoints {
    const operation = 'SliceEndpoints.of';
    checkArgument(operation, 'family', family, FAMILY);
    checkArgument(operation, 'endpoints', endpoints, iterable);
    const builder = new SliceEndpointsBuilder(family);
    for (const endpoint of endpoints) {
      checkArgument(operation, 'endpoint', endpoint, ENDPOINT);
      const { address, ready, serving, terminating, nodeName, zone = '', zoneHints, nodeHints } = endpoint;
      const conditions = conditionsOf(ready, serving, terminating);
      if (!builder.add(address, 0, () => ({ conditions, nodeName, zone, zoneHints, nodeHints })))
        throw argumentError(operation, {
          field: 'endpoint.address',
          value: address,
          rule: `must be an IPv${family} address`,
          wrongType: false,
        });
    }
    return builder.build();
  }

  /** Number of endpoints. */
  get size(): number {
    return this.conditions.length;
  }

  /** The endpoint with this index. */
  at(index: number): SliceEndpoint {
    const conditions = this.conditions.charCodeAt(index);
    const zone = this.zones?.at(index) ?? '';
    return {
      address: this.addressPorts.addressAt(index),
      ready: (conditions & CONDITIONS.ready) !== 0,
      serving: (conditions & CONDITIONS.serving) !== 0,
      terminating: (conditions & CONDITIONS.terminating) !== 0,
      nodeName: this.nodeNames[index] as string,
      ...(zone === '' ? {} : { zone }),
      zoneHints: this.zoneHints?.[index] ?? NO_NAMES,
      nodeHints: this.nodeHints?.[index] ?? NO_NAMES,
    };
  }

  /** The node of the endpoint with this address; undefined if there is none, or its node is not known. */
  nodeOf(address: string): string | undefined {
    for (let index = 0; index < this.size; index++)
      if (this.addressPorts.addressAt(index) === address) return this.nodeNames[index] || undefined;
    return undefined;
  }

  /** The first endpoints, in the order of their addresses. */
  first(count: number): SliceEndpoints {
    return new SliceEndpoints(
      this.addressPorts.filter((index) => index < count),
      this.conditions.slice(0, count),
      this.nodeNames.slice(0, count),
      this.zoneHints?.slice(0, count),
      this.nodeHints?.slice(0, count),
      this.zones?.first(count),
    );
  }

  /** The endpoints, in the order of their addresses. */
  *[Symbol.iterator](): Generator<SliceEndpoint, void> {
    for (let index = 0; index < this.size; index++) yield this.at(index);
  }
}

/** The sum of conditions. */
export function conditionsOf(ready: boolean, serving: boolean, terminating: boolean): number {
  return (
    (ready ? CONDITIONS.ready : 0) |
    (serving ? CONDITIONS.serving : 0) |
    (terminating ? CONDITIONS.terminating : 0)
  );
}

/** An endpoint without its address. */
export interface EndpointState {
  /** See {@link CONDITIONS}. */
  readonly conditions: number;
  readonly nodeName: string;
  /** Absent or empty if unknown. */
  readonly zone?: string;
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
}

/** Collects endpoints in any order. */
export class SliceEndpointsBuilder {
  readonly #addressPorts: AddressPortsBuilder;
  readonly #interning: Interning | undefined;
  readonly #conditions: number[] = [];
  readonly #nodeNames: string[] = [];
  readonly #zones: string[] = [];
  readonly #zoneHints: (readonly string[])[] = [];
  readonly #nodeHints: (readonly string[])[] = [];
  #hasZones = false;
  #hasZoneHints = false;
  #hasNodeHints = false;

  /** @param interning makes builders share equal columns; by default, none are shared */
  constructor(family: Family, interning?: Interning) {
    this.#addressPorts = new AddressPortsBuilder(family);
    this.#interning = interning;
  }

  /**
   * Adds an endpoint. Returns false, and adds nothing, if the text is not an address of the family.
   *
   * @param read reads the rest of the endpoint, if the text is such an address
   */
  add(address: string, port: number, read: () => EndpointState): boolean {
    if (!this.#addressPorts.add(address, port)) return false;
    this.#addState(read());
    return true;
  }

  /** Adds all endpoints of a slice with these addresses and ports, without their zones: those of slices are the ones that are read. */
  addAll(endpoints: SliceEndpoints, addressPorts: AddressPorts): void {
    const { conditions, nodeNames, zoneHints, nodeHints } = endpoints;
    for (let i = 0; i < endpoints.size; i++) {
      this.#addressPorts.addFrom(addressPorts, i);
      this.#addState({
        conditions: conditions.charCodeAt(i),
        nodeName: nodeNames[i] as string,
        zoneHints: zoneHints?.[i] ?? NO_NAMES,
        nodeHints: nodeHints?.[i] ?? NO_NAMES,
      });
    }
  }

  /**
   * The endpoints. The builder must not be used afterwards.
   *
   * Of endpoints with the same address and port, one is included: while a pod moves between slices, it is in both. The
   * one that is not terminating wins (kube-proxy since 1.36), then the one on this node, then the one that is ready.
   *
   * @param nodeName name of this node; by default, none
   */
  build(nodeName = ''): SliceEndpoints {
    return this.buildOrdered(nodeName).endpoints;
  }

  /** The same, with the number of the addition that each endpoint is of; undefined: in the order of the additions. */
  buildOrdered(nodeName: string): {
    readonly endpoints: SliceEndpoints;
    readonly order: readonly number[] | undefined;
  } {
    const rank = (entry: number) => {
      const conditions = this.#conditions[entry] as number;
      const isHere = nodeName !== '' && this.#nodeNames[entry] === nodeName;
      return (
        (conditions & CONDITIONS.terminating ? 4 : 0) +
        (isHere ? 0 : 2) +
        (conditions & CONDITIONS.ready ? 0 : 1)
      );
    };
    const { list, order } = this.#addressPorts.buildOrdered((a, b) => rank(a) - rank(b));
    // slice(): an array that grew by push() has unused space, and these arrays stay.
    const sorted = <T>(column: readonly T[]) => order?.map((entry) => column[entry] as T) ?? column.slice();
    // One string: of `+=`, V8 would keep an object of 32 bytes for each endpoint until the text is read.
    const conditions = Buffer.from(sorted(this.#conditions)).toString('latin1');
    const endpoints = new SliceEndpoints(
      list,
      this.#interning?.text(conditions) ?? conditions,
      sorted(this.#nodeNames),
      this.#hasZoneHints ? sorted(this.#zoneHints) : undefined,
      this.#hasNodeHints ? sorted(this.#nodeHints) : undefined,
      this.#hasZones ? zoneColumn(sorted(this.#zones), this.#interning) : undefined,
    );
    return { endpoints, order };
  }

  #addState({ conditions, nodeName, zone = '', zoneHints, nodeHints }: EndpointState): void {
    this.#conditions.push(conditions);
    this.#nodeNames.push(nodeName);
    this.#zones.push(zone);
    this.#hasZones ||= zone !== '';
    this.#zoneHints.push(zoneHints);
    this.#nodeHints.push(nodeHints);
    this.#hasZoneHints ||= zoneHints.length > 0;
    this.#hasNodeHints ||= nodeHints.length > 0;
  }
}

const NO_NAMES: readonly string[] = Object.freeze([]);
