// The tuple of TCP or UDP as kernels write it: its attributes always have the same places, which are compared at once instead of one
// after another. Most flows have such tuples.
import { HOST_IS_LITTLE } from '../../shared/wire/messages.js';
import { CTA_IP, CTA_PROTO, CTA_TUPLE } from '../numbers.js';

const NESTED = 0x8000; // NLA_F_NESTED

/** struct nlattr as a number of 32 bits in the machine's byte order. */
function header(length: number, type: number): number {
  return (HOST_IS_LITTLE ? length | (type << 16) : (length << 16) | type) >>> 0;
}

const PROTOCOL = header(28, CTA_TUPLE.protocol | NESTED);
const NUMBER = header(5, CTA_PROTO.number);
const SOURCE_PORT = header(6, CTA_PROTO.sourcePort);
const DESTINATION_PORT = header(6, CTA_PROTO.destinationPort);

/** The form of a tuple: places within its value, in bytes, and headers of attributes. */
export class UsualTuple {
  /** Bytes of the value. */
  readonly size: number;
  /** Places of the values of attributes. */
  readonly source = 8;
  readonly destination: number;
  readonly protocol: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly #addresses: number;
  readonly #source: number;
  readonly #destination: number;

  /** @param width bytes of an address */
  constructor(width: 4 | 16, source: number, destination: number) {
    this.destination = 12 + width;
    this.protocol = 20 + 2 * width;
    this.sourcePort = this.protocol + 8;
    this.destinationPort = this.protocol + 16;
    this.size = this.destinationPort + 4;
    this.#addresses = header(12 + 2 * width, CTA_TUPLE.addresses | NESTED);
    this.#source = header(4 + width, source);
    this.#destination = header(4 + width, destination);
  }

  /** Whether the value of `size` bytes from `at` on has this form. */
  isAt(view: DataView, at: number): boolean {
    return (
      view.getUint32(at, HOST_IS_LITTLE) === this.#addresses &&
      view.getUint32(at + 4, HOST_IS_LITTLE) === this.#source &&
      view.getUint32(at + this.destination - 4, HOST_IS_LITTLE) === this.#destination &&
      view.getUint32(at + this.protocol - 8, HOST_IS_LITTLE) === PROTOCOL &&
      view.getUint32(at + this.protocol - 4, HOST_IS_LITTLE) === NUMBER &&
      view.getUint32(at + this.sourcePort - 4, HOST_IS_LITTLE) === SOURCE_PORT &&
      view.getUint32(at + this.destinationPort - 4, HOST_IS_LITTLE) === DESTINATION_PORT
    );
  }
}

/** The form over IPv4. */
export const USUAL4 = new UsualTuple(4, CTA_IP.source4, CTA_IP.destination4);
/** The form over IPv6. */
export const USUAL6 = new UsualTuple(16, CTA_IP.source6, CTA_IP.destination6);
