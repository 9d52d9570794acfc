// Records of the addon → flows, events, expectations and statistics.
import { protocolOfNumber } from '../net/protocol.js';
import type { Reading } from '../shared/listing.js';
import { RecordReader } from '../shared/records/recordReader.js';
import { readLabels } from './fields.js';
import {
  CAPABILITIES,
  CPU,
  DETAILS,
  EVENT,
  EXPECTATION,
  FLOW,
  FLOW_FIELD,
  SETTING,
  STATISTICS,
} from './layouts.js';
import { sctpStateOf, statusNames, tcpStateOf } from './states.js';
import { readTuple } from './tuples.js';
import type {
  ConntrackCapabilities,
  ConntrackStatistics,
  CpuStatistics,
  Expectation,
  Flow,
  FlowEvent,
  FlowEventKind,
} from './types.js';

const { hasState, hasCounters, hasStart, hasStop, hasLabels, hasMaster, hasTags, hasDetails } =
  FLOW_FIELD.numbers;
const TCP = 6;

/** A flow while it is read. */
type Draft = { -readonly [Field in keyof Flow]: Flow[Field] };

/** Reads a listing. */
export function* readFlows(bytes: Uint8Array): Reading<Flow> {
  for (const reader = new RecordReader(bytes); reader.hasMore; ) yield readFlow(reader);
}

/** Reads one flow, and goes on to the next record. */
function readFlow(reader: RecordReader): Flow {
  const family = reader.u8(FLOW.family) === 6 ? 6 : 4;
  const number = reader.u8(FLOW.protocol);
  const fields = reader.u8(FLOW.fields);
  const flow: Draft = {
    family,
    protocol: protocolOfNumber(number) ?? number,
    original: readTuple(reader, FLOW.original, family, number),
    reply: readTuple(reader, FLOW.reply, family, number),
    zone: reader.u16(FLOW.zone),
    replyZone: reader.u16(FLOW.replyZone),
    id: reader.u32(FLOW.id),
    status: statusNames(reader.u32(FLOW.status)),
    mark: reader.u32(FLOW.mark),
    timeout: reader.u32(FLOW.timeout),
    use: reader.u32(FLOW.use),
  };
  const state = reader.u8(FLOW.state);
  if ((fields & hasState) !== 0 && number === TCP) flow.tcpState = tcpStateOf(state);
  reader.skip(FLOW.SIZE);
  if ((fields & hasDetails) !== 0) readDetails(reader, fields, state, flow);
  return flow;
}

function readDetails(reader: RecordReader, fields: number, state: number, flow: Draft): void {
  const has = (field: number) => (fields & field) !== 0;
  if (has(hasTags)) {
    const [originalTag, replyTag] = [reader.u32(DETAILS.originalTag), reader.u32(DETAILS.replyTag)];
    flow.sctp = { state: sctpStateOf(state), originalTag, replyTag };
  }
  if (has(hasCounters)) {
    flow.counters = {
      original: { packets: reader.u64(DETAILS.originalPackets), bytes: reader.u64(DETAILS.originalBytes) },
      reply: { packets: reader.u64(DETAILS.replyPackets), bytes: reader.u64(DETAILS.replyBytes) },
    };
  }
  if (has(hasStart)) flow.start = reader.u64(DETAILS.start);
  if (has(hasStop)) flow.stop = reader.u64(DETAILS.stop);
  if (has(hasLabels)) flow.labels = readLabels(reader, DETAILS.labels);
  const helper = reader.text(DETAILS.helper);
  if (helper !== '') flow.helper = helper;
  if (has(hasMaster)) {
    const number = reader.u8(DETAILS.masterProtocol);
    const original = readTuple(reader, DETAILS.master, flow.family, number);
    flow.master = { protocol: protocolOfNumber(number) ?? number, original };
  }
  const length = reader.u16(DETAILS.secctxLength);
  if (length > 0) flow.secctx = Buffer.from(reader.bytes(DETAILS.SIZE, length)).toString('utf8');
  reader.skip(DETAILS.SIZE + length);
}

const { numbers } = EVENT;
const EVENT_KINDS = new Map<number, FlowEventKind>([
  [numbers.new, 'new'],
  [numbers.update, 'update'],
  [numbers.destroy, 'destroy'],
]);

/** Reads the events of a watch. */
export function* readEvents(bytes: Uint8Array): Generator<FlowEvent, void> {
  for (const reader = new RecordReader(bytes); reader.hasMore; ) {
    const kind = EVENT_KINDS.get(reader.u8(FLOW.event));
    const flow = readFlow(reader);
    if (kind) yield { kind, flow };
  }
}

/** Reads a listing of expectations. */
export function* readExpectations(bytes: Uint8Array): Reading<Expectation> {
  for (const reader = new RecordReader(bytes); reader.hasMore; reader.skip(EXPECTATION.SIZE)) {
    const family = reader.u8(EXPECTATION.family) === 6 ? 6 : 4;
    const number = reader.u8(EXPECTATION.protocol);
    const master = reader.u8(EXPECTATION.masterProtocol);
    const helper = reader.text(EXPECTATION.helper);
    yield {
      family,
      protocol: protocolOfNumber(number) ?? number,
      original: readTuple(reader, EXPECTATION.tuple, family, number),
      mask: readTuple(reader, EXPECTATION.mask, family, number),
      master: {
        protocol: protocolOfNumber(master) ?? master,
        original: readTuple(reader, EXPECTATION.master, family, master),
      },
      zone: reader.u16(EXPECTATION.zone),
      id: reader.u32(EXPECTATION.id),
      timeout: reader.u32(EXPECTATION.timeout),
      flags: reader.u32(EXPECTATION.flags),
      class: reader.u32(EXPECTATION.policy),
      ...(helper === '' ? {} : { helper }),
    };
  }
}

/** Reads the numbers of the table and of each CPU. */
export function readStatistics(bytes: Uint8Array): ConntrackStatistics {
  const reader = new RecordReader(bytes);
  const entries = reader.u32(STATISTICS.entries);
  const maxEntries = reader.u32(STATISTICS.maxEntries) || undefined;
  const cpus: CpuStatistics[] = [];
  for (reader.skip(STATISTICS.SIZE); reader.hasMore; reader.skip(CPU.SIZE)) {
    cpus.push({
      cpu: reader.u16(CPU.cpu),
      found: reader.u32(CPU.found),
      invalid: reader.u32(CPU.invalid),
      insert: reader.u32(CPU.insert),
      insertFailed: reader.u32(CPU.insertFailed),
      drop: reader.u32(CPU.drop),
      earlyDrop: reader.u32(CPU.earlyDrop),
      error: reader.u32(CPU.error),
      searchRestart: reader.u32(CPU.searchRestart),
      clashResolve: reader.u32(CPU.clashResolve),
      chainTooLong: reader.u32(CPU.chainTooLong),
    });
  }
  return { entries, maxEntries, cpus };
}

/** Reads the capabilities. */
export function readCapabilities(bytes: Uint8Array): ConntrackCapabilities {
  const reader = new RecordReader(bytes);
  return {
    accounting: readSetting(reader.u8(CAPABILITIES.accounting)),
    timestamps: readSetting(reader.u8(CAPABILITIES.timestamps)),
    events: readSetting(reader.u8(CAPABILITIES.events)),
    zones: reader.u8(CAPABILITIES.zones) !== 0,
    deleteByFilter: reader.u8(CAPABILITIES.deleteByFilter) !== 0,
  };
}

function readSetting(state: number): boolean | undefined {
  return state === SETTING.numbers.unknown ? undefined : state === SETTING.numbers.on;
}
