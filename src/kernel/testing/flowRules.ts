// Rules of the kernel about flows, for the fake of conntrack: names, selections, additions and changes. Pure.

import { FLOW_STATUSES, type FlowStatus } from '../conntrack/states.js';
import { inverted } from '../conntrack/tuples.js';
import type {
  Flow,
  FlowChanges,
  FlowId,
  FlowSelection,
  FlowTuple,
  NewFlow,
  Translation,
  TupleFilter,
  TupleName,
} from '../conntrack/types.js';
import { canonicalAddressAsIs, familyOf, parseAddressAsIs } from '../net/address.js';
import { networkContainsBytes, parseNetworkAsIs } from '../net/network.js';
import { type IpProtocol, PROTOCOL_NUMBERS, protocolOfNumber } from '../net/protocol.js';

/** The number of a protocol. */
function numberOf(protocol: IpProtocol): number {
  return typeof protocol === 'number' ? protocol : PROTOCOL_NUMBERS[protocol];
}

/** A tuple as the kernel lists it. */
export function listedTuple({
  source,
  destination,
  sourcePort,
  destinationPort,
  icmp,
}: TupleName): FlowTuple {
  const ends = { source: canonical(source), destination: canonical(destination) };
  if (icmp) return { ...ends, sourcePort: 0, destinationPort: 0, icmp: { ...icmp } };
  return { ...ends, sourcePort: sourcePort ?? 0, destinationPort: destinationPort ?? 0 };
}

function canonical(address: string): string {
  return canonicalAddressAsIs(address) ?? address;
}

function nameOf(protocol: IpProtocol, tuple: TupleName, zone: number): string {
  const { source, destination, sourcePort, destinationPort, icmp } = listedTuple(tuple);
  const kind = icmp ? [icmp.type, icmp.code, icmp.id] : [];
  return [numberOf(protocol), zone, source, destination, sourcePort, destinationPort, ...kind].join(' ');
}

/** Whether the flow has this name. */
export function hasName(flow: Flow, { protocol, original, zone = 0, id = 0 }: FlowId): boolean {
  return (
    nameOf(flow.protocol, flow.original, flow.zone) === nameOf(protocol, original, zone) &&
    (id === 0 || id === flow.id)
  );
}

/** Whether one direction of a flow has the packets of one direction of the other. */
export function haveOneTuple(a: Flow, b: Flow): boolean {
  const names = (flow: Flow) => [
    nameOf(flow.protocol, flow.original, flow.zone),
    nameOf(flow.protocol, flow.reply, flow.replyZone),
  ];
  return names(a).some((name) => names(b).includes(name));
}

/** Whether everything holds of the flow that the selection names. */
export function selects(selection: FlowSelection, flow: Flow): boolean {
  const { family, protocol, original, reply, mark, status, notStatus, zone, replyZone, labels } = selection;
  const { value, mask } = typeof mark === 'object' ? mark : { value: mark, mask: 0xffff_ffff };
  return (
    (family ?? flow.family) === flow.family &&
    (protocol === undefined || numberOf(protocol) === numberOf(flow.protocol)) &&
    selectsTuple(original, flow.original) &&
    selectsTuple(reply, flow.reply) &&
    (value === undefined || (flow.mark & mask) >>> 0 === value) &&
    (status ?? []).every((flag) => flow.status.includes(flag)) &&
    !(notStatus ?? []).some((flag) => flow.status.includes(flag)) &&
    (zone ?? flow.zone) === flow.zone &&
    (replyZone ?? flow.replyZone) === flow.replyZone &&
    (labels ?? []).every((label) => flow.labels?.includes(label))
  );
}

function selectsTuple(filter: TupleFilter | undefined, tuple: FlowTuple): boolean {
  const { source, destination, sourcePort, destinationPort, icmp = {} } = filter ?? {};
  return (
    hasAddress(source, tuple.source) &&
    hasAddress(destination, tuple.destination) &&
    (sourcePort ?? tuple.sourcePort) === tuple.sourcePort &&
    (destinationPort ?? tuple.destinationPort) === tuple.destinationPort &&
    (['type', 'code', 'id'] as const).every(
      (field) => icmp[field] === undefined || icmp[field] === tuple.icmp?.[field],
    )
  );
}

