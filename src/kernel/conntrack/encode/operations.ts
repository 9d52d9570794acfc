// Operations on flows → messages.
import { argumentError } from '../../shared/arguments.js';
import { Checker } from '../../shared/checker.js';
import { CTA, FLAG, MESSAGE, PROTOCOL } from '../numbers.js';
import { CheckedTuple, inverted, LARGEST_U16, LARGEST_U32 } from '../tuples.js';
import type { FlowChanges, FlowId, FlowOperation, NewFlow } from '../types.js';
import type { MessageWriter } from './message.js';
import { type FlowName, putName } from './requests.js';
import { putLabelChanges, putMark, putNewLabels, putSettings, putTranslation } from './settings.js';

/** Numbers of the operations, for their names. */
const VERBS: Readonly<Record<FlowOperation['do'], number>> = { addFlow: 1, updateFlow: 2, deleteFlow: 3 };

const SETTINGS = ['timeout', 'status', 'mark', 'labels', 'helper', 'tcpState', 'sctp'];
const CHANGES: ReadonlySet<string> = new Set([...SETTINGS, 'addLabels', 'removeLabels']);
const NEW_FLOW_FIELDS: ReadonlySet<string> = new Set([
  ...SETTINGS,
  ...['protocol', 'original', 'reply', 'zone', 'replyZone', 'sourceNat', 'destinationNat', 'master'],
]);
// A flow that was listed names itself.
const FLOW_ID_FIELDS: ReadonlySet<string> = new Set([
  ...['family', 'protocol', 'original', 'reply', 'zone', 'replyZone', 'id', 'status', 'mark', 'timeout'],
  ...['use', 'tcpState', 'sctp', 'counters', 'start', 'stop', 'labels', 'helper', 'secctx', 'master'],
]);
const OPERATION_FIELDS = {
  addFlow: new Set(['do', 'flow']),
  updateFlow: new Set(['do', 'flow', 'changes']),
  deleteFlow: new Set(['do', 'flow']),
} as const satisfies Record<FlowOperation['do'], ReadonlySet<string>>;
const MASTER_FIELDS: ReadonlySet<string> = new Set(['protocol', 'original']);

/** What must be known of a flow before the update of it is sent. */
export interface LookUp {
  readonly name: FlowName;
  /** Place of the status in the messages, -1 if it is not set. */
  readonly statusAt: number;
}

// One operation is written after another.
const original = new CheckedTuple();
const reply = new CheckedTuple();
const owner = new CheckedTuple();

/**
 * Writes the message of an operation; of one that breaks a rule, the message has no meaning. Returns what must be looked up before it is
 * sent: an update does not compare the id, and must not clear a bit of the status (EBUSY).
 */
export function putOperation(
  operation: FlowOperation | undefined,
  writer: MessageWriter,
  check: Checker,
): LookUp | undefined {
  if (!check.isObject('operation', operation)) return undefined;
  const verb = check.choice('do', operation.do, VERBS);
  if (verb === 0) return undefined;
  check.onlyFields('', operation, OPERATION_FIELDS[operation.do], `the operation ${operation.do}`);
  if (operation.do === 'addFlow') {
    putNewFlow(operation.flow, writer, check);
    return undefined;
  }
  if (operation.do === 'updateFlow') return putUpdate(operation.flow, operation.changes, writer, check);
  putDeletion(operation.flow, writer, check);
  return undefined;
}

/** Takes what names a flow. */
function nameOf(flow: FlowId, tuple: CheckedTuple, check: Checker): FlowName {
  const nothing = { protocol: 0, original: tuple, zone: 0, id: 0 };
  if (!check.isObject('flow', flow)) return nothing;
  check.onlyFields('', flow, FLOW_ID_FIELDS, 'a flow');
  const { zone = 0, id = 0 } = flow;
  const protocol = check.protocol('protocol', flow.protocol);
  return {
    protocol,
    zone: check.integer('zone', zone, 0, LARGEST_U16),
    id: check.integer('id', id, 0, LARGEST_U32),
    original: tuple.take('original', flow.original, protocol, check),
  };
}

/** What names a flow; throws the error of the call when it is invalid. */
export function checkedName(flow: FlowId, operation: string): FlowName {
  const check = new Checker();
  const name = nameOf(flow, new CheckedTuple(), check);
  if (check.invalid) throw argumentError(operation, check.invalid);
  return name;
}

