// Nexthop objects ↔ messages. Numbers: include/uapi/linux/nexthop.h.
import { type Family, formatAddress, parseAddressAsIs } from '../../net/address.js';
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import {
  checked,
  type Fields,
  field,
  type Ignored,
  integer,
  ipAddress,
  keepAttribute,
  type LinkNames,
  linkReference,
  nameOf,
  readField,
  refuseAttributes,
  scaled,
  toggle,
  writeFields,
} from '../fields.js';
import { flagNames, flagSum } from '../flags.js';
import type { LinkReference } from '../links/reference.js';
import { type Message, MessageWriter } from '../message.js';
import { AF, familyOfNumber, NLA_F_NESTED, NLM_F, RTM, SCOPES, WRITE_FLAGS } from '../numbers.js';
import { checkFamily } from '../prefixes.js';
import { FLAGS, numberOf, PROTOCOLS, routeProtocol } from '../routes/fields.js';
import type {
  ListedNextHopFields,
  ListedNextHopMember,
  ListedResilientGroup,
  NewNextHopObject,
  NextHopFilter,
  NextHopMember,
  NextHopObject,
  NextHopObjectId,
  ResilientGroup,
} from './types.js';

const NHA = {
  id: 1,
  group: 2,
  groupType: 3,
  blackhole: 4,
  link: 5,
  gateway: 6,
  fdb: 11,
  resilient: 12,
  answerFlags: 14,
} as const;
const HEADER_SIZE = 8; // struct nhmsg
const MEMBER_SIZE = 8; // struct nexthop_grp
const RESILIENT = 1; // NEXTHOP_GRP_TYPE_RES
/** The largest id. */
const MOST = 0xffff_ffff;
const MOST_WEIGHT = 65_535;
const WRITTEN_FLAGS = FLAGS.onlink;
/** What the kernel says about its answer (NHA_OP_FLAGS). */
const IGNORED: Ignored = new Set([NHA.answerFlags]);

/** NHA_RES_GROUP_: times are in hundredths of a second (clock_t). */
const RESILIENT_FIELDS: Fields<ResilientGroup> = {
  buckets: field(1, integer('u16', 1)),
  idleTimer: field(2, scaled('u32', 100)),
  unbalancedTimer: field(3, scaled('u32', 100)),
};
const LISTED_RESILIENT = { ...RESILIENT_FIELDS, unbalancedTime: field(4, scaled('u64AsNumber', 100)) };
const RESILIENT_NAMES = new Set([...Object.keys(LISTED_RESILIENT), 'attributes']);

const NAMES: ReadonlySet<string> = new Set([
  ...['id', 'protocol', 'scope', 'flags', 'family', 'link', 'gateway', 'blackhole', 'fdb'],
  ...['group', 'resilient', 'attributes'],
]);
const FILTER_NAMES: ReadonlySet<string> = new Set(['family', 'link']);
const MEMBER_NAMES: ReadonlySet<string> = new Set(['id', 'weight']);
const onlyToggle = toggle('u8');

/** A verb on nexthop objects. */
type NextHopVerb = 'add' | 'replace' | 'delete';
/** An object that is written, and may have been listed. */
interface Given extends Partial<Omit<ListedNextHopFields, 'group' | 'id'>>, NextHopObjectId {
  readonly link?: LinkReference;
  readonly gateway?: string;
  readonly family?: Family;
  readonly blackhole?: boolean;
  readonly fdb?: boolean;
  readonly group?: readonly NextHopMember[];
}

/** The message that writes or deletes a nexthop object. Of one that is deleted, only the id is written. */
export function encodeNextHop(verb: NextHopVerb, object: NewNextHopObject | NextHopObjectId): MessageWriter {
  const isNew = verb !== 'delete';
  const writer = new MessageWriter(isNew ? RTM.newNextHop : RTM.deleteNextHop, WRITE_FLAGS[verb]);
  const { check } = writer;
  if (!check.object('nextHop', object, NAMES, 'a nexthop object')) return writer;
  const given = object as Given;
  const id = check.integer('nextHop.id', given.id, 1, MOST);
  if (!isNew) return writer.zeros(HEADER_SIZE).attribute(NHA.id, () => writer.u32(id));
  refuseAttributes(check, 'nextHop.', given);
  checkWay(writer, given);
  const { protocol, flags, group, resilient } = given;
  if (protocol !== undefined) checked(writer, 'nextHop.protocol', protocol, routeProtocol);
  const family = familyOf(writer, given);
  writer
    .u8(family === undefined ? 0 : AF[family])
    .u8(0)
    .u8(protocol === undefined ? 0 : numberOf(protocol, PROTOCOLS))
    .u8(0)
    .u32(flagSum(check, 'nextHop.flags', flags, FLAGS) & WRITTEN_FLAGS);
  writer.attribute(NHA.id, () => writer.u32(id));
  if (group !== undefined) writeGroup(writer, group, resilient);
  else writeOne(writer, given);
  if (given.fdb === true) writer.attribute(NHA.fdb, () => undefined);
  return writer;
}

