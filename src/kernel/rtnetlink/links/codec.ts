// Links ↔ messages. Numbers: include/uapi/linux/if_link.h (IFLA_), if.h (IFF_), rtnetlink.h.

import type { AttributeCursor } from '../../wire/attributeCursor.js';
import {
  type Bits,
  bitsOf,
  checked,
  choice,
  type Fields,
  field,
  flagNames,
  hardwareAddress,
  integer,
  isLinkName,
  type LinkNames,
  linkIndex,
  linkName,
  type Numbers,
  nameOf,
  namesOf,
  readField,
  text,
  toggle,
  writeFields,
} from '../fields.js';
import { type Message, MessageWriter } from '../message.js';
import { NLM_F, RTM } from '../numbers.js';
import { readBridge, readBridgePort, readVlan, writeBridge, writeBridgePort, writeVlan } from './kinds.js';
import type {
  AddressGeneration,
  Link,
  LinkAttributes,
  LinkFlag,
  LinkReference,
  LinkSettings,
  LinkSwitches,
  NewLinkSettings,
  OperationalState,
  VethPeer,
} from './types.js';

const IFLA = {
  ifname: 3,
  link: 5,
  qdisc: 6,
  master: 10,
  operstate: 16,
  linkInfo: 18,
  netNsPid: 19,
  afSpec: 26,
  netNsFd: 28,
  extMask: 29,
  linkNetnsId: 37,
  propList: 52,
  altIfname: 53,
} as const;
const INFO = { kind: 1, data: 2, slaveKind: 4, slaveData: 5 } as const;
const VETH_INFO_PEER = 1;
const AF_INET6 = 10;
const IFLA_INET6_ADDR_GEN_MODE = 8;
const HEADER_SIZE = 16; // struct ifinfomsg
const RTEXT_FILTER_SKIP_STATS = 8;
const LONGEST_PATH = 4095;
const LARGEST_PID = 0x3f_ffff; // PID_MAX_LIMIT
const MOST = 0x7fff_ffff;

const FLAGS: Numbers<LinkFlag> = {
  up: 0x1,
  broadcast: 0x2,
  debug: 0x4,
  loopback: 0x8,
  pointopoint: 0x10,
  notrailers: 0x20,
  running: 0x40,
  noarp: 0x80,
  promisc: 0x100,
  allmulti: 0x200,
  master: 0x400,
  slave: 0x800,
  multicast: 0x1000,
  portsel: 0x2000,
  automedia: 0x4000,
  dynamic: 0x8000,
  lower_up: 0x10000,
  dormant: 0x20000,
  echo: 0x40000,
};
const SWITCHES: Bits<LinkSwitches> = {
  up: { bit: FLAGS.up },
  arp: { bit: FLAGS.noarp, inverse: true },
  multicast: { bit: FLAGS.multicast },
  allMulticast: { bit: FLAGS.allmulti },
  promiscuous: { bit: FLAGS.promisc },
  dynamic: { bit: FLAGS.dynamic },
  trailers: { bit: FLAGS.notrailers, inverse: true },
};
const STATES: Numbers<OperationalState> = {
  unknown: 0,
  notpresent: 1,
  down: 2,
  lowerlayerdown: 3,
  testing: 4,
  dormant: 5,
  up: 6,
};
const addressGeneration = choice<AddressGeneration>('u8', {
  eui64: 0,
  none: 1,
  stable_secret: 2,
  random: 3,
});

const ATTRIBUTES: Fields<Omit<LinkAttributes, 'addressGeneration'>> = {
  address: field(1, hardwareAddress),
  broadcast: field(2, hardwareAddress),
  mtu: field(4, integer('u32')),
  txQueueLength: field(13, integer('u32')),
  alias: field(20, text(255)),
  group: field(27, integer('u32', 0, MOST)),
  carrier: field(33, toggle('u8')),
  protoDown: field(39, toggle('u8')),
  gsoMaxSegments: field(40, integer('u32')),
  gsoMaxSize: field(41, integer('u32')),
  groMaxSize: field(58, integer('u32')),
};
const QUEUES: Fields<Pick<NewLinkSettings, 'txQueues' | 'rxQueues'>> = {
  txQueues: field(31, integer('u32', 1, 4096)),
  rxQueues: field(32, integer('u32', 1, 4096)),
};
const LISTED = {
  ...ATTRIBUTES,
  ...QUEUES,
  promiscuity: field(30, integer('u32')),
  minMtu: field(50, integer('u32')),
  maxMtu: field(51, integer('u32')),
};

