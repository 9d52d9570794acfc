// What an addition and an update of a flow set.
import type { Family } from '../../net/address.js';
import type { Checker } from '../../shared/checker.js';
import { EVERY_LABEL, labelBits, maskedMark, statusBits } from '../fields.js';
import {
  CONFIRMED,
  CTA,
  CTA_INFO,
  CTA_NAME,
  CTA_NAT,
  CTA_PORTS,
  CTA_SCTP,
  CTA_TCP,
  PROTOCOL,
} from '../numbers.js';
import { SCTP_STATES, TCP_STATES } from '../states.js';
import { LARGEST_U16, LARGEST_U32, takeAddress } from '../tuples.js';
import type { FlowChanges, FlowSettings, SctpInfo, Translation } from '../types.js';
import type { MessageWriter } from './message.js';

const NUMBER_OF_TCP_STATE = numbered(TCP_STATES);
const NUMBER_OF_SCTP_STATE = numbered(SCTP_STATES);

/** NF_CT_HELPER_NAME_LEN, without the zero. */
const LONGEST_HELPER = 15;
/** Bytes of a number of 32 bits in an attribute, behind the header of that. */
const ATTRIBUTE_32 = 4;

const SCTP_FIELDS: ReadonlySet<string> = new Set(['state', 'originalTag', 'replyTag']);
const TRANSLATION_FIELDS: ReadonlySet<string> = new Set(['address', 'lastAddress', 'port', 'lastPort']);

function numbered(names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(names.map((name, number) => [name, number]));
}

/** What was written of the settings. */
export interface WrittenSettings {
  readonly isEmpty: boolean;
  /** Place of the status in the messages, which is in network order; -1 if it is not set. */
  readonly statusAt: number;
}

/** Writes what additions and updates may set alike. */
export function putSettings(
  settings: FlowSettings,
  protocol: number,
  writer: MessageWriter,
  check: Checker,
): WrittenSettings {
  const { timeout, status, helper, tcpState, sctp } = settings;
  const start = writer.length;
  let statusAt = -1;
  if (timeout !== undefined) {
    writer.attribute32(CTA.timeout, check.integer('timeout', timeout, 0, LARGEST_U32));
  }
  if (status !== undefined) {
    writer.attribute32(CTA.status, (statusBits('status', status, check) | CONFIRMED) >>> 0);
    statusAt = writer.length - ATTRIBUTE_32;
  }
  if (helper !== undefined) putHelper(helper, writer, check);
  if (tcpState !== undefined) {
    if (protocol !== PROTOCOL.tcp) {
      check.fail('tcpState', tcpState, 'must be left out but for TCP', true);
    }
    const state = check.choice('tcpState', tcpState, NUMBER_OF_TCP_STATE);
    putInfo(CTA_INFO.tcp, writer, () => writer.attribute8(CTA_TCP.state, state));
  }
  if (sctp !== undefined) {
    if (protocol !== PROTOCOL.sctp) check.fail('sctp', sctp, 'must be left out but for SCTP', true);
    putSctp(sctp, writer, check);
  }
  return { isEmpty: writer.length === start, statusAt };
}

function putInfo(type: number, writer: MessageWriter, write: () => void): void {
  writer.nested(CTA.protocolInfo, () => writer.nested(type, write));
}

function putHelper(helper: string, writer: MessageWriter, check: Checker): void {
  const isName = typeof helper === 'string' && helper !== '' && !helper.includes('\0');
  if (!isName || Buffer.byteLength(helper) > LONGEST_HELPER) {
    const rule = `must be a name of 1 to ${LONGEST_HELPER} bytes`;
    check.fail('helper', helper, rule, typeof helper !== 'string');
    return;
  }
  writer.nested(CTA.help, () => writer.attributeBytes(CTA_NAME, Buffer.from(`${helper}\0`)));
}

