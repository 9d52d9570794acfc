// Operations → the records that cross to the addon.
import { onlyRecord, RecordWriter } from '../shared/records/recordWriter.js';
import { maskedMark, statusBits, writeEveryLabel, writeLabels } from './fields.js';
import { DETAILS, FLOW, FLOW_FIELD, GIVEN, OPERATION, TRANSLATION, VERB } from './layouts.js';
import { SCTP_STATES, TCP_STATES } from './states.js';
import { inverted, LARGEST_U16, LARGEST_U32, writeAddress, writeTuple } from './tuples.js';
import type {
  FlowChanges,
  FlowId,
  FlowOperation,
  FlowSettings,
  NewFlow,
  SctpInfo,
  Translation,
} from './types.js';

const VERBS = VERB.numbers;
const {
  givesTimeout,
  givesStatus,
  givesMark,
  givesLabels,
  givesHelper,
  givesState,
  translatesSource,
  translatesDestination,
} = GIVEN.numbers;
const { hasDetails, hasMaster } = FLOW_FIELD.numbers;

const TCP = 6;
const SCTP = 132;
const NUMBER_OF_TCP_STATE = numbered(TCP_STATES);
const NUMBER_OF_SCTP_STATE = numbered(SCTP_STATES);

const SETTINGS = ['timeout', 'status', 'mark', 'labels', 'helper', 'tcpState', 'sctp'];
const CHANGES: ReadonlySet<string> = new Set([...SETTINGS, 'addLabels', 'removeLabels']);
const NEW_FLOW_FIELDS: ReadonlySet<string> = new Set([
  ...SETTINGS,
  ...['protocol', 'original', 'reply', 'zone', 'replyZone', 'sourceNat', 'destinationNat', 'master'],
]);
// A flow that was listed names itself.
const FLOW_ID_FIELDS: ReadonlySet<string> = new Set([
  ...[
    'family',
    'protocol',
    'original',
    'reply',
    'zone',
    'replyZone',
    'id',
    'status',
    'mark',
    'timeout',
    'use',
  ],
  ...['tcpState', 'sctp', 'counters', 'start', 'stop', 'labels', 'helper', 'secctx', 'master'],
]);
const OPERATION_FIELDS = {
  addFlow: new Set(['do', 'flow']),
  updateFlow: new Set(['do', 'flow', 'changes']),
  deleteFlow: new Set(['do', 'flow']),
} as const satisfies Record<FlowOperation['do'], ReadonlySet<string>>;
const SCTP_FIELDS: ReadonlySet<string> = new Set(['state', 'originalTag', 'replyTag']);
const MASTER_FIELDS: ReadonlySet<string> = new Set(['protocol', 'original']);
const TRANSLATION_FIELDS: ReadonlySet<string> = new Set(['address', 'lastAddress', 'port', 'lastPort']);

function numbered(names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(names.map((name, number) => [name, number]));
}

/** Writes an operation. */
export function writeOperation(operation: FlowOperation | undefined, writer: RecordWriter): void {
  if (!writer.isObject('operation', operation)) return;
  const verb = writer.choice('do', operation.do, VERBS);
  if (verb === 0) return;
  writer.u8(OPERATION.verb, verb);
  writer.onlyFields('', operation, OPERATION_FIELDS[operation.do], `the operation ${operation.do}`);
  if (operation.do === 'addFlow') {
    writeNewFlow(operation.flow, writer);
    return;
  }
  const protocol = writeName(operation.flow, writer);
  if (operation.do === 'updateFlow') writeChanges(operation.changes, protocol, writer);
}

/** The record that names a flow; throws the error of the call when the name is invalid. */
export function packName(flow: FlowId, operation: string): Uint8Array {
  const writer = new RecordWriter(OPERATION.SIZE, 1);
  writeName(flow, writer);
  return onlyRecord(writer, operation);
}

