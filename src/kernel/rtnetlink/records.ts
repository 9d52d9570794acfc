// Operations and events ↔ the records that cross to the addon.
import { RecordReader } from '../shared/records/recordReader.js';
import type { RecordWriter } from '../shared/records/recordWriter.js';
import { encodeAddress, readAddress } from './addresses/codec.js';
import { encodeBridgeVlan } from './bridgeVlans/codec.js';
import { encodeForwardingEntry, readForwardingEntry } from './forwarding/codec.js';
import { EVENT, EVENT_KIND, LINK_NAME, OPERATION } from './layouts.js';
import { readLink } from './links/read.js';
import { encodeAlternativeName, encodeDeleteLink, encodeNewLink, encodeSettings } from './links/write.js';
import { type Message, type MessageWriter, messagesOf } from './message.js';
import { encodeNamespaceId } from './namespaces/codec.js';
import { encodeNeighbour, readNeighbour } from './neighbours/codec.js';
import { encodeNextHop } from './nexthops/codec.js';
import { readRoute } from './routes/read.js';
import { encodeRoute } from './routes/write.js';
import { encodeRule, readRule } from './rules/codec.js';
import type { RtnetlinkEvent, RtnetlinkEventKind, RtnetlinkOperation } from './types.js';

/** The fields of each operation beside `do`. */
const FIELDS: Readonly<Record<RtnetlinkOperation['do'], readonly string[]>> = {
  addLink: ['name', 'kind', 'settings'],
  setLink: ['link', 'settings'],
  deleteLink: ['link', 'name'],
  addAlternativeName: ['link', 'name'],
  deleteAlternativeName: ['link', 'name'],
  addAddress: ['address'],
  replaceAddress: ['address'],
  deleteAddress: ['address'],
  addRoute: ['route'],
  changeRoute: ['route'],
  replaceRoute: ['route'],
  appendRoute: ['route'],
  deleteRoute: ['route'],
  addRule: ['rule'],
  deleteRule: ['rule'],
  addNeighbour: ['neighbour'],
  changeNeighbour: ['neighbour'],
  replaceNeighbour: ['neighbour'],
  deleteNeighbour: ['neighbour'],
  addNextHop: ['nextHop'],
  replaceNextHop: ['nextHop'],
  deleteNextHop: ['nextHop'],
  addBridgeVlan: ['bridgeVlan'],
  deleteBridgeVlan: ['bridgeVlan'],
  addForwardingEntry: ['entry'],
  appendForwardingEntry: ['entry'],
  replaceForwardingEntry: ['entry'],
  deleteForwardingEntry: ['entry'],
  setNamespaceId: ['namespaceId'],
};
const KNOWN = new Map(Object.entries(FIELDS).map(([verb, fields]) => [verb, new Set(['do', ...fields])]));

/** Writes an operation record. */
export function writeOperation(operation: RtnetlinkOperation, writer: RecordWriter): void {
  const verb = operation?.do;
  const known = KNOWN.get(verb);
  if (!known) {
    writer.fail('do', verb, `must be one of ${Object.keys(FIELDS).join(', ')}`, typeof verb !== 'string');
    return;
  }
  writer.onlyFields('', operation, known, `the operation ${verb}`);
  writeMessage(encode(operation), writer);
}

