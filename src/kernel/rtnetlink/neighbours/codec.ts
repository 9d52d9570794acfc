// Neighbours ↔ messages. Numbers: include/uapi/linux/neighbour.h.
import { formatAddress, parseAddressAsIs } from '../../net/address.js';
import {
  checked,
  type Fields,
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
import { AF, familyOfNumber, NLM_F, RTM, WRITE_FLAGS } from '../numbers.js';
import { checkFamily } from '../prefixes.js';
import { numberOf, routeProtocol } from '../routes/fields.js';
import type { UnnamedFlag } from '../routes/types.js';
import type {
  Neighbour,
  NeighbourFilter,
  NeighbourFlag,
  NeighbourId,
  NeighbourState,
  NewNeighbour,
} from './types.js';

const NDA = { address: 1, cacheInfo: 3, ifindex: 8, flagsExt: 15 } as const;
const HEADER_SIZE = 12; // struct ndmsg
const STATES: Numbers<Extract<NeighbourState, string>> = {
  none: 0,
  incomplete: 1,
  reachable: 2,
  stale: 4,
  delay: 8,
  probe: 16,
  failed: 32,
  noarp: 64,
  permanent: 128,
};
/** NTF_, and NTF_EXT_ from bit 8 on. */
const FLAGS: Numbers<Exclude<NeighbourFlag, UnnamedFlag>> = {
  use: 1,
  self: 2,
  master: 4,
  proxy: 8,
  extern_learn: 16,
  offload: 32,
  sticky: 64,
  router: 128,
  managed: 256,
};
const neighbourState = nameOrNumber('u16', STATES);

type Scalars = Pick<Neighbour, 'hardwareAddress' | 'probes' | 'protocol'>;
const WRITTEN: Fields<Omit<Scalars, 'probes'>> = {
  hardwareAddress: field(2, hardwareAddress),
  protocol: field(12, routeProtocol),
};
const LISTED: Fields<Scalars> = { ...WRITTEN, probes: field(4, integer('u32')) };
const NAMES = new Set([
  ...Object.keys(LISTED),
  ...['link', 'address', 'proxy', 'state', 'flags', 'family', 'used', 'confirmed', 'updated', 'attributes'],
]);
const ID_NAMES = new Set(['link', 'address', 'proxy']);
const FILTER_NAMES = new Set(['family', 'link', 'proxy']);

/** A verb on neighbours. */
type NeighbourVerb = 'add' | 'change' | 'replace' | 'delete';

/** The message that writes or deletes a neighbour, with the defaults of iproute2. */
export function encodeNeighbour(verb: NeighbourVerb, neighbour: NewNeighbour): MessageWriter {
  const type = verb === 'delete' ? RTM.deleteNeighbour : RTM.newNeighbour;
  const writer = new MessageWriter(type, WRITE_FLAGS[verb]);
  if (!writer.check.object('neighbour', neighbour, NAMES, 'a neighbour')) return writer;
  const { state = 'permanent', flags } = neighbour;
  checked(writer, 'neighbour.state', state, neighbourState);
  const isProxy = checkProxy(writer, 'neighbour.', neighbour.proxy);
  const sum = flagSum(writer.check, 'neighbour.flags', flags, FLAGS) | (isProxy ? FLAGS.proxy : 0);
  writeId(writer, 'neighbour.', neighbour, isProxy ? 0 : numberOf(state, STATES), sum & 0xff);
  if (verb === 'delete') return writer; // its attributes are not part of its name
  refuseAttributes(writer.check, 'neighbour.', neighbour);
  if (sum > 0xff) writer.attribute(NDA.flagsExt, () => writer.u32(sum >> 8));
  writeFields<Omit<Scalars, 'probes'>>(writer, 'neighbour.', neighbour, WRITTEN);
  return writer;
}

/** struct ndmsg and the address. */
function writeId(writer: MessageWriter, path: string, id: NeighbourId, state: number, flags: number): void {
  const { link, address } = id;
  const hasAddress = checked(writer, `${path}address`, address, ipAddress);
  const hasLink = checked(writer, `${path}link`, link, linkReference);
  if (!hasAddress || !hasLink) return;
  const bytes = parseAddressAsIs(address) ?? new Uint8Array();
  writer
    .u8(AF[bytes.length === 4 ? 4 : 6])
    .u8(0)
    .u16(0)
    .link(link)
    .u16(state)
    .u8(flags)
    .u8(0);
  writer.attribute(NDA.address, () => writer.bytes(bytes));
}

function checkProxy(writer: MessageWriter, path: string, proxy: unknown): boolean {
  if (proxy === undefined || typeof proxy === 'boolean') return proxy ?? false;
  writer.check.fail(`${path}proxy`, proxy, 'must be true or false', true);
  return false;
}

/** The message that reads one neighbour. */
export function encodeGetNeighbour(id: NeighbourId): MessageWriter {
  const writer = new MessageWriter(RTM.getNeighbour, NLM_F.acknowledge);
  if (!writer.check.object('neighbour', id, ID_NAMES, 'the name of a neighbour')) return writer;
  const isProxy = checkProxy(writer, 'neighbour.', id.proxy);
  writeId(writer, 'neighbour.', id, 0, isProxy ? FLAGS.proxy : 0);
  return writer;
}

/** The message that lists neighbours. */
export function encodeListNeighbours(filter: NeighbourFilter = {}): MessageWriter {
  const writer = new MessageWriter(RTM.getNeighbour, NLM_F.dump);
  if (!writer.check.object('filter', filter, FILTER_NAMES, 'a filter of neighbours')) return writer;
  const family = checkFamily(writer.check, 'filter.family', filter.family);
  const isProxy = checkProxy(writer, 'filter.', filter.proxy);
  writer
    .u8(family === undefined ? 0 : AF[family])
    .u8(0)
    .u16(0)
    .u32(0)
    .u16(0);
  writer.u8(isProxy ? FLAGS.proxy : 0).u8(0);
  const { link } = filter;
  if (link !== undefined && checked(writer, 'filter.link', link, linkReference)) {
    writer.attribute(NDA.ifindex, () => writer.link(link));
  }
  return writer;
}

const flagsOf = flagNames(FLAGS);

/** Reads a neighbour. Undefined for one of another family, as the entries of a bridge. */
export function readNeighbour(message: Message, links: LinkNames): Neighbour | undefined {
  const family = familyOfNumber(message.u8(0));
  if (family === undefined) return undefined;
  const neighbour: Record<string, unknown> = {
    link: links.get(message.u32(4)) ?? '',
    address: '',
    family,
    state: nameOf(STATES, message.u16(8)) ?? message.u16(8),
  };
  let flags = message.u8(10);
  for (const attributes = message.attributes(HEADER_SIZE); attributes.next(); ) {
    if (attributes.type === NDA.address) {
      neighbour['address'] = formatAddress(attributes.bytes(0, family === 4 ? 4 : 16));
    } else if (attributes.type === NDA.flagsExt) flags |= attributes.u32() << 8;
    else if (attributes.type === NDA.cacheInfo) {
      neighbour['confirmed'] = attributes.u32() / 100;
      neighbour['used'] = attributes.u32(4) / 100;
      neighbour['updated'] = attributes.u32(8) / 100;
    } else readField(attributes, LISTED, neighbour, links);
  }
  neighbour['flags'] = flagsOf(flags & ~FLAGS.proxy);
  if (flags & FLAGS.proxy) neighbour['proxy'] = true;
  return neighbour as unknown as Neighbour;
}