function hasAddress(wanted: string | undefined, address: string): boolean {
  if (wanted === undefined) return true;
  const network = parseNetworkAsIs(wanted);
  if (!network) return canonicalAddressAsIs(wanted) === address;
  const bytes = parseAddressAsIs(address);
  return bytes !== undefined && networkContainsBytes(network, bytes);
}

/** The flow that the kernel makes of a new one. */
export function begun(flow: NewFlow, id: number): Flow {
  const number = numberOf(flow.protocol);
  const original = listedTuple(flow.original);
  const { zone = 0, replyZone = zone, sourceNat, destinationNat, master } = flow;
  const plain = listedTuple((flow.reply ?? inverted(flow.original, number)) as TupleName);
  const translated: FlowStatus[] = [
    ...(sourceNat || destinationNat ? (['SRC_NAT_DONE', 'DST_NAT_DONE'] as const) : []),
    ...(sourceNat ? (['SRC_NAT'] as const) : []),
    ...(destinationNat ? (['DST_NAT'] as const) : []),
    ...(flow.helper ? (['HELPER'] as const) : []),
    ...(master ? (['EXPECTED'] as const) : []),
  ];
  return {
    family: familyOf(original.source),
    protocol: protocolOfNumber(number) ?? number,
    original,
    reply: translate(plain, sourceNat, destinationNat),
    zone,
    replyZone,
    id,
    status: statusOf(['CONFIRMED', ...translated, ...settable(flow.status)]),
    mark: flow.mark ?? 0,
    timeout: flow.timeout,
    use: 1,
    ...(number === 6 && { tcpState: flow.tcpState ?? 'NONE' }),
    ...(flow.sctp && { sctp: flow.sctp }),
    ...(flow.labels && { labels: ascending(flow.labels) }),
    ...(flow.helper !== undefined && { helper: flow.helper }),
    ...(master && {
      master: { protocol: listedProtocol(master.protocol), original: listedTuple(master.original) },
    }),
  };
}

function listedProtocol(protocol: IpProtocol): IpProtocol {
  return protocolOfNumber(numberOf(protocol)) ?? protocol;
}

// The first address and port of each range: the kernel takes one that is free.
function translate(reply: FlowTuple, source?: Translation, destination?: Translation): FlowTuple {
  return {
    ...reply,
    ...(source && { destination: canonical(source.address) }),
    ...(source?.port !== undefined && { destinationPort: source.port }),
    ...(destination && { source: canonical(destination.address) }),
    ...(destination?.port !== undefined && { sourcePort: destination.port }),
  };
}

/** The fields of a flow after a change. */
export function changedFlow(flow: Flow, changes: FlowChanges): Flow {
  const { timeout, status, mark, helper, tcpState, sctp } = changes;
  const { value, mask } = typeof mark === 'object' ? mark : { value: mark ?? flow.mark, mask: 0xffff_ffff };
  const labels = changedLabels(flow.labels ?? [], changes);
  return {
    ...flow,
    timeout: timeout ?? flow.timeout,
    status: statusOf([...flow.status, ...settable(status), ...(helper ? (['HELPER'] as const) : [])]),
    mark: ((flow.mark & ~mask) | value) >>> 0,
    ...(helper !== undefined && { helper }),
    ...(tcpState !== undefined && { tcpState }),
    ...(sctp !== undefined && { sctp }),
    ...(labels && { labels }),
  };
}

/** Undefined for a change that names no label. */
function changedLabels(own: readonly number[], { labels, addLabels, removeLabels }: FlowChanges) {
  if (labels) return ascending(labels);
  if (!addLabels && !removeLabels) return undefined;
  return ascending([...own, ...(addLabels ?? [])].filter((label) => !removeLabels?.includes(label)));
}

function ascending(labels: readonly number[]): number[] {
  return [...new Set(labels)].sort((a, b) => a - b);
}

/** Flags that the kernel lets a program set (all but `IPS_UNCHANGEABLE_MASK`). */
const SETTABLE: ReadonlySet<FlowStatus> = new Set(['SEEN_REPLY', 'ASSURED', 'FIXED_TIMEOUT', 'HELPER']);

function settable(status: readonly FlowStatus[] = []): FlowStatus[] {
  return status.filter((flag) => SETTABLE.has(flag));
}

/** Flags in the order of their bits. */
export function statusOf(flags: readonly FlowStatus[]): FlowStatus[] {
  return FLOW_STATUSES.filter((flag) => flags.includes(flag));
}
