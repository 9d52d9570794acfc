// The parts of a flow that most flows do not have.
import type { Family } from '../../net/address.js';
import { protocolOfNumber } from '../../net/protocol.js';
import type { AttributeScanner } from '../../shared/wire/attributeScanner.js';
import { CTA, CTA_COUNTERS, CTA_NAME, CTA_TIMESTAMP } from '../numbers.js';
import type { Flow, FlowCounters, FlowMaster } from '../types.js';
import { labelsOf } from './labels.js';
import { ReadTuple } from './tuples.js';

/** A flow while it is made. */
export type Draft = { -readonly [Field in keyof Flow]: Flow[Field] };

const NO_COUNTERS: FlowCounters = { packets: 0n, bytes: 0n };
/** Bytes of the labels of a flow. */
const LABELS = 16;

/** The details of one flow after another. */
export class ReadDetails {
  /** Place of the labels, -1 for none. */
  labels = -1;
  #original: FlowCounters | undefined;
  #reply: FlowCounters | undefined;
  #start: bigint | undefined;
  #stop: bigint | undefined;
  #helper = '';
  #secctx = '';
  #master: ReadTuple | undefined;
  /** Whether there is any. */
  #isEmpty = true;

  /** Forgets what was read. */
  clear(): void {
    if (this.#isEmpty) return;
    this.#isEmpty = true;
    this.labels = -1;
    this.#original = this.#reply = this.#start = this.#stop = this.#master = undefined;
    this.#helper = this.#secctx = '';
  }

  /** Reads the current attribute if it is a detail. */
  read(scanner: AttributeScanner): void {
    switch (scanner.type) {
      case CTA.originalCounters:
        this.#original = countersOf(scanner);
        break;
      case CTA.replyCounters:
        this.#reply = countersOf(scanner);
        break;
      case CTA.timestamp:
        this.#readTimestamps(scanner);
        break;
      case CTA.labels:
        this.labels = scanner.place(LABELS);
        break;
      case CTA.help:
        this.#helper = nameOf(scanner);
        break;
      case CTA.secctx:
        this.#secctx = nameOf(scanner);
        break;
      case CTA.master:
        this.#master = new ReadTuple();
        this.#master.read(scanner);
        break;
      default:
        return;
    }
    this.#isEmpty = false;
  }

  /** Whether the master, if there is one, has a whole tuple of this family (`AF_…`). */
  isWhole(family: number): boolean {
    return this.#master?.isWhole(family) ?? true;
  }

  /** Adds the details to a flow of these messages. */
  addTo(flow: Draft, bytes: Uint8Array): void {
    if (this.#isEmpty) return;
    if (this.#original || this.#reply) {
      flow.counters = { original: this.#original ?? NO_COUNTERS, reply: this.#reply ?? NO_COUNTERS };
    }
    if (this.#start !== undefined) flow.start = this.#start;
    if (this.#stop !== undefined) flow.stop = this.#stop;
    if (this.labels >= 0) flow.labels = labelsOf(bytes, this.labels);
    if (this.#helper !== '') flow.helper = this.#helper;
    if (this.#secctx !== '') flow.secctx = this.#secctx;
    if (this.#master) flow.master = masterOf(this.#master, bytes, flow.family);
  }

  #readTimestamps(scanner: AttributeScanner): void {
    const { end } = scanner;
    for (let at = scanner.start; at < end; ) {
      at = scanner.enter(at, end);
      if (scanner.type === CTA_TIMESTAMP.start) this.#start = scanner.u64be();
      else if (scanner.type === CTA_TIMESTAMP.stop) this.#stop = scanner.u64be();
    }
  }
}

/** The flow that another one belongs to, by its original tuple. */
export function masterOf(master: ReadTuple, bytes: Uint8Array, family: Family): FlowMaster {
  const { protocol } = master;
  return { protocol: protocolOfNumber(protocol) ?? protocol, original: master.value(bytes, family) };
}

function countersOf(scanner: AttributeScanner): FlowCounters {
  let packets = 0n;
  let bytes = 0n;
  const { end } = scanner;
  for (let at = scanner.start; at < end; ) {
    at = scanner.enter(at, end);
    if (scanner.type === CTA_COUNTERS.packets) packets = scanner.u64be();
    else if (scanner.type === CTA_COUNTERS.bytes) bytes = scanner.u64be();
  }
  return { packets, bytes };
}

/** Blank if there is none. */
function nameOf(scanner: AttributeScanner): string {
  let name = '';
  const { end } = scanner;
  for (let at = scanner.start; at < end; ) {
    at = scanner.enter(at, end);
    if (scanner.type === CTA_NAME) name = scanner.text();
  }
  return name;
}
