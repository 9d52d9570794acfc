// The tuple of TCP or UDP over IPv4 as kernels write it: its attributes always have these places, which are compared at once instead of
// one after another. Most flows have such tuples.
import { HOST_IS_LITTLE } from '../../shared/wire/messages.js';
import { CTA_IP, CTA_PROTO, CTA_TUPLE } from '../numbers.js';

const NESTED = 0x8000; // NLA_F_NESTED

/** struct nlattr as a number of 32 bits in the machine's byte order. */
function header(length: number, type: number): number {
  return (HOST_IS_LITTLE ? length | (type << 16) : (length << 16) | type) >>> 0;
}

/** Places within the value of the tuple, in bytes, and its size. */
export const USUAL = {
  source: 8,
  destination: 16,
  protocol: 28,
  sourcePort: 36,
  destinationPort: 44,
  SIZE: 48,
} as const;

const ADDRESSES = header(20, CTA_TUPLE.addresses | NESTED);
const SOURCE = header(8, CTA_IP.source4);
const DESTINATION = header(8, CTA_IP.destination4);
const PROTOCOL = header(28, CTA_TUPLE.protocol | NESTED);
const NUMBER = header(5, CTA_PROTO.number);
const SOURCE_PORT = header(6, CTA_PROTO.sourcePort);
const DESTINATION_PORT = header(6, CTA_PROTO.destinationPort);

/** Whether the value of a tuple, of `USUAL.SIZE` bytes from `at` on, is a usual one. */
export function isUsual(view: DataView, at: number): boolean {
  return (
    view.getUint32(at, HOST_IS_LITTLE) === ADDRESSES &&
    view.getUint32(at + 4, HOST_IS_LITTLE) === SOURCE &&
    view.getUint32(at + 12, HOST_IS_LITTLE) === DESTINATION &&
    view.getUint32(at + 20, HOST_IS_LITTLE) === PROTOCOL &&
    view.getUint32(at + 24, HOST_IS_LITTLE) === NUMBER &&
    view.getUint32(at + 32, HOST_IS_LITTLE) === SOURCE_PORT &&
    view.getUint32(at + 40, HOST_IS_LITTLE) === DESTINATION_PORT
  );
}