/** Writes the fields that name a flow; returns its protocol. */
function writeName(flow: FlowId, writer: RecordWriter): number {
  const part = OPERATION.flow;
  if (!writer.isObject('flow', flow)) return 0;
  writer.onlyFields('', flow, FLOW_ID_FIELDS, 'a flow');
  const { zone = 0, id = 0 } = flow;
  const protocol = writer.protocol('protocol', flow.protocol);
  writer.u8(FLOW.protocol, protocol, part);
  writer.u16(FLOW.zone, writer.integer('zone', zone, 0, LARGEST_U16), part);
  writer.u32(FLOW.id, writer.integer('id', id, 0, LARGEST_U32), part);
  writer.u8(FLOW.family, writeTuple('original', flow.original, protocol, part + FLOW.original, writer), part);
  return protocol;
}

function writeNewFlow(flow: NewFlow, writer: RecordWriter): void {
  if (!writer.isObject('flow', flow)) return;
  writer.onlyFields('', flow, NEW_FLOW_FIELDS, 'a new flow');
  const part = OPERATION.flow;
  const protocol = writer.protocol('protocol', flow.protocol);
  writer.u8(FLOW.protocol, protocol, part);
  const family = writeTuple('original', flow.original, protocol, part + FLOW.original, writer);
  writer.u8(FLOW.family, family, part);
  const reply = flow.reply === undefined ? inverted(flow.original, protocol) : flow.reply;
  writeTuple('reply', reply, protocol, part + FLOW.reply, writer, family);
  writeZones(flow, writer);
  if (flow.timeout === undefined) writer.fail('timeout', undefined, 'must be given', true);
  if (protocol === SCTP && flow.sctp === undefined) writer.fail('sctp', undefined, 'must be given', true);
  let given = writeSettings(flow, protocol, writer);
  let fields = hasDetails;
  if (flow.mark !== undefined) {
    writer.u32(FLOW.mark, writer.integer('mark', flow.mark, 0, LARGEST_U32), part);
    writer.u32(OPERATION.markMask, LARGEST_U32);
    given |= givesMark;
  }
  if (flow.labels !== undefined) given |= writeNewLabels(flow.labels, writer);
  if (flow.sourceNat !== undefined) {
    writeTranslation('sourceNat', flow.sourceNat, family, OPERATION.source, writer);
    given |= translatesSource;
  }
  if (flow.destinationNat !== undefined) {
    writeTranslation('destinationNat', flow.destinationNat, family, OPERATION.destination, writer);
    given |= translatesDestination;
  }
  if (flow.master !== undefined) {
    writeMaster(flow.master, family, writer);
    fields |= hasMaster;
  }
  writer.u8(FLOW.fields, fields, part);
  writer.u8(OPERATION.given, given);
}

function writeZones({ zone = 0, replyZone = zone }: NewFlow, writer: RecordWriter): void {
  writer.u16(FLOW.zone, writer.integer('zone', zone, 0, LARGEST_U16), OPERATION.flow);
  writer.u16(FLOW.replyZone, writer.integer('replyZone', replyZone, 0, LARGEST_U16), OPERATION.flow);
  if (Number.isInteger(zone) && zone !== 0 && replyZone !== 0 && zone !== replyZone) {
    writer.fail('replyZone', replyZone, `must be 0 or the zone of the original direction, ${zone}`);
  }
}

function writeChanges(changes: FlowChanges, protocol: number, writer: RecordWriter): void {
  if (!writer.object('changes', changes, CHANGES, 'the changes of a flow')) return;
  let given = writeSettings(changes, protocol, writer);
  if (changes.mark !== undefined) {
    const { value, mask } = maskedMark('mark', changes.mark, writer);
    writer.u32(FLOW.mark, value, OPERATION.flow);
    writer.u32(OPERATION.markMask, mask);
    given |= givesMark;
  }
  given |= writeLabelChanges(changes, writer);
  if (given === 0) writer.fail('changes', changes, 'must name a field to change', true);
  writer.u8(FLOW.fields, hasDetails, OPERATION.flow);
  writer.u8(OPERATION.given, given);
}