const COMMON = [...Object.keys(ATTRIBUTES), ...Object.keys(SWITCHES), 'addressGeneration', 'netns'];
const KINDS = ['bridge', 'vlan'];
const NEW = new Set([...COMMON, ...KINDS, ...Object.keys(QUEUES), 'master', 'index', 'link', 'peer']);
const SETTINGS = new Set([...COMMON, ...KINDS, 'master', 'name', 'bridgePort']);
const PEER = new Set([...COMMON, 'name']);

/** A link by name or index; else a fault. */
export function checkLink(writer: MessageWriter, path: string, value: unknown): LinkReference {
  if (isLinkName(value)) return value;
  if (typeof value === 'number') return writer.check.integer(path, value, 1, MOST);
  const rule = `${linkName.rule}, or an index`;
  writer.check.fail(path, value, rule, typeof value !== 'string');
  return 0;
}

/**
 * The message that tries to create a link with 0 queues, which no link has: a kernel that knows the kind refuses it with EINVAL,
 * and others with EOPNOTSUPP before that.
 */
export function encodeTrial(kind: string): MessageWriter {
  const writer = new MessageWriter(RTM.newLink, NLM_F.create | NLM_F.exclusive | NLM_F.acknowledge);
  writeHeader(writer, 0);
  writer.attribute(QUEUES.txQueues.attribute, () => writer.u32(0));
  writer.attribute(IFLA.linkInfo, () => writer.attribute(INFO.kind, () => writer.bytes(Buffer.from(kind))));
  return writer;
}

/** The message that creates a link. Settings that belong to one kind are refused for the others. */
export function encodeNewLink(name: string, kind: string, settings: NewLinkSettings = {}): MessageWriter {
  const writer = new MessageWriter(RTM.newLink, NLM_F.create | NLM_F.exclusive);
  if (!writer.check.isObject('settings', settings)) return writer;
  const { value, mask } = bitsOf<LinkSwitches>(writer, 'settings.', settings, SWITCHES);
  const { index } = settings;
  writeHeader(
    writer,
    index === undefined ? 0 : writer.check.integer('settings.index', index, 1, MOST),
    value,
    mask,
  );
  writer.check.onlyFields('settings.', settings, NEW, 'a new link');
  if (checked(writer, 'name', name, linkName))
    writer.attribute(IFLA.ifname, () => linkName.write(writer, name));
  const kindFormat = text(31);
  if (!checked(writer, 'kind', kind, kindFormat)) return writer;
  for (const [field, own] of [
    ['bridge', 'bridge'],
    ['vlan', 'vlan'],
    ['peer', 'veth'],
  ] as const) {
    if (settings[field] !== undefined && kind !== own) {
      writer.check.fail(`settings.${field}`, settings[field], `is of the kind ${own}`, true);
    }
  }
  writeFields<NewLinkSettings>(writer, 'settings.', settings, QUEUES);
  writeCommon(writer, 'settings.', settings);
  writeMaster(writer, settings.master);
  const { link } = settings;
  if (link !== undefined && checked(writer, 'settings.link', link, linkIndex)) {
    writer.attribute(IFLA.link, () => writer.link(link));
  }
  writer.attribute(IFLA.linkInfo, () => {
    // As iproute2 sends it: without a terminator.
    writer.attribute(INFO.kind, () => writer.bytes(Buffer.from(kind)));
    writeKind(writer, settings);
    const { peer } = settings;
    if (peer !== undefined) writer.attribute(INFO.data, () => writePeer(writer, peer));
  });
  return writer;
}

