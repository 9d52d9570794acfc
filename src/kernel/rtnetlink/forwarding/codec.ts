// Entries of forwarding databases ↔ messages. Numbers: include/uapi/linux/neighbour.h.
import {
  checked,
  type Fields,
  type Format,
  field,
  hardwareAddress,
  integer,
  ipAddress,
  type LinkNames,
  linkReference,
  type Numbers,
  nameOf,
  nameOrNumber,
  readField,
  refuseAttributes,
  writeFields,
} from '../fields.js';
import { flagNames, flagSum } from '../flags.js';
import { type Message, MessageWriter } from '../message.js';
import { NLM_F, RTM, WRITE_FLAGS } from '../numbers.js';
import { numberOf, routeProtocol } from '../routes/fields.js';
import type { UnnamedFlag } from '../routes/types.js';
import type {
  ForwardingEntry,
  ForwardingEntryId,
  ForwardingFlag,
  ForwardingState,
  NewForwardingEntry,
} from './types.js';

const AF_BRIDGE = 7;
const NDA = { cacheInfo: 3, ifindex: 8, master: 9, flagsExt: 15 } as const;
const HEADER_SIZE = 12; // struct ndmsg
const STATES: Numbers<Extract<ForwardingState, string>> = {
  permanent: 128,
  static: 64,
  dynamic: 2,
  stale: 4,
};
const SELF = 2;
const MASTER = 4;
/** NTF_, and NTF_EXT_ from bit 8 on. */
const FLAGS: Numbers<Exclude<ForwardingFlag, UnnamedFlag>> = {
  use: 1,
  extern_learn: 16,
  offload: 32,
  sticky: 64,
  router: 128,
  locked: 512,
};
const forwardingState = nameOrNumber('u16', STATES);
const LAST_VNI = 0xff_ffff;

/** The hardware address of a link of Ethernet. */
const ethernetAddress: Format<string> = {
  ...hardwareAddress,
  rule: 'must be a hardware address of Ethernet: 6 bytes in hexadecimal, with colons',
  accepts: (value) => hardwareAddress.accepts(value) && (value as string).split(':').length === 6,
};

type OfId = Omit<ForwardingEntryId, 'link' | 'hardwareAddress' | 'master'>;
const OF_ID: Fields<OfId> = {
  destination: field(1, ipAddress),
  vlan: field(5, integer('u16', 1, 4094)),
  port: field(6, integer('u16be', 1)),
  vni: field(7, integer('u32', 0, LAST_VNI)),
  outputLink: field(NDA.ifindex, linkReference),
  sourceVni: field(11, integer('u32', 0, LAST_VNI)),
};
type Settings = Pick<NewForwardingEntry, 'protocol' | 'nextHopId'>;
const SETTINGS: Fields<Settings> = {
  protocol: field(12, routeProtocol),
  nextHopId: field(13, integer('u32', 1)),
};
const LISTED = { hardwareAddress: field(2, ethernetAddress), ...OF_ID, ...SETTINGS };
const NAMES: ReadonlySet<string> = new Set([
  ...Object.keys(LISTED),
  ...['link', 'master', 'state', 'flags', 'used', 'updated', 'attributes'],
]);

/** A verb on entries. */
type ForwardingVerb = 'add' | 'append' | 'replace' | 'delete';

/** The message that writes or deletes an entry, with the defaults of `bridge fdb`. */
export function encodeForwardingEntry(verb: ForwardingVerb, entry: NewForwardingEntry): MessageWriter {
  const type = verb === 'delete' ? RTM.deleteNeighbour : RTM.newNeighbour;
  const writer = new MessageWriter(type, WRITE_FLAGS[verb]);
  const { check } = writer;
  // An entry that was listed is its name.
  if (!check.object('entry', entry, NAMES, 'an entry of a forwarding database')) return writer;
  const { link, master = false, state = 'permanent', flags } = entry;
  checked(writer, 'entry.state', state, forwardingState);
  if (typeof master !== 'boolean') check.fail('entry.master', master, 'must be true or false', true);
  const sum = flagSum(check, 'entry.flags', flags, FLAGS);
  const hasLink = checked(writer, 'entry.link', link, linkReference);
  const isAddress = checked(writer, 'entry.hardwareAddress', entry.hardwareAddress, ethernetAddress);
  if (!hasLink || !isAddress) return writer;
  const place = master ? MASTER : SELF;
  // Links without a handler of their own delete permanent entries only: ndo_dflt_fdb_del.
  if (verb === 'delete') writeHeader(writer, link, STATES.permanent, place);
  else writeHeader(writer, link, numberOf(state, STATES), (sum & 0xff) | place);
  writer.attribute(LISTED.hardwareAddress.attribute, () =>
    ethernetAddress.write(writer, entry.hardwareAddress),
  );
  writeFields<OfId>(writer, 'entry.', entry, OF_ID);
  if (verb === 'delete') return writer; // the rest is not part of its name
  refuseAttributes(check, 'entry.', entry);
  if (entry.nextHopId !== undefined && entry.destination !== undefined) {
    check.fail('entry.nextHopId', entry.nextHopId, 'excludes destination', true);
  }
  if (sum > 0xff) writer.attribute(NDA.flagsExt, () => writer.u32(sum >> 8));
  writeFields<Settings>(writer, 'entry.', entry, SETTINGS);
  return writer;
}

/** struct ndmsg of the family of bridges. */
function writeHeader(
  writer: MessageWriter,
  link: ForwardingEntryId['link'],
  state: number,
  flags: number,
): void {
  writer.u8(AF_BRIDGE).u8(0).u16(0).link(link).u16(state).u8(flags).u8(0);
}

/** The message that lists the entries of all links, or of one. */
export function encodeListForwardingEntries(link?: ForwardingEntryId['link']): MessageWriter {
  const writer = new MessageWriter(RTM.getNeighbour, NLM_F.dump);
  writeHeader(writer, 0, 0, 0);
  if (link !== undefined && checked(writer, 'link', link, linkReference)) {
    writer.attribute(NDA.ifindex, () => writer.link(link));
  }
  return writer;
}

const flagsOf = flagNames(FLAGS);

/** Reads an entry. Undefined for a neighbour of another family. */
export function readForwardingEntry(message: Message, links: LinkNames): ForwardingEntry | undefined {
  if (message.u8(0) !== AF_BRIDGE) return undefined;
  const index = message.u32(4);
  const state = message.u16(8);
  const entry: Record<string, unknown> = {
    link: links.get(index) ?? '',
    hardwareAddress: '',
    master: false,
    state: nameOf(STATES, state) ?? state,
  };
  let flags = message.u8(10);
  for (const attributes = message.attributes(HEADER_SIZE); attributes.next(); ) {
    if (attributes.type === NDA.flagsExt) flags |= attributes.u32() << 8;
    // A bridge is the master of its own entries.
    else if (attributes.type === NDA.master) entry['master'] = attributes.u32() !== index;
    else if (attributes.type === NDA.cacheInfo) {
      entry['used'] = attributes.u32(4) / 100;
      entry['updated'] = attributes.u32(8) / 100;
    } else readField(attributes, LISTED, entry, links);
  }
  entry['flags'] = flagsOf(flags & ~(SELF | MASTER));
  return entry as unknown as ForwardingEntry;
}
