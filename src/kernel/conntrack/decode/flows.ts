// Flows, as the kernel lists and reports them.
import { protocolOfNumber } from '../../net/protocol.js';
import { AttributeScanner } from '../../shared/wire/attributeScanner.js';
import { MessageCursor } from '../../shared/wire/messages.js';
import { AF, CTA, CTA_INFO, CTA_SCTP, CTA_TCP, NETFILTER_HEADER, PROTOCOL } from '../numbers.js';
import { sctpStateOf, statusNames, tcpStateOf } from '../states.js';
import type { Flow } from '../types.js';
import { type Draft, ReadDetails } from './details.js';
import { ReadTuple } from './tuples.js';

/**
 * Reads the flows in messages, one after another: `next()`, then the fields, which filters compare, and `flow()`. Only `flow()` makes
 * an object.
 */
export class FlowReader {
  /** `AF_…` */
  family = 0;
  status = 0;
  mark = 0;
  id = 0;
  zone = 0;
  replyZone = 0;
  readonly original = new ReadTuple();
  readonly reply = new ReadTuple();
  readonly bytes: Uint8Array;
  /** A view of the bytes. */
  readonly view: DataView;
  /** The current message. */
  readonly message: MessageCursor;
  readonly #scanner: AttributeScanner;
  readonly #details = new ReadDetails();
  #timeout = 0;
  #use = 0;
  /** Of TCP or SCTP, -1 for none; and tags of SCTP. */
  #state = -1;
  #originalTag = -1;
  #replyTag = -1;

  /** `operation` names it in errors: `conntrack.list`. */
  constructor(bytes: Uint8Array, operation: string) {
    this.#scanner = new AttributeScanner(bytes, operation);
    this.bytes = bytes;
    this.view = this.#scanner.view;
    this.message = new MessageCursor(this.view, operation);
  }

  /** Reads the next flow; false behind the last one. Throws NetlinkError `ERR_MALFORMED_REPLY`. */
  next(): boolean {
    if (!this.message.next()) return false;
    this.read();
    return true;
  }

  /** Reads the flow of the current message. */
  read(): void {
    const { start, end } = this.message;
    const scanner = this.#scanner;
    const { original, reply } = this;
    if (end - start < NETFILTER_HEADER) throw scanner.malformed('no nfgenmsg');
    const family = this.view.getUint8(start);
    this.family = family;
    this.#clear();
    for (let at = start + NETFILTER_HEADER; at < end; ) {
      at = scanner.enter(at, end);
      if (scanner.type === CTA.original) original.read(scanner);
      else if (scanner.type === CTA.reply) reply.read(scanner);
      else this.#readAttribute(scanner);
    }
    if (!original.isWhole(family) || !reply.isWhole(family) || original.protocol !== reply.protocol) {
      throw scanner.malformed('flow without both of its tuples');
    }
    if (!this.#details.isWhole(family)) throw scanner.malformed('flow without the whole tuple of its master');
    if (original.zone !== 0) this.zone = original.zone;
    if (reply.zone !== 0) this.replyZone = reply.zone;
  }

  /** Place of the labels of the flow, -1 for none. */
  get labels(): number {
    return this.#details.labels;
  }

  /** The flow that was read. */
  flow(): Flow {
    const { bytes, original } = this;
    const family = this.family === AF[6] ? 6 : 4;
    const number = original.protocol;
    const flow: Draft = {
      family,
      protocol: protocolOfNumber(number) ?? number,
      original: original.value(bytes, family),
      reply: this.reply.value(bytes, family, original),
      zone: this.zone,
      replyZone: this.replyZone,
      id: this.id,
      status: statusNames(this.status),
      mark: this.mark,
      timeout: this.#timeout,
      use: this.#use,
    };
    if (this.#state >= 0 && number === PROTOCOL.tcp) flow.tcpState = tcpStateOf(this.#state);
    if (this.#originalTag >= 0 || this.#replyTag >= 0) {
      const [originalTag, replyTag] = [Math.max(this.#originalTag, 0), Math.max(this.#replyTag, 0)];
      flow.sctp = { state: sctpStateOf(Math.max(this.#state, 0)), originalTag, replyTag };
    }
    this.#details.addTo(flow, bytes);
    return flow;
  }

  #clear(): void {
    this.original.clear();
    this.reply.clear();
    this.#details.clear();
    this.status = this.mark = this.id = this.zone = this.replyZone = this.#timeout = this.#use = 0;
    this.#state = this.#originalTag = this.#replyTag = -1;
  }

  #readAttribute(scanner: AttributeScanner): void {
    switch (scanner.type) {
      case CTA.status:
        this.status = scanner.u32be();
        break;
      case CTA.timeout:
        this.#timeout = scanner.u32be();
        break;
      case CTA.mark:
        this.mark = scanner.u32be();
        break;
      case CTA.id:
        this.id = scanner.u32be();
        break;
      case CTA.use:
        this.#use = scanner.u32be();
        break;
      case CTA.protocolInfo:
        this.#readProtocolInfo(scanner);
        break;
      case CTA.zone: // of both directions
        this.zone = this.replyZone = scanner.u16be();
        break;
      default:
        this.#details.read(scanner);
    }
  }

  #readProtocolInfo(scanner: AttributeScanner): void {
    const { end } = scanner;
    for (let at = scanner.start; at < end; ) {
      at = scanner.enter(at, end);
      if (scanner.type === CTA_INFO.tcp) this.#readTcp(scanner);
      else if (scanner.type === CTA_INFO.sctp) this.#readSctp(scanner);
    }
  }

  #readTcp(scanner: AttributeScanner): void {
    const { end } = scanner;
    for (let at = scanner.start; at < end; ) {
      at = scanner.enter(at, end);
      if (scanner.type === CTA_TCP.state) this.#state = scanner.u8();
    }
  }

  #readSctp(scanner: AttributeScanner): void {
    const { end } = scanner;
    for (let at = scanner.start; at < end; ) {
      at = scanner.enter(at, end);
      if (scanner.type === CTA_SCTP.state) this.#state = scanner.u8();
      else if (scanner.type === CTA_SCTP.originalTag) this.#originalTag = scanner.u32be();
      else if (scanner.type === CTA_SCTP.replyTag) this.#replyTag = scanner.u32be();
    }
  }
}

/** Reads the first flow of an answer; undefined if it has none. */
export function firstFlow(answer: Uint8Array, operation: string): FlowReader | undefined {
  const reader = new FlowReader(answer, operation);
  return reader.next() ? reader : undefined;
}
