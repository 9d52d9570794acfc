// Messages of conntrack, captured and written, and the rules that operations and filters break.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FlowReader } from '../../../src/kernel/conntrack/decode/flows.js';
import { FlowWriter } from '../../../src/kernel/conntrack/encode/batch.js';
import { MessageWriter } from '../../../src/kernel/conntrack/encode/message.js';
import type { Filter } from '../../../src/kernel/conntrack/filters.js';
import { CTA, MESSAGE, NETFILTER_HEADER } from '../../../src/kernel/conntrack/numbers.js';
import { filterOf } from '../../../src/kernel/conntrack/selections.js';
import type { Flow, FlowOperation, FlowSelection } from '../../../src/kernel/conntrack/types.js';
import { parseAddressAsIs } from '../../../src/kernel/net/address.js';
import { describeInvalid } from '../../../src/kernel/shared/arguments.js';
import { Checker } from '../../../src/kernel/shared/checker.js';
import { AttributeScanner } from '../../../src/kernel/shared/wire/attributeScanner.js';
import { MESSAGE_HEADER } from '../../../src/kernel/shared/wire/messages.js';
import { ROOT } from '../paths.js';

/** A flow, as it is listed. */
export const FLOW: Flow = {
  family: 4,
  protocol: 'udp',
  original: { source: '10.0.0.9', destination: '10.96.0.10', sourcePort: 0x1234, destinationPort: 53 },
  reply: { source: '10.0.0.1', destination: '10.0.0.9', sourcePort: 5353, destinationPort: 0x1234 },
  zone: 0x0102,
  replyZone: 0,
  id: 0x01020304,
  status: ['SEEN_REPLY', 'ASSURED', 'CONFIRMED', 'SRC_NAT_DONE', 'DST_NAT_DONE'],
  mark: 0xffffffff,
  timeout: 119,
  use: 2,
};

/** Messages that were captured, by the name of their file. */
export const capture = (name: string) =>
  new Uint8Array(readFileSync(join(ROOT, `test/native/captures/conntrack-${name}`)));

/** The flows in messages. */
export function flowsIn(messages: Uint8Array): Flow[] {
  const flows: Flow[] = [];
  for (const reader = new FlowReader(messages, 'conntrack.list'); reader.next(); ) flows.push(reader.flow());
  return flows;
}

/** The message of an operation, or the rule that it breaks. */
export function writtenOperation(operation: unknown): Uint8Array | string {
  const writer = new FlowWriter();
  const invalid = writer.write(operation as FlowOperation);
  return invalid ? describeInvalid(invalid) : new Uint8Array(writer.bytes());
}

/** As {@link writtenOperation}, of the deletion of a flow. */
export const writtenFlow = (flow: unknown) => writtenOperation({ do: 'deleteFlow', flow });

/** The filter of a selection, or the rule that it breaks. */
export function filtered(selection: unknown, toDelete = false): Filter | string {
  const check = new Checker();
  const filter = filterOf(selection as FlowSelection, toDelete, check);
  return check.invalid ? describeInvalid(check.invalid) : filter;
}

/** The value of the first attribute of this type in a message; undefined if it has none. */
export function attribute(message: Uint8Array | string, type: number): Uint8Array | undefined {
  if (typeof message === 'string') throw new Error(message);
  const scanner = new AttributeScanner(message, 'conntrack.list');
  const end = scanner.view.getUint32(0, true);
  for (let at = MESSAGE_HEADER + NETFILTER_HEADER; at < end; ) {
    at = scanner.enter(at, end);
    if (scanner.type === type) return message.slice(scanner.start, scanner.end);
  }
  return undefined;
}

/** The bytes as text. */
export const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex');

/** The ends and the numbers of a listed flow. */
export interface Listed {
  readonly family?: 4 | 6;
  readonly protocol?: number;
  readonly source?: string;
  readonly destination?: string;
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  readonly id?: number;
  /** Writes further attributes. */
  readonly more?: (writer: MessageWriter) => void;
}

/** The message of a flow without translation, as the kernel lists it. */
export function listedFlow(flow: Listed = {}): Uint8Array {
  const { family = 4, protocol = 17, id = 1, sourcePort = 4000, destinationPort = 53 } = flow;
  const own = family === 6 ? ['fd00::9', 'fd00::1'] : ['10.0.0.9', '10.96.0.10'];
  const bytes = (text: string | undefined) => parseAddressAsIs(text ?? '') ?? new Uint8Array();
  const [source, destination] = [bytes(flow.source ?? own[0]), bytes(flow.destination ?? own[1])];
  const writer = new MessageWriter().message(MESSAGE.new, 0, family);
  writer.tuple(CTA.original, family, protocol, { source, destination, sourcePort, destinationPort });
  const reply = { source: destination, destination: source };
  const ports = { sourcePort: destinationPort, destinationPort: sourcePort };
  writer.tuple(CTA.reply, family, protocol, { ...reply, ...ports }).attribute32(CTA.id, id);
  flow.more?.(writer);
  return new Uint8Array(writer.finish().written());
}