/** The message that changes a link. */
export function encodeSettings(link: LinkReference, settings: LinkSettings): MessageWriter {
  const writer = new MessageWriter(RTM.newLink, 0);
  const target = checkLink(writer, 'link', link);
  if (!writer.check.isObject('settings', settings)) return writer;
  writer.check.onlyFields('settings.', settings, SETTINGS, 'the settings of a link');
  const { value, mask } = bitsOf<LinkSwitches>(writer, 'settings.', settings, SWITCHES);
  writeHeader(writer, target, value, mask);
  const { name, bridge, vlan, bridgePort } = settings;
  if (name !== undefined && checked(writer, 'settings.name', name, linkName)) {
    writer.attribute(IFLA.ifname, () => linkName.write(writer, name));
  }
  writeCommon(writer, 'settings.', settings);
  writeMaster(writer, settings.master);
  if (bridge !== undefined && vlan !== undefined)
    writer.check.fail('settings.vlan', vlan, 'excludes bridge', true);
  if (bridge !== undefined || vlan !== undefined || bridgePort !== undefined) {
    writer.attribute(IFLA.linkInfo, () => {
      if (bridge !== undefined || vlan !== undefined) {
        writer.attribute(INFO.kind, () =>
          writer.bytes(Buffer.from(bridge === undefined ? 'vlan' : 'bridge')),
        );
        writeKind(writer, settings);
      }
      if (bridgePort === undefined) return;
      writer.attribute(INFO.slaveKind, () => writer.bytes(Buffer.from('bridge')));
      writer.attribute(INFO.slaveData, () => writeBridgePort(writer, bridgePort));
    });
  }
  return writer;
}

/** The message that deletes a link. */
export function encodeDeleteLink(link: LinkReference): MessageWriter {
  const writer = new MessageWriter(RTM.deleteLink, 0);
  const target = checkLink(writer, 'name', link);
  writeHeader(writer, typeof target === 'number' ? target : 0);
  if (typeof target === 'string') writer.attribute(IFLA.ifname, () => linkName.write(writer, target));
  return writer;
}

/** The message that reads every link, or one. */
export function encodeGetLink(link?: LinkReference): MessageWriter {
  const writer = new MessageWriter(RTM.getLink, link === undefined ? NLM_F.dump : NLM_F.acknowledge);
  const target = link === undefined ? 0 : checkLink(writer, 'name', link);
  writeHeader(writer, typeof target === 'number' ? target : 0);
  if (typeof target === 'string') writer.attribute(IFLA.ifname, () => linkName.write(writer, target));
  writer.attribute(IFLA.extMask, () => writer.u32(RTEXT_FILTER_SKIP_STATS));
  return writer;
}

/** struct ifinfomsg. */
function writeHeader(writer: MessageWriter, link: LinkReference, flags = 0, change = 0): void {
  writer.u32(0).link(link).u32(flags).u32(change);
}

function writeCommon(writer: MessageWriter, path: string, settings: LinkSettings | VethPeer): void {
  writeFields<LinkAttributes>(writer, path, settings, ATTRIBUTES);
  const { addressGeneration: mode, netns } = settings;
  if (mode !== undefined && checked(writer, `${path}addressGeneration`, mode, addressGeneration)) {
    writer.attribute(IFLA.afSpec, () =>
      writer.attribute(AF_INET6, () =>
        writer.attribute(IFLA_INET6_ADDR_GEN_MODE, () => addressGeneration.write(writer, mode)),
      ),
    );
  }
  if (typeof netns === 'number') {
    const pid = writer.check.integer(`${path}netns`, netns, 1, LARGEST_PID);
    writer.attribute(IFLA.netNsPid, () => writer.u32(pid));
  } else if (netns !== undefined && checked(writer, `${path}netns`, netns, text(LONGEST_PATH))) {
    writer.attribute(IFLA.netNsFd, () => writer.networkNamespace(netns));
  }
}

/** Index 0 means no master. */
function writeMaster(writer: MessageWriter, master: string | null | undefined): void {
  if (master === undefined) return;
  if (master === null || checked(writer, 'settings.master', master, linkIndex)) {
    writer.attribute(IFLA.master, () => writer.link(master ?? 0));
  }
}

function writeKind(writer: MessageWriter, { bridge, vlan }: LinkSettings | NewLinkSettings): void {
  if (bridge !== undefined) writer.attribute(INFO.data, () => writeBridge(writer, bridge));
  if (vlan !== undefined) writer.attribute(INFO.data, () => writeVlan(writer, vlan));
}

function writePeer(writer: MessageWriter, peer: VethPeer): void {
  if (!writer.check.isObject('settings.peer', peer)) return;
  writer.check.onlyFields('settings.peer.', peer, PEER, 'the peer of a veth');
  const { value, mask } = bitsOf<LinkSwitches>(writer, 'settings.peer.', peer, SWITCHES);
  writer.attribute(VETH_INFO_PEER, () => {
    writeHeader(writer, 0, value, mask);
    const { name } = peer;
    if (name !== undefined && checked(writer, 'settings.peer.name', name, linkName)) {
      writer.attribute(IFLA.ifname, () => linkName.write(writer, name));
    }
    writeCommon(writer, 'settings.peer.', peer);
  });
}