/** The kernel wants the state and both tags. */
function putSctp(sctp: SctpInfo, writer: MessageWriter, check: Checker): void {
  if (!check.object('sctp', sctp, SCTP_FIELDS, 'the state of SCTP')) return;
  const state = check.choice('sctp.state', sctp.state, NUMBER_OF_SCTP_STATE);
  const originalTag = check.integer('sctp.originalTag', sctp.originalTag, 0, LARGEST_U32);
  const replyTag = check.integer('sctp.replyTag', sctp.replyTag, 0, LARGEST_U32);
  putInfo(CTA_INFO.sctp, writer, () =>
    writer
      .attribute8(CTA_SCTP.state, state)
      .attribute32(CTA_SCTP.originalTag, originalTag)
      .attribute32(CTA_SCTP.replyTag, replyTag),
  );
}

/** Writes a mark, or some of its bits. */
export function putMark(mark: NonNullable<FlowChanges['mark']>, writer: MessageWriter, check: Checker): void {
  const { value, mask } = maskedMark('mark', mark, check);
  writer.attribute32(CTA.mark, value).attribute32(CTA.markMask, mask);
}

/** Writes labels that replace all labels. */
export function putNewLabels(labels: readonly number[], writer: MessageWriter, check: Checker): void {
  const bits = labelBits('labels', labels, check);
  writer.attributeBytes(CTA.labels, bits).attributeBytes(CTA.labelsMask, EVERY_LABEL);
}

/** Writes labels that replace all or some labels, if there are any. */
export function putLabelChanges(
  { labels, addLabels, removeLabels }: FlowChanges,
  writer: MessageWriter,
  check: Checker,
): void {
  const partly = addLabels !== undefined || removeLabels !== undefined;
  if (labels !== undefined) {
    if (partly) check.fail('labels', labels, 'must be left out with addLabels or removeLabels', true);
    putNewLabels(labels, writer, check);
    return;
  }
  if (!partly) return;
  const added = addLabels === undefined ? [] : addLabels;
  const bits = labelBits('addLabels', added, check);
  const mask = labelBits('removeLabels', removeLabels === undefined ? [] : removeLabels, check);
  if (Array.isArray(removeLabels) && Array.isArray(added)) {
    const both = removeLabels.find((label) => added.includes(label));
    if (both !== undefined) check.fail('removeLabels', both, 'must have no label that addLabels has');
  }
  for (const [i, byte] of bits.entries()) mask[i] = (mask[i] ?? 0) | byte;
  writer.attributeBytes(CTA.labels, bits).attributeBytes(CTA.labelsMask, mask);
}

const first = Buffer.alloc(16);
const last = Buffer.alloc(16);

/** Writes a translation of NAT (`CTA_NAT_SRC`, `CTA_NAT_DST`). */
export function putTranslation(
  path: 'sourceNat' | 'destinationNat',
  translation: Translation,
  family: Family,
  writer: MessageWriter,
  check: Checker,
): void {
  if (!check.object(path, translation, TRANSLATION_FIELDS, 'a translation')) return;
  const { address, lastAddress = address, port, lastPort = port } = translation;
  takeAddress(`${path}.address`, address, first, check, family);
  takeAddress(`${path}.lastAddress`, lastAddress, last, check, family);
  const hasPorts = port !== undefined || lastPort !== undefined;
  const firstPort = hasPorts ? check.integer(`${path}.port`, port, 1, LARGEST_U16) : 0;
  const endPort = hasPorts ? check.integer(`${path}.lastPort`, lastPort, firstPort, LARGEST_U16) : 0;
  const size = family === 6 ? 16 : 4;
  writer.nested(CTA[path], () => {
    writer.attributeBytes(family === 6 ? CTA_NAT.first6 : CTA_NAT.first4, first.subarray(0, size));
    writer.attributeBytes(family === 6 ? CTA_NAT.last6 : CTA_NAT.last4, last.subarray(0, size));
    if (!hasPorts) return;
    writer.nested(CTA_NAT.ports, () =>
      writer.attribute16(CTA_PORTS.first, firstPort).attribute16(CTA_PORTS.last, endPort),
    );
  });
}