/** IPCTNL_MSG_CT_DELETE. Never without a tuple: the kernel would delete every flow. */
function putDeletion(flow: FlowId, writer: MessageWriter, check: Checker): void {
  const name = nameOf(flow, original, check);
  writer.message(MESSAGE.delete, 0, name.original.family);
  putName(name, writer);
  if (name.id !== 0) writer.attribute32(CTA.id, name.id);
  writer.finish();
}

/** IPCTNL_MSG_CT_NEW of a flow that exists. */
function putUpdate(
  flow: FlowId,
  changes: FlowChanges,
  writer: MessageWriter,
  check: Checker,
): LookUp | undefined {
  const tuple = new CheckedTuple(); // the look-up needs it later
  const name = nameOf(flow, tuple, check);
  writer.message(MESSAGE.new, 0, tuple.family);
  putName(name, writer);
  if (!check.object('changes', changes, CHANGES, 'the changes of a flow')) return undefined;
  const start = writer.length;
  const { statusAt } = putSettings(changes, name.protocol, writer, check);
  if (changes.mark !== undefined) putMark(changes.mark, writer, check);
  putLabelChanges(changes, writer, check);
  if (writer.length === start) check.fail('changes', changes, 'must name a field to change', true);
  writer.finish();
  return name.id !== 0 || statusAt >= 0 ? { name, statusAt } : undefined;
}

/** IPCTNL_MSG_CT_NEW of a new flow. */
function putNewFlow(flow: NewFlow, writer: MessageWriter, check: Checker): void {
  if (!check.isObject('flow', flow)) return;
  check.onlyFields('', flow, NEW_FLOW_FIELDS, 'a new flow');
  const protocol = check.protocol('protocol', flow.protocol);
  const { family } = original.take('original', flow.original, protocol, check);
  const answer = flow.reply === undefined ? inverted(flow.original, protocol) : flow.reply;
  reply.take('reply', answer, protocol, check, family);
  writer.message(MESSAGE.new, FLAG.create | FLAG.exclusive, family);
  putTuples(flow, protocol, writer, check);
  if (flow.timeout === undefined) check.fail('timeout', undefined, 'must be given', true);
  if (protocol === PROTOCOL.sctp && flow.sctp === undefined) {
    check.fail('sctp', undefined, 'must be given', true);
  }
  putSettings(flow, protocol, writer, check);
  if (flow.mark !== undefined) putMark(check.integer('mark', flow.mark, 0, LARGEST_U32), writer, check);
  if (flow.labels !== undefined) putNewLabels(flow.labels, writer, check);
  for (const nat of ['sourceNat', 'destinationNat'] as const) {
    if (flow[nat] !== undefined) putTranslation(nat, flow[nat], family, writer, check);
  }
  if (flow.master !== undefined) putMaster(flow.master, family, writer, check);
  writer.finish();
}

/** Both tuples, and the zone: that of one direction is part of its tuple, that of both is not. */
function putTuples(flow: NewFlow, protocol: number, writer: MessageWriter, check: Checker): void {
  const { zone = 0, replyZone = zone } = flow;
  const own = check.integer('zone', zone, 0, LARGEST_U16);
  const other = check.integer('replyZone', replyZone, 0, LARGEST_U16);
  if (Number.isInteger(zone) && zone !== 0 && replyZone !== 0 && zone !== replyZone) {
    check.fail('replyZone', replyZone, `must be 0 or the zone of the original direction, ${zone}`);
  }
  const both = own === other;
  const { family } = original;
  writer.tuple(CTA.original, family, protocol, original, both ? 0 : own);
  writer.tuple(CTA.reply, family, protocol, reply, both ? 0 : other);
  if (both && own !== 0) writer.attribute16(CTA.zone, own);
}

function putMaster(
  master: NonNullable<NewFlow['master']>,
  family: 4 | 6,
  writer: MessageWriter,
  check: Checker,
): void {
  if (!check.object('master', master, MASTER_FIELDS, 'a master')) return;
  const protocol = check.protocol('master.protocol', master.protocol);
  owner.take('master.original', master.original, protocol, check, family);
  writer.tuple(CTA.master, family, protocol, owner);
}