const flagsOf = flagNames(FLAGS);

/** The index of a link in a message. */
export function indexOf(message: Message): number {
  return message.u32(4);
}

/** The name of the link in a message, and undefined for a message about a port of a bridge. */
export function readName(message: Message): string | undefined {
  for (const attributes = message.attributes(HEADER_SIZE); attributes.next(); ) {
    if (attributes.type === IFLA.ifname) return attributes.text();
  }
  return undefined;
}

/** Reads a link. `links` has the names of those that it refers to. */
export function readLink(message: Message, links: LinkNames): Link {
  const flags = message.u32(8);
  const link: Record<string, unknown> & { linkIndex?: number; linkNetnsId?: number } = {
    index: indexOf(message),
    name: '',
    kind: '',
    flags: flagsOf(flags),
    mtu: 0,
    up: (flags & FLAGS.up) !== 0,
    state: 'unknown',
  };
  for (const attributes = message.attributes(HEADER_SIZE); attributes.next(); ) {
    readAttribute(attributes, link, links);
  }
  // Of a link below in another namespace, the index may be that of an unrelated one here.
  if (link.linkIndex !== undefined && link.linkNetnsId === undefined) {
    const below = links.get(link.linkIndex);
    if (below !== undefined) link['link'] = below;
  }
  return link as unknown as Link;
}

function readAttribute(
  attribute: AttributeCursor,
  link: Record<string, unknown> & { linkIndex?: number; linkNetnsId?: number },
  links: LinkNames,
): void {
  switch (attribute.type) {
    case IFLA.ifname:
      link['name'] = attribute.text();
      break;
    case IFLA.link:
      if (attribute.u32() !== 0) link.linkIndex = attribute.u32();
      break;
    case IFLA.qdisc:
      link['queueingDiscipline'] = attribute.text();
      break;
    case IFLA.master: {
      const master = links.get(attribute.u32());
      if (master !== undefined) link['master'] = master;
      break;
    }
    case IFLA.operstate:
      link['state'] = nameOf(STATES, attribute.u8()) ?? 'unknown';
      break;
    case IFLA.linkInfo:
      readInfo(attribute.nested(), link, links);
      break;
    case IFLA.afSpec:
      readAddressFamilies(attribute.nested(), link, links);
      break;
    case IFLA.linkNetnsId:
      link.linkNetnsId = attribute.i32();
      break;
    case IFLA.propList:
      link['alternativeNames'] = [...alternativeNames(attribute.nested())];
      break;
    default:
      readField(attribute, LISTED, namesOf(LISTED), link, links);
  }
}

function* alternativeNames(attributes: AttributeCursor): Generator<string, void> {
  while (attributes.next()) if (attributes.type === IFLA.altIfname) yield attributes.text();
}

/** The kind precedes its settings: rtnl_link_fill. */
function readInfo(attributes: AttributeCursor, link: Record<string, unknown>, links: LinkNames): void {
  let slaveKind = '';
  while (attributes.next()) {
    if (attributes.type === INFO.kind) link['kind'] = attributes.text();
    else if (attributes.type === INFO.slaveKind) slaveKind = attributes.text();
    else if (attributes.type === INFO.data && link['kind'] === 'bridge') {
      link['bridge'] = readBridge(attributes.nested(), links);
    } else if (attributes.type === INFO.data && link['kind'] === 'vlan') {
      link['vlan'] = readVlan(attributes.nested(), links);
    } else if (attributes.type === INFO.slaveData && slaveKind === 'bridge') {
      link['bridgePort'] = readBridgePort(attributes.nested(), links);
    }
  }
}

function readAddressFamilies(
  families: AttributeCursor,
  link: Record<string, unknown>,
  links: LinkNames,
): void {
  while (families.next()) {
    if (families.type !== AF_INET6) continue;
    for (const attributes = families.nested(); attributes.next(); ) {
      if (attributes.type !== IFLA_INET6_ADDR_GEN_MODE) continue;
      link['addressGeneration'] = addressGeneration.read(attributes, links);
    }
  }
}
