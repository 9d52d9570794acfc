// The verbs of rtnetlink that send operations.
import type { RecordPacking } from '../shared/batch.js';
import { verbOf } from '../shared/reported.js';
import type { CallOptions, OperationResult } from '../shared/types.js';
import { Applier } from '../shared/verbs.js';
import { OPERATION } from './layouts.js';
import { attemptOf } from './names.js';
import { writeOperation } from './records.js';
import type * as types from './types.js';

type Operation = types.RtnetlinkOperation;

/** How operations of rtnetlink become records. */
export const PACKING: RecordPacking<Operation> = {
  family: 'rtnetlink',
  recordSize: OPERATION.SIZE,
  write: writeOperation,
  attempt: attemptOf,
  nameOf: verbOf,
};

/** The verbs that a client of rtnetlink and its fake have in common. */
export abstract class RtnetlinkVerbs extends Applier<Operation> implements Partial<types.Rtnetlink> {
  addLink(
    name: string,
    kind: string,
    settings?: types.NewLinkSettings,
    options?: CallOptions,
  ): Promise<void> {
    // The signatures of addLink have the settings that belong to each kind.
    const link = { kind, ...(settings !== undefined && { settings }) } as types.NewLink;
    return this.send({ do: 'addLink', name, ...link }, options);
  }

  setLink(link: types.LinkReference, settings: types.LinkSettings, options?: CallOptions): Promise<void> {
    return this.send({ do: 'setLink', link, settings }, options);
  }

  deleteLink(link: types.LinkReference, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteLink', link }, options);
  }

  addAlternativeName(link: types.LinkReference, name: string, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addAlternativeName', link, name }, options);
  }

  deleteAlternativeName(link: types.LinkReference, name: string, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteAlternativeName', link, name }, options);
  }

  addAddress(address: types.NewLinkAddress, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addAddress', address }, options);
  }

  replaceAddress(address: types.NewLinkAddress, options?: CallOptions): Promise<void> {
    return this.send({ do: 'replaceAddress', address }, options);
  }

  deleteAddress(address: types.LinkAddressId, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteAddress', address }, options);
  }

  addRoute(route: types.NewRoute, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addRoute', route }, options);
  }

  changeRoute(route: types.NewRoute, options?: CallOptions): Promise<void> {
    return this.send({ do: 'changeRoute', route }, options);
  }

  replaceRoute(route: types.NewRoute, options?: CallOptions): Promise<void> {
    return this.send({ do: 'replaceRoute', route }, options);
  }

  appendRoute(route: types.NewRoute, options?: CallOptions): Promise<void> {
    return this.send({ do: 'appendRoute', route }, options);
  }

  deleteRoute(route: types.NewRoute, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteRoute', route }, options);
  }

  addRule(rule: types.NewRule, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addRule', rule }, options);
  }

  deleteRule(rule: types.RuleName, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteRule', rule }, options);
  }

  addNeighbour(neighbour: types.NewNeighbour, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addNeighbour', neighbour }, options);
  }

  changeNeighbour(neighbour: types.NewNeighbour, options?: CallOptions): Promise<void> {
    return this.send({ do: 'changeNeighbour', neighbour }, options);
  }

  replaceNeighbour(neighbour: types.NewNeighbour, options?: CallOptions): Promise<void> {
    return this.send({ do: 'replaceNeighbour', neighbour }, options);
  }

  deleteNeighbour(neighbour: types.NeighbourId, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteNeighbour', neighbour }, options);
  }

  addNextHop(nextHop: types.NewNextHopObject, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addNextHop', nextHop }, options);
  }

  replaceNextHop(nextHop: types.NewNextHopObject, options?: CallOptions): Promise<void> {
    return this.send({ do: 'replaceNextHop', nextHop }, options);
  }

  deleteNextHop(nextHop: types.NextHopObjectId, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteNextHop', nextHop }, options);
  }

  addBridgeVlan(bridgeVlan: types.NewBridgeVlan, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addBridgeVlan', bridgeVlan }, options);
  }

  deleteBridgeVlan(bridgeVlan: types.BridgeVlanId, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteBridgeVlan', bridgeVlan }, options);
  }

  addForwardingEntry(entry: types.NewForwardingEntry, options?: CallOptions): Promise<void> {
    return this.send({ do: 'addForwardingEntry', entry }, options);
  }

  appendForwardingEntry(entry: types.NewForwardingEntry, options?: CallOptions): Promise<void> {
    return this.send({ do: 'appendForwardingEntry', entry }, options);
  }

  replaceForwardingEntry(entry: types.NewForwardingEntry, options?: CallOptions): Promise<void> {
    return this.send({ do: 'replaceForwardingEntry', entry }, options);
  }

  deleteForwardingEntry(entry: types.ForwardingEntryId, options?: CallOptions): Promise<void> {
    return this.send({ do: 'deleteForwardingEntry', entry }, options);
  }

  setNamespaceId(namespaceId: types.NewNamespaceId, options?: CallOptions): Promise<void> {
    return this.send({ do: 'setNamespaceId', namespaceId }, options);
  }

  apply(operations: readonly Operation[], options?: CallOptions): Promise<OperationResult[]> {
    return this.applyAll(operations, PACKING, options);
  }

  protected send(operation: Operation, options?: CallOptions): Promise<void> {
    return this.applyOne(operation, PACKING, options);
  }
}
