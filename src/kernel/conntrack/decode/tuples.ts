// The tuple of one direction, as it is in a message.
import { type Family, formatAddressAt } from '../../net/address.js';
import type { AttributeScanner } from '../../shared/wire/attributeScanner.js';
import { AF, CTA_IP, CTA_PROTO, CTA_TUPLE } from '../numbers.js';
import { isIcmp } from '../tuples.js';
import type { FlowTuple } from '../types.js';
import { USUAL4, USUAL6 } from './usualTuple.js';

/** Bits of the addresses that a tuple has. */
const SOURCE = 1;
const DESTINATION = 2;
const BOTH = SOURCE | DESTINATION;

/** The last address that was formatted, with its place and bytes: 0 for none. */
interface LastAddress {
  at: number;
  size: number;
  text: string;
}

/** A tuple that was read: places of its addresses in the bytes, and numbers. One object serves for all flows of a listing. */
export class ReadTuple {
  /** The place of the value of the attribute, and the place behind it. */
  start = 0;
  end = 0;
  /** Places of 4 or 16 bytes. */
  source = 0;
  destination = 0;
  /** The identifier, of ICMP. */
  sourcePort = 0;
  /** The type × 256 + the code, of ICMP, as in the kernel's union. */
  destinationPort = 0;
  /** `IPPROTO_…`, -1 if there is none. */
  protocol = -1;
  /** 0 if it has none of its own. */
  zone = 0;
  #four = 0;
  #six = 0;
  #icmpType = 0;
  #icmpCode = 0;
  readonly #lastSource: LastAddress = { at: 0, size: 0, text: '' };
  readonly #lastDestination: LastAddress = { at: 0, size: 0, text: '' };

  /** Reads the tuple in the current attribute. */
  read(scanner: AttributeScanner): void {
    const { start, end, view } = scanner;
    this.start = start;
    this.end = end;
    const usual = end - start === USUAL4.size ? USUAL4 : USUAL6;
    if (end - start !== usual.size || !usual.isAt(view, start)) {
      this.#readAny(scanner);
      return;
    }
    this.source = start + usual.source;
    this.destination = start + usual.destination;
    this.sourcePort = view.getUint16(start + usual.sourcePort);
    this.destinationPort = view.getUint16(start + usual.destinationPort);
    this.protocol = view.getUint8(start + usual.protocol);
    this.zone = 0;
    this.#four = usual === USUAL4 ? BOTH : 0;
    this.#six = usual === USUAL6 ? BOTH : 0;
  }

  #readAny(scanner: AttributeScanner): void {
    this.source = this.destination = this.sourcePort = this.destinationPort = this.zone = 0;
    this.#four = this.#six = 0;
    this.protocol = -1;
    const { end } = scanner;
    for (let at = scanner.start; at < end; ) {
      at = scanner.enter(at, end);
      if (scanner.type === CTA_TUPLE.addresses) this.#readAddresses(scanner);
      else if (scanner.type === CTA_TUPLE.protocol) this.#readProtocol(scanner);
      else if (scanner.type === CTA_TUPLE.zone) this.zone = scanner.u16be();
    }
  }

  /** Forgets what was read. */
  clear(): void {
    this.#four = this.#six = 0;
    this.protocol = -1;
    this.zone = 0;
  }

  /** Whether it has both addresses, of this family (`AF_…`), and a protocol. */
  isWhole(family: number): boolean {
    if (this.protocol < 0) return false;
    if (family === AF[4]) return this.#four === BOTH && this.#six === 0;
    return family === AF[6] && this.#six === BOTH && this.#four === 0;
  }

  /**
   * The tuple as a value. Most addresses are those of the tuple before, or of the other direction, `opposite`, whose value was made
   * first: their texts are shared, since to format an address takes longer than to compare it.
   */
  value(bytes: Uint8Array, family: Family, opposite: ReadTuple = this): FlowTuple {
    const size = family === 6 ? 16 : 4;
    const source = textAt(bytes, this.source, size, this.#lastSource, opposite.#lastDestination);
    const destination = textAt(bytes, this.destination, size, this.#lastDestination, opposite.#lastSource);
    const { sourcePort, destinationPort } = this;
    if (!isIcmp(this.protocol)) return { source, destination, sourcePort, destinationPort };
    const icmp = { type: destinationPort >> 8, code: destinationPort & 0xff, id: sourcePort };
    return { source, destination, sourcePort: 0, destinationPort: 0, icmp };
  }

  #readAddresses(scanner: AttributeScanner): void {
    const { end } = scanner;
    for (let at = scanner.start; at < end; ) {
      at = scanner.enter(at, end);
      switch (scanner.type) {
        case CTA_IP.source4:
          this.source = scanner.place(4);
          this.#four |= SOURCE;
          break;
        case CTA_IP.destination4:
          this.destination = scanner.place(4);
          this.#four |= DESTINATION;
          break;
        case CTA_IP.source6:
          this.source = scanner.place(16);
          this.#six |= SOURCE;
          break;
        case CTA_IP.destination6:
          this.destination = scanner.place(16);
          this.#six |= DESTINATION;
          break;
      }
    }
  }

  #readProtocol(scanner: AttributeScanner): void {
    this.#icmpType = this.#icmpCode = 0;
    let icmp = false;
    const { end } = scanner;
    for (let at = scanner.start; at < end; ) {
      at = scanner.enter(at, end);
      switch (scanner.type) {
        case CTA_PROTO.number:
          this.protocol = scanner.u8();
          break;
        case CTA_PROTO.sourcePort:
        case CTA_PROTO.icmpId:
        case CTA_PROTO.icmpv6Id:
          this.sourcePort = scanner.u16be();
          break;
        case CTA_PROTO.destinationPort:
          this.destinationPort = scanner.u16be();
          break;
        default:
          icmp = this.#readIcmp(scanner) || icmp;
      }
    }
    if (icmp) this.destinationPort = (this.#icmpType << 8) | this.#icmpCode;
  }

  /** Whether the attribute is of ICMP. */
  #readIcmp(scanner: AttributeScanner): boolean {
    switch (scanner.type) {
      case CTA_PROTO.icmpType:
      case CTA_PROTO.icmpv6Type:
        this.#icmpType = scanner.u8();
        return true;
      case CTA_PROTO.icmpCode:
      case CTA_PROTO.icmpv6Code:
        this.#icmpCode = scanner.u8();
        return true;
      default:
        return false;
    }
  }
}

/** The text of the address at a place, which may be that of one of two others. */
function textAt(bytes: Uint8Array, at: number, size: number, last: LastAddress, other: LastAddress): string {
  if (!isEqual(bytes, at, size, last)) {
    last.text = isEqual(bytes, at, size, other) ? other.text : formatAddressAt(bytes, at, size);
    last.size = size;
  }
  last.at = at;
  return last.text;
}

function isEqual(bytes: Uint8Array, at: number, size: number, last: LastAddress): boolean {
  if (last.size !== size) return false;
  // The last bytes of addresses differ most often.
  for (let i = size - 1; i >= 0; i--) if (bytes[at + i] !== bytes[last.at + i]) return false;
  return true;
}