/** What kinds of nexthop objects need, and what they exclude. */
function checkWay(writer: MessageWriter, given: Given): void {
  const { check } = writer;
  const { blackhole, fdb, group, link, gateway, resilient } = given;
  for (const [name, value] of [
    ['blackhole', blackhole],
    ['fdb', fdb],
  ] as const) {
    if (value !== undefined) checked(writer, `nextHop.${name}`, value, onlyToggle);
  }
  const exclude = (by: string, names: readonly (keyof Given)[]) => {
    for (const name of names) {
      const value = given[name];
      if (value !== undefined) check.fail(`nextHop.${name}`, value, `excludes ${by}`, true);
    }
  };
  if (group !== undefined) exclude('group', ['link', 'gateway', 'family', 'blackhole']);
  else if (resilient !== undefined) check.fail('nextHop.group', group, 'must be given with resilient', true);
  else if (blackhole === true) exclude('blackhole', ['gateway', 'link', 'fdb']);
  else if (fdb === true) {
    exclude('fdb', ['link']);
    if (gateway === undefined) check.fail('nextHop.gateway', gateway, 'must be given with fdb', true);
  } else if (link === undefined) {
    // The field that was meant, if it is there.
    const name = Object.hasOwn(given, 'blackhole') ? 'blackhole' : 'link';
    check.fail(
      `nextHop.${name}`,
      given[name],
      'must be given, or another of link, group, blackhole and fdb',
      true,
    );
  }
}

/** The family of a gateway, or the one that is named; 4 by default, and none for a group. */
function familyOf(writer: MessageWriter, { family, gateway, group }: Given): Family | undefined {
  const named = checkFamily(writer.check, 'nextHop.family', family);
  if (group !== undefined) return undefined;
  const bytes = typeof gateway === 'string' ? parseAddressAsIs(gateway) : undefined;
  if (!bytes) return named ?? 4;
  const own = bytes.length === 4 ? 4 : 6;
  if (named !== undefined && named !== own)
    writer.check.fail('nextHop.gateway', gateway, `must be an IPv${named} address`);
  return own;
}

function writeOne(writer: MessageWriter, { blackhole, link, gateway }: Given): void {
  if (blackhole === true) writer.attribute(NHA.blackhole, () => undefined);
  if (gateway !== undefined && checked(writer, 'nextHop.gateway', gateway, ipAddress)) {
    writer.attribute(NHA.gateway, () => ipAddress.write(writer, gateway));
  }
  if (link !== undefined && checked(writer, 'nextHop.link', link, linkReference)) {
    writer.attribute(NHA.link, () => writer.link(link));
  }
}

function writeGroup(
  writer: MessageWriter,
  group: readonly NextHopMember[],
  resilient: ResilientGroup | undefined,
): void {
  if (!Array.isArray(group) || group.length === 0) {
    writer.check.fail('nextHop.group', group, 'must be an array of nexthops', !Array.isArray(group));
    return;
  }
  writer.attribute(NHA.group, () => {
    for (const [place, member] of group.entries()) writeMember(writer, `nextHop.group[${place}]`, member);
  });
  if (resilient === undefined) return;
  if (!writer.check.object('nextHop.resilient', resilient, RESILIENT_NAMES, 'a resilient group')) return;
  refuseAttributes(writer.check, 'nextHop.resilient.', resilient);
  writer.attribute(NHA.groupType, () => writer.u16(RESILIENT));
  writer.attribute(NHA.resilient | NLA_F_NESTED, () =>
    writeFields<ResilientGroup>(writer, 'nextHop.resilient.', resilient, RESILIENT_FIELDS),
  );
}

