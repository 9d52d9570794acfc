// Decides whether a flow is selected, whether or not the kernel has filtered.
import type { FlowReader } from './decode/flows.js';
import type { ReadTuple } from './decode/tuples.js';
import type { AddressFilter, Filter, TuplePart } from './filters.js';
import { AF } from './numbers.js';

/** Bytes of an IPv6 address before its last 32 bits. */
const BEFORE_LAST = 12;

/** Filters by the last 32 bits of the address of their destination, if they have a whole one. */
class ByDestination {
  readonly #whole = new Map<number, Filter[]>();
  readonly #others: Filter[] = [];

  add(filter: Filter): void {
    const { destination } = filter.original;
    if (isWhole(destination)) {
      const lastBits = destination.bytes.slice(-4).reduce((bits, byte) => ((bits << 8) | byte) >>> 0, 0);
      addTo(this.#whole, lastBits, filter);
    } else this.#others.push(filter);
  }

  selects(flow: FlowReader, lastBits: number): boolean {
    const own = this.#whole.get(lastBits);
    return (own !== undefined && selectsAny(own, flow)) || selectsAny(this.#others, flow);
  }
}

/** Selects the flows that any of some filters selects. A flow is compared with the filters of its own port and destination only. */
export class Selector {
  readonly #byPort = new Map<number, ByDestination>();
  readonly #others = new ByDestination();
  #unindexed = 0;

  /** The steps of a flow, see `TimeSlice.spend`: it may be compared with every filter that has no whole destination. */
  get steps(): number {
    return 1 + (this.#unindexed >> 5);
  }

  /** Adds a filter. */
  add(filter: Filter): void {
    const { destination, destinationPort } = filter.original;
    if (!isWhole(destination)) this.#unindexed++;
    if (destinationPort === undefined) this.#others.add(filter);
    else {
      const own = this.#byPort.get(destinationPort) ?? new ByDestination();
      this.#byPort.set(destinationPort, own);
      own.add(filter);
    }
  }

  /** Whether the flow that was read is selected. */
  selects(flow: FlowReader): boolean {
    const { destination, destinationPort } = flow.original;
    const lastBits = flow.view.getUint32(flow.family === AF[6] ? destination + BEFORE_LAST : destination);
    const own = this.#byPort.get(destinationPort);
    return (own?.selects(flow, lastBits) ?? false) || this.#others.selects(flow, lastBits);
  }
}

function isWhole(address: AddressFilter | undefined): address is AddressFilter {
  return address !== undefined && address.prefix === 8 * address.bytes.length;
}

function addTo(map: Map<number, Filter[]>, key: number, filter: Filter): void {
  const same = map.get(key);
  if (same) same.push(filter);
  else map.set(key, [filter]);
}

function selectsAny(filters: readonly Filter[], flow: FlowReader): boolean {
  for (const filter of filters) if (selects(filter, flow)) return true;
  return false;
}

function selects(filter: Filter, flow: FlowReader): boolean {
  return (
    (filter.family === 0 || AF[filter.family] === flow.family) &&
    (filter.protocol === 0 || filter.protocol === flow.original.protocol) &&
    selectsTuple(filter.original, flow.original, flow.view) &&
    selectsTuple(filter.reply, flow.reply, flow.view) &&
    meetsConditions(filter, flow)
  );
}

function selectsTuple(wanted: TuplePart, tuple: ReadTuple, view: DataView): boolean {
  const { source, destination, sourcePort, destinationPort, icmpType, icmpCode } = wanted;
  return (
    (sourcePort === undefined || sourcePort === tuple.sourcePort) &&
    (destinationPort === undefined || destinationPort === tuple.destinationPort) &&
    (icmpType === undefined || icmpType === tuple.destinationPort >> 8) &&
    (icmpCode === undefined || icmpCode === (tuple.destinationPort & 0xff)) &&
    (source === undefined || hasPrefix(source, tuple.source, view)) &&
    (destination === undefined || hasPrefix(destination, tuple.destination, view))
  );
}

/** Whether the address at a place begins with the same bits. */
function hasPrefix({ bytes, prefix }: AddressFilter, at: number, view: DataView): boolean {
  const whole = prefix >> 3;
  for (let i = 0; i < whole; i++) if (bytes[i] !== view.getUint8(at + i)) return false;
  const rest = prefix & 7;
  return rest === 0 || ((bytes[whole] ?? 0) ^ view.getUint8(at + whole)) >> (8 - rest) === 0;
}

function meetsConditions({ mark, status, zone, replyZone, labels }: Filter, flow: FlowReader): boolean {
  return (
    (mark === undefined || (flow.mark & mark.mask) >>> 0 === mark.value) &&
    (status === undefined || (flow.status & status.mask) >>> 0 === status.value) &&
    (zone === undefined || zone === flow.zone) &&
    (replyZone === undefined || replyZone === flow.replyZone) &&
    (labels === undefined || hasLabels(labels, flow))
  );
}

function hasLabels(wanted: Uint8Array, { labels, bytes }: FlowReader): boolean {
  return wanted.every((byte, i) => (labels < 0 ? byte === 0 : ((bytes[labels + i] ?? 0) & byte) === byte));
}
