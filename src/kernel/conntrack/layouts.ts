// The records of conntrack. `npm run task -- layouts` writes them to native/conntrack/layouts.h.
import { address, bits, codes, layout, nested, text, u8, u16, u32, u64 } from '../shared/records/layout.js';

/** Addresses and ports of the packets of one direction. Of ICMP: the identifier, and type × 256 + code. */
export const TUPLE = layout({ source: address, destination: address, sourcePort: u16, destinationPort: u16 });

/** The fields of a tuple that a filter compares. */
export const TUPLE_FIELD = bits('TupleField', {
  source: 1,
  destination: 2,
  sourcePort: 4,
  destinationPort: 8,
  icmpType: 16,
  icmpCode: 32,
});

/** The other fields that a filter compares. */
export const CONDITION = bits('Condition', {
  onMark: 1,
  onStatus: 2,
  onZone: 4,
  onReplyZone: 8,
  onLabels: 16,
});

/** The parts of a flow that not every flow has. */
export const FLOW_FIELD = bits('FlowField', {
  hasState: 1,
  hasCounters: 2,
  hasStart: 4,
  hasStop: 8,
  hasLabels: 16,
  hasMaster: 32,
  hasTags: 64,
  /** Whether {@link DETAILS} and a security context follow. */
  hasDetails: 128,
});

/** Kinds of events. */
export const EVENT = codes('FlowEvent', { none: 0, new: 1, update: 2, destroy: 3 });

/** Kinds of events that a watch reports. */
export const EVENT_KIND = bits('EventKind', { onNew: 1, onUpdate: 2, onDestroy: 4 });

/** A flow. */
export const FLOW = layout({
  /** 4 or 6. */
  family: u8,
  protocol: u8,
  /** Sum of {@link FLOW_FIELD}. */
  fields: u8,
  /** Of TCP or SCTP. */
  state: u8,
  zone: u16,
  replyZone: u16,
  /** 0 for any. */
  id: u32,
  status: u32,
  mark: u32,
  /** Time left, in seconds. */
  timeout: u32,
  use: u32,
  /** One of {@link EVENT}. */
  event: u8,
  original: nested(TUPLE),
  reply: nested(TUPLE),
});

/** What follows the record of a flow that has any of it. */
export const DETAILS = layout({
  originalPackets: u64,
  originalBytes: u64,
  replyPackets: u64,
  replyBytes: u64,
  /** Time, in ns since 1970. */
  start: u64,
  stop: u64,
  /** 128 labels, one bit each. */
  labels: address,
  originalTag: u32,
  replyTag: u32,
  /** NF_CT_HELPER_NAME_LEN. */
  helper: text(16),
  masterProtocol: u8,
  master: nested(TUPLE),
  /** Bytes of the security context that follows. */
  secctxLength: u16,
});

/** Addresses and ports to which NAT translates. */
export const TRANSLATION = layout({ first: address, last: address, firstPort: u16, lastPort: u16 });

/** The operations of a batch. */
export const VERB = codes('Verb', { addFlow: 1, updateFlow: 2, deleteFlow: 3 });

/** The fields that an addition or an update sets. */
export const GIVEN = bits('GivenField', {
  givesTimeout: 1,
  givesStatus: 2,
  givesMark: 4,
  givesLabels: 8,
  givesHelper: 16,
  givesState: 32,
  translatesSource: 64,
  translatesDestination: 128,
});

/** An operation. */
export const OPERATION = layout({
  verb: u8,
  /** Sum of {@link GIVEN}. */
  given: u8,
  markMask: u32,
  labelsMask: address,
  flow: nested(FLOW),
  details: nested(DETAILS),
  source: nested(TRANSLATION),
  destination: nested(TRANSLATION),
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
  /** Bits of each address that are compared. */
  originalSourcePrefix: u8,
  originalDestinationPrefix: u8,
  replySourcePrefix: u8,
  replyDestinationPrefix: u8,
  /** Sum of {@link CONDITION}. */
  conditions: u8,
  zone: u16,
  replyZone: u16,
  mark: u32,
  markMask: u32,
  status: u32,
  statusMask: u32,
  labels: address,
  original: nested(TUPLE),
  reply: nested(TUPLE),
});

/** Where flows are listed. */
export const TABLE = codes('Table', { conntrack: 0, dying: 1, unconfirmed: 2 });

/** How flows are listed. */
export const LISTING = layout({
  /** 1: a listing that is cut short has the flows read so far. */
  partial: u8,
  /** One of {@link TABLE}. */
  table: u8,
  /** 1: the counters of the listed flows are set to zero. */
  zeroCounters: u8,
});

/** An expectation. */
export const EXPECTATION = layout({
  family: u8,
  protocol: u8,
  masterProtocol: u8,
  zone: u16,
  id: u32,
  /** Time left, in seconds. */
  timeout: u32,
  flags: u32,
  policy: u32,
  tuple: nested(TUPLE),
  mask: nested(TUPLE),
  master: nested(TUPLE),
  helper: text(16),
});

/** The numbers of the whole table; records of {@link CPU} follow. */
export const STATISTICS = layout({ entries: u32, maxEntries: u32 });

/** Counters of one CPU. */
export const CPU = layout({
  cpu: u16,
  found: u32,
  invalid: u32,
  insert: u32,
  insertFailed: u32,
  drop: u32,
  earlyDrop: u32,
  error: u32,
  searchRestart: u32,
  clashResolve: u32,
  chainTooLong: u32,
});

/** What the kernel offers: 1 for each that it does. */
/** Whether a setting is on, in {@link CAPABILITIES}. */
export const SETTING = codes('SettingState', { off: 0, on: 1, unknown: 2 });

/** The first three are of {@link SETTING}, the others 1 or 0. */
export const CAPABILITIES = layout({
  accounting: u8,
  timestamps: u8,
  events: u8,
  zones: u8,
  deleteByFilter: u8,
});
