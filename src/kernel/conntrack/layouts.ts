// The records of conntrack. `npm run layouts` writes them to native/conntrack/layouts.h.
import { address, bits, layout, part, u8, u16, u32 } from '../layout.js';

/** Addresses and ports of the packets of one direction. */
export const TUPLE = layout({ source: address, destination: address, sourcePort: u16, destinationPort: u16 });

/** The fields of a tuple that a filter compares. */
export const TUPLE_FIELD = bits('TupleField', {
  source: 1,
  destination: 2,
  sourcePort: 4,
  destinationPort: 8,
});

/** A flow: an operation, which deletes it, has the fields that name it. */
export const FLOW = layout({
  /** 4 or 6. */
  family: u8,
  protocol: u8,
  zone: u16,
  /** 0 for any. */
  id: u32,
  status: u32,
  mark: u32,
  /** Time left, in seconds. */
  timeout: u32,
  original: part(TUPLE),
  reply: part(TUPLE),
});

/** A selection of flows. */
export const FILTER = layout({
  /** 4, 6, or 0 for both. */
  family: u8,
  /** 0 for any. */
  protocol: u8,
  /** Sum of {@link TUPLE_FIELD}. */
  originalFields: u8,
  replyFields: u8,
  original: part(TUPLE),
  reply: part(TUPLE),
});