function encode(operation: RtnetlinkOperation): MessageWriter {
  switch (operation.do) {
    case 'addLink':
      return encodeNewLink(operation.name, operation.kind, operation.settings);
    case 'setLink':
      return encodeSettings(operation.link, operation.settings);
    case 'deleteLink':
      return encodeDeleteLink(operation);
    case 'addAlternativeName':
      return encodeAlternativeName('add', operation.link, operation.name);
    case 'deleteAlternativeName':
      return encodeAlternativeName('delete', operation.link, operation.name);
    case 'addAddress':
      return encodeAddress('add', operation.address);
    case 'replaceAddress':
      return encodeAddress('replace', operation.address);
    case 'deleteAddress':
      return encodeAddress('delete', operation.address);
    case 'addRoute':
      return encodeRoute('add', operation.route);
    case 'changeRoute':
      return encodeRoute('change', operation.route);
    case 'replaceRoute':
      return encodeRoute('replace', operation.route);
    case 'appendRoute':
      return encodeRoute('append', operation.route);
    case 'deleteRoute':
      return encodeRoute('delete', operation.route);
    case 'addRule':
      return encodeRule('add', operation.rule);
    case 'deleteRule':
      return encodeRule('delete', operation.rule);
    case 'addNeighbour':
      return encodeNeighbour('add', operation.neighbour);
    case 'changeNeighbour':
      return encodeNeighbour('change', operation.neighbour);
    case 'replaceNeighbour':
      return encodeNeighbour('replace', operation.neighbour);
    case 'deleteNeighbour':
      return encodeNeighbour('delete', operation.neighbour);
    case 'addNextHop':
      return encodeNextHop('add', operation.nextHop);
    case 'replaceNextHop':
      return encodeNextHop('replace', operation.nextHop);
    case 'deleteNextHop':
      return encodeNextHop('delete', operation.nextHop);
    case 'addBridgeVlan':
      return encodeBridgeVlan('add', operation.bridgeVlan);
    case 'deleteBridgeVlan':
      return encodeBridgeVlan('delete', operation.bridgeVlan);
    case 'addForwardingEntry':
      return encodeForwardingEntry('add', operation.entry);
    case 'appendForwardingEntry':
      return encodeForwardingEntry('append', operation.entry);
    case 'replaceForwardingEntry':
      return encodeForwardingEntry('replace', operation.entry);
    case 'deleteForwardingEntry':
      return encodeForwardingEntry('delete', operation.entry);
    case 'setNamespaceId':
      return encodeNamespaceId(operation.namespaceId);
  }
}

function writeMessage(message: MessageWriter, writer: RecordWriter): void {
  const { invalid } = message.check;
  if (invalid) {
    writer.fail(invalid.field, invalid.value, invalid.rule, invalid.wrongType);
    return;
  }
  writer.tail(OPERATION.messageOffset, OPERATION.messageLength, message.finish());
}

const NAMES = new Map(Object.entries(EVENT_KIND.numbers).map(([name, number]) => [number, name]));

/** Reads the events of a watch. */
export function* readEvents(bytes: Uint8Array): Generator<RtnetlinkEvent> {
  for (const reader = new RecordReader(bytes); reader.hasMore; ) {
    const kind = NAMES.get(reader.u8(EVENT.kind)) as RtnetlinkEventKind;
    const deleted = reader.u8(EVENT.deleted) === 1;
    const length = reader.u32(EVENT.length);
    const count = reader.u16(EVENT.nameCount);
    reader.skip(EVENT.SIZE);
    const [message] = messagesOf(reader.bytes(0, length), 'rtnetlink.watch');
    reader.skip(length);
    const links = new Map<number, string>();
    for (let i = 0; i < count; i++, reader.skip(LINK_NAME.SIZE)) {
      links.set(reader.u32(LINK_NAME.index), reader.text(LINK_NAME.name));
    }
    const event = message && readEvent(kind, deleted, message, links);
    if (event) yield message.port === 0 ? event : { ...event, sender: message.port };
  }
}

/** Undefined for objects of other families. */
function readEvent(
  kind: RtnetlinkEventKind,
  deleted: boolean,
  message: Message,
  links: ReadonlyMap<number, string>,
): RtnetlinkEvent | undefined {
  switch (kind) {
    case 'link':
      return { kind, deleted, link: readLink(message, links) };
    case 'address': {
      const address = readAddress(message, links);
      return address && { kind, deleted, address };
    }
    case 'route': {
      const route = readRoute(message, links);
      return route && { kind, deleted, route };
    }
    case 'rule': {
      const rule = readRule(message, links);
      return rule && { kind, deleted, rule };
    }
    case 'neighbour': {
      const neighbour = readNeighbour(message, links);
      return neighbour && { kind, deleted, neighbour };
    }
    case 'forwardingEntry': {
      const entry = readForwardingEntry(message, links);
      return entry && { kind, deleted, entry };
    }
  }
}
