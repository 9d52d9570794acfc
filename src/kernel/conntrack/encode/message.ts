// Messages of ctnetlink, one after another, as the addon takes them: struct nlmsghdr, nfgenmsg, attributes.
import type { Family } from '../../net/address.js';
import { ByteWriter } from '../../shared/wire/byteWriter.js';
import { AF, CTA_IP, CTA_PROTO, CTA_TUPLE, PROTOCOL } from '../numbers.js';
import { isIcmp } from '../tuples.js';

/** `NLA_F_NESTED` */
export const NESTED = 0x8000;

/** A tuple, or a part of one: the fields that are undefined are left out. */
export interface WrittenTuple {
  /** 4 or 16 bytes; more of an IPv4 address have no meaning. */
  readonly source?: Uint8Array | undefined;
  readonly destination?: Uint8Array | undefined;
  readonly sourcePort?: number | undefined;
  readonly destinationPort?: number | undefined;
}

/** Writes messages. Values are not checked. */
export class MessageWriter extends ByteWriter {
  #start = 0;

  /** Begins a message of this type with `NLM_F_…` beside NLM_F_REQUEST. The addon fills in its sequence number. */
  message(type: number, flags: number, family: Family | 0): this {
    this.#start = this.length;
    return this.u32(0).u16(type).u16(flags).u32(0).u32(0).u8(AF[family]).u8(0).u16be(0);
  }

  /** Ends the message. */
  finish(): this {
    return this.patch32(this.#start, this.length - this.#start);
  }

  /** An attribute of 8 bits. */
  attribute8(type: number, value: number): this {
    const start = this.begin(type);
    this.u8(value).end(start);
    return this;
  }

  /** An attribute of 16 bits in network order. */
  attribute16(type: number, value: number): this {
    const start = this.begin(type);
    this.u16be(value).end(start);
    return this;
  }

  /** An attribute of 32 bits in network order. */
  attribute32(type: number, value: number): this {
    const start = this.begin(type);
    this.u32be(value).end(start);
    return this;
  }

  /** An attribute of bytes. */
  attributeBytes(type: number, value: Uint8Array): this {
    const start = this.begin(type);
    this.bytes(value).end(start);
    return this;
  }

  /** An attribute of the attributes that `write` writes. */
  nested(type: number, write: () => void): this {
    this.put(type | NESTED, write);
    return this;
  }

  /** A whole tuple, with the zone of its direction unless that is 0. */
  tuple(type: number, family: Family, protocol: number, tuple: WrittenTuple, zone = 0): this {
    const start = this.begin(type | NESTED);
    this.addresses(family, tuple).protocol(protocol, tuple);
    if (zone !== 0) this.attribute16(CTA_TUPLE.zone, zone);
    this.end(start);
    return this;
  }

  /** The addresses of a tuple (`CTA_TUPLE_IP`). */
  addresses(family: Family, { source, destination }: WrittenTuple): this {
    const isSix = family === 6;
    const start = this.begin(CTA_TUPLE.addresses | NESTED);
    if (source) this.#address(isSix ? CTA_IP.source6 : CTA_IP.source4, family, source);
    if (destination) this.#address(isSix ? CTA_IP.destination6 : CTA_IP.destination4, family, destination);
    this.end(start);
    return this;
  }

  /** The protocol and the ports of a tuple (`CTA_TUPLE_PROTO`). */
  protocol(protocol: number, { sourcePort, destinationPort }: WrittenTuple): this {
    const start = this.begin(CTA_TUPLE.protocol | NESTED);
    this.attribute8(CTA_PROTO.number, protocol);
    if (isIcmp(protocol)) this.#icmp(protocol, sourcePort, destinationPort);
    else {
      if (sourcePort !== undefined) this.attribute16(CTA_PROTO.sourcePort, sourcePort);
      if (destinationPort !== undefined) this.attribute16(CTA_PROTO.destinationPort, destinationPort);
    }
    this.end(start);
    return this;
  }

  /** An address as an attribute of a NAT range or a tuple. */
  #address(type: number, family: Family, bytes: Uint8Array): void {
    this.attributeBytes(type, family === 6 ? bytes : bytes.subarray(0, 4));
  }

  #icmp(protocol: number, id: number | undefined, kind: number | undefined): void {
    const isSix = protocol === PROTOCOL.icmpv6;
    if (kind !== undefined) {
      this.attribute8(isSix ? CTA_PROTO.icmpv6Code : CTA_PROTO.icmpCode, kind & 0xff);
      this.attribute8(isSix ? CTA_PROTO.icmpv6Type : CTA_PROTO.icmpType, kind >> 8);
    }
    if (id !== undefined) this.attribute16(isSix ? CTA_PROTO.icmpv6Id : CTA_PROTO.icmpId, id);
  }
}