function writeLabelChanges({ labels, addLabels, removeLabels }: FlowChanges, writer: RecordWriter): number {
  const partly = addLabels !== undefined || removeLabels !== undefined;
  if (labels !== undefined) {
    if (partly) writer.fail('labels', labels, 'must be left out with addLabels or removeLabels', true);
    return writeNewLabels(labels, writer);
  }
  if (!partly) return 0;
  const added = addLabels === undefined ? [] : addLabels;
  writeLabels('addLabels', added, DETAILS.labels, writer, OPERATION.details);
  if (Array.isArray(removeLabels) && Array.isArray(added)) {
    const both = removeLabels.find((label) => added.includes(label));
    if (both !== undefined) writer.fail('removeLabels', both, 'must have no label that addLabels has');
    writeLabels('removeLabels', [...added, ...removeLabels], OPERATION.labelsMask, writer);
  } else {
    writeLabels(
      'removeLabels',
      removeLabels === undefined ? added : removeLabels,
      OPERATION.labelsMask,
      writer,
    );
  }
  return givesLabels;
}

/** Labels that replace all labels. */
function writeNewLabels(labels: readonly number[], writer: RecordWriter): number {
  writeLabels('labels', labels, DETAILS.labels, writer, OPERATION.details);
  writeEveryLabel(OPERATION.labelsMask, writer);
  return givesLabels;
}

/** Returns the sum of the bits of what is given. */
function writeSettings(settings: FlowSettings, protocol: number, writer: RecordWriter): number {
  const { timeout, status, helper, tcpState, sctp } = settings;
  const part = OPERATION.flow;
  let given = 0;
  if (timeout !== undefined) {
    writer.u32(FLOW.timeout, writer.integer('timeout', timeout, 0, LARGEST_U32), part);
    given |= givesTimeout;
  }
  if (status !== undefined) {
    writer.u32(FLOW.status, statusBits('status', status, writer), part);
    given |= givesStatus;
  }
  if (helper !== undefined) {
    writer.text('helper', helper, DETAILS.helper, OPERATION.details);
    given |= givesHelper;
  }
  if (tcpState !== undefined) {
    if (protocol !== TCP) writer.fail('tcpState', tcpState, 'must be left out but for TCP', true);
    writer.u8(FLOW.state, writer.choice('tcpState', tcpState, NUMBER_OF_TCP_STATE), part);
    given |= givesState;
  }
  if (sctp !== undefined) {
    if (protocol !== SCTP) writer.fail('sctp', sctp, 'must be left out but for SCTP', true);
    writeSctp(sctp, writer);
    given |= givesState;
  }
  return given;
}

function writeSctp(sctp: SctpInfo, writer: RecordWriter): void {
  if (!writer.object('sctp', sctp, SCTP_FIELDS, 'the state of SCTP')) return;
  writer.u8(FLOW.state, writer.choice('sctp.state', sctp.state, NUMBER_OF_SCTP_STATE), OPERATION.flow);
  for (const tag of ['originalTag', 'replyTag'] as const) {
    writer.u32(DETAILS[tag], writer.integer(`sctp.${tag}`, sctp[tag], 0, LARGEST_U32), OPERATION.details);
  }
}

function writeMaster(master: NonNullable<NewFlow['master']>, family: 4 | 6, writer: RecordWriter): void {
  if (!writer.object('master', master, MASTER_FIELDS, 'a master')) return;
  const protocol = writer.protocol('master.protocol', master.protocol);
  writer.u8(DETAILS.masterProtocol, protocol, OPERATION.details);
  const part = OPERATION.details + DETAILS.master;
  writeTuple('master.original', master.original, protocol, part, writer, family);
}

function writeTranslation(
  path: string,
  translation: Translation,
  family: 4 | 6,
  part: number,
  writer: RecordWriter,
): void {
  if (!writer.object(path, translation, TRANSLATION_FIELDS, 'a translation')) return;
  const { address, lastAddress = address, port, lastPort = port } = translation;
  writeAddress(`${path}.address`, address, TRANSLATION.first, family, part, writer);
  writeAddress(`${path}.lastAddress`, lastAddress, TRANSLATION.last, family, part, writer);
  if (port === undefined && lastPort === undefined) return;
  const first = writer.integer(`${path}.port`, port, 1, LARGEST_U16);
  writer.u16(TRANSLATION.firstPort, first, part);
  writer.u16(TRANSLATION.lastPort, writer.integer(`${path}.lastPort`, lastPort, first, LARGEST_U16), part);
}