function writeMember(writer: MessageWriter, path: string, member: NextHopMember): void {
  const { check } = writer;
  if (!check.object(path, member, MEMBER_NAMES, 'a nexthop of a group')) return;
  const { id, weight = 1 } = member;
  const held = Math.max(check.integer(`${path}.weight`, weight, 1, MOST_WEIGHT) - 1, 0);
  writer
    .u32(check.integer(`${path}.id`, id, 1, MOST))
    .u8(held & 0xff)
    .u8(held >> 8)
    .u16(0);
}

/** The message that reads one nexthop object. */
export function encodeGetNextHop(id: number): MessageWriter {
  const writer = new MessageWriter(RTM.getNextHop, NLM_F.acknowledge);
  const number = writer.check.integer('id', id, 1, MOST);
  return writer.zeros(HEADER_SIZE).attribute(NHA.id, () => writer.u32(number));
}

/** The message that lists nexthop objects. */
export function encodeListNextHops(filter: NextHopFilter = {}): MessageWriter {
  const writer = new MessageWriter(RTM.getNextHop, NLM_F.dump);
  if (!writer.check.object('filter', filter, FILTER_NAMES, 'a filter of nexthop objects')) return writer;
  const family = checkFamily(writer.check, 'filter.family', filter.family);
  writer.u8(family === undefined ? 0 : AF[family]).zeros(HEADER_SIZE - 1);
  const { link } = filter;
  if (link !== undefined && checked(writer, 'filter.link', link, linkReference)) {
    writer.attribute(NHA.link, () => writer.link(link));
  }
  return writer;
}

const flagsOf = flagNames(FLAGS);
const NO_FIELDS = {};

/** Reads a nexthop object. */
export function readNextHop(message: Message, links: LinkNames): NextHopObject {
  const family = familyOfNumber(message.u8(0));
  const object: Record<string, unknown> = {
    id: 0,
    protocol: nameOf(PROTOCOLS, message.u8(2)) ?? message.u8(2),
    scope: nameOf(SCOPES, message.u8(1)) ?? message.u8(1),
    flags: flagsOf(message.u32(4)),
    ...(family !== undefined && { family }),
  };
  for (const attributes = message.attributes(HEADER_SIZE); attributes.next(); ) {
    readAttribute(attributes, object, links);
  }
  if (object['id'] === 0) throw message.malformed('nexthop', 'no id');
  return object as unknown as NextHopObject;
}

function readAttribute(attribute: AttributeCursor, object: Record<string, unknown>, links: LinkNames): void {
  switch (attribute.type) {
    case NHA.id:
      object['id'] = attribute.u32();
      break;
    case NHA.group:
      object['group'] = [...readMembers(attribute)];
      break;
    case NHA.groupType:
      if (attribute.u16() > RESILIENT) keepAttribute(attribute, object);
      break;
    case NHA.blackhole:
      object['blackhole'] = true;
      break;
    case NHA.fdb:
      object['fdb'] = true;
      break;
    case NHA.gateway:
      object['gateway'] = formatAddress(attribute.bytes(0, attribute.length > 4 ? 16 : 4));
      break;
    case NHA.link:
      object['link'] = links.get(attribute.u32()) ?? attribute.u32();
      break;
    case NHA.resilient:
      object['resilient'] = readResilient(attribute.nested(), links);
      break;
    default:
      readField(attribute, NO_FIELDS, object, links, IGNORED);
  }
}

function* readMembers(attribute: AttributeCursor): Generator<ListedNextHopMember, void> {
  for (let at = 0; at < attribute.length; at += MEMBER_SIZE) {
    // The upper byte is 0 before Linux 6.12.
    yield { id: attribute.u32(at), weight: (attribute.u8(at + 5) << 8) + attribute.u8(at + 4) + 1 };
  }
}

function readResilient(attributes: AttributeCursor, links: LinkNames): ListedResilientGroup {
  const group: Record<string, unknown> = {};
  // The second half of a number of 64 bits is aligned by an empty attribute (NHA_RES_GROUP_PAD).
  while (attributes.next()) readField(attributes, LISTED_RESILIENT, group, links, PADDING);
  return group;
}

const PADDING: Ignored = new Set([0]);
