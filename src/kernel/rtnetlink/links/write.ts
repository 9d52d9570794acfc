// The messages that create, change, delete and list links.
import {
  alternativeName,
  checked,
  isLinkName,
  isNameOfLink,
  linkName,
  linkReference,
  NAME_OF_LINK_RULE,
  refuseAttributes,
  text,
  writeFields,
} from '../fields.js';
import { type Bits, bitsOf } from '../flags.js';
import { MessageWriter } from '../message.js';
import { writeNamespace } from '../namespaces/codec.js';
import { NLA_F_NESTED, NLM_F, RTM } from '../numbers.js';
import {
  AF_INET6,
  ATTRIBUTES,
  addressGeneration,
  FLAGS,
  IFLA,
  IFLA_INET6_ADDR_GEN_MODE,
  INFO,
  MOST,
  QUEUES,
} from './fields.js';
import { PAIRS, WRITTEN_KIND_NAMES, WRITTEN_KINDS, WRITTEN_PORTS, type WrittenKind } from './kinds/index.js';
import type { KindFormat } from './kinds/kind.js';
import type { UpperKind } from './newTypes.js';
import type {
  LinkAttributes,
  LinkReference,
  LinkSettings,
  LinkSwitches,
  NewLinkSettings,
  VethPeer,
} from './types.js';

/** VETH_INFO_PEER and IFLA_NETKIT_PEER_INFO. */
const PEER_INFO = 1;
const RTEXT_FILTER_SKIP_STATS = 8;

const SWITCHES: Bits<LinkSwitches> = {
  up: { bit: FLAGS.up },
  arp: { bit: FLAGS.noarp, inverse: true },
  multicast: { bit: FLAGS.multicast },
  allMulticast: { bit: FLAGS.allmulti },
  promiscuous: { bit: FLAGS.promisc },
  dynamic: { bit: FLAGS.dynamic },
  trailers: { bit: FLAGS.notrailers, inverse: true },
};
const COMMON = [...Object.keys(ATTRIBUTES), ...Object.keys(SWITCHES), 'addressGeneration', 'netns'];
const UPPER: Readonly<Record<UpperKind, true>> = { macvlan: true, macvtap: true, ipvlan: true, ipvtap: true };
/** The names of those whose packets have the number of a network. */
const NETWORK = { vxlan: 'VXLAN', geneve: 'tunnel of Geneve' } as const;
const UPPER_KINDS: ReadonlySet<string> = new Set(Object.keys(UPPER));
const NEW = new Set([
  ...COMMON,
  ...WRITTEN_KIND_NAMES,
  ...Object.keys(QUEUES),
  ...['master', 'index', 'link', 'peer'],
]);
const SETTINGS = new Set([...COMMON, ...WRITTEN_KIND_NAMES, ...['master', 'name', 'bridgePort', 'bondPort']]);
const PEER = new Set([...COMMON, 'name']);
const MASTERS = Object.keys(WRITTEN_PORTS) as (keyof typeof WRITTEN_PORTS)[];

/** A link by name or index; else the value is noted. */
function checkLink(writer: MessageWriter, path: string, value: unknown): LinkReference {
  if (isNameOfLink(value)) return value;
  if (typeof value === 'number') return writer.check.integer(path, value, 1, MOST);
  const rule = `${NAME_OF_LINK_RULE}, or an index`;
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
  const { link, peer } = settings;
  if (peer !== undefined && !PAIRS.has(kind))
    writer.check.fail('settings.peer', peer, `is of the kinds ${[...PAIRS].join(' and ')}`, true);
  for (const field of WRITTEN_KIND_NAMES) {
    const value: unknown = settings[field];
    if (value === undefined) continue;
    if (kind !== field) writer.check.fail(`settings.${field}`, value, `is of the kind ${field}`, true);
    else if (typeof value === 'object' && value !== null)
      refuseAttributes(writer.check, `settings.${field}.`, value);
  }
  checkNeeds(writer, kind, settings);
  writeFields<NewLinkSettings>(writer, 'settings.', settings, QUEUES);
  writeCommon(writer, 'settings.', settings);
  writeMaster(writer, settings.master);
  if (link !== undefined && checked(writer, 'settings.link', link, linkReference)) {
    writer.attribute(IFLA.link, () => writer.link(link));
  }
  writer.attribute(IFLA.linkInfo, () => {
    // As iproute2 sends it: without a terminator.
    writer.attribute(INFO.kind, () => writer.bytes(Buffer.from(kind)));
    const own = WRITTEN_KIND_NAMES.find((each) => each === kind && settings[each] !== undefined);
    if (own === undefined && peer === undefined) return;
    writer.attribute(INFO.data, () => {
      if (own !== undefined) writeKind(writer, own, settings, true);
      if (peer !== undefined) writePeer(writer, kind, peer);
    });
  });
  return writer;
}

/** Refuses a link that the kernel would refuse for want of a setting. */
function checkNeeds(writer: MessageWriter, kind: string, settings: NewLinkSettings): void {
  const { check } = writer;
  const { link, vlan, vrf } = settings;
  if (link === undefined && (kind === 'vlan' || UPPER_KINDS.has(kind)))
    check.fail('settings.link', link, `must be the name of the link below a ${kind}`, true);
  if (kind === 'vlan') need(writer, 'vlan', vlan, 'id', 'must be given: a VLAN has an id');
  if (kind === 'vrf') need(writer, 'vrf', vrf, 'table', 'must be given: a VRF has a table');
  if ((kind === 'vxlan' || kind === 'geneve') && [undefined, false].includes(settings[kind]?.external))
    need(writer, kind, settings[kind], 'id', `must be given: a ${NETWORK[kind]} without external has an id`);
  if (kind === 'tun')
    check.fail('kind', kind, 'must not be tun: a process creates such a device through /dev/net/tun');
}

/** Notes the settings of a kind, or a field of them, that is not given. */
function need(
  { check }: MessageWriter,
  kind: string,
  settings: object | undefined,
  field: string,
  rule: string,
): void {
  if (settings === undefined) check.fail(`settings.${kind}`, settings, rule, true);
  else if (settings === null || settings[field as keyof object] === undefined)
    check.fail(`settings.${kind}.${field}`, undefined, rule, true);
}

/** The message that changes a link. */
export function encodeSettings(link: LinkReference, settings: LinkSettings): MessageWriter {
  const writer = new MessageWriter(RTM.newLink, 0);
  const target = checkLink(writer, 'link', link);
  if (!writer.check.object('settings', settings, SETTINGS, 'the settings of a link')) return writer;
  const { value, mask } = bitsOf<LinkSwitches>(writer, 'settings.', settings, SWITCHES);
  writeHeader(writer, target, value, mask);
  const { name } = settings;
  if (name !== undefined && checked(writer, 'settings.name', name, linkName)) {
    writer.attribute(IFLA.ifname, () => linkName.write(writer, name));
  }
  writeCommon(writer, 'settings.', settings);
  writeMaster(writer, settings.master);
  const kind = onlyOne(writer, settings, WRITTEN_KIND_NAMES);
  const master = onlyOne(writer, settings, MASTERS, (each) => WRITTEN_PORTS[each].field);
  if (kind !== undefined || master !== undefined) {
    writer.attribute(IFLA.linkInfo, () => {
      if (kind !== undefined) {
        writer.attribute(INFO.kind, () => writer.bytes(Buffer.from(kind)));
        writer.attribute(INFO.data, () => writeKind(writer, kind, settings, false));
      }
      if (master === undefined) return;
      const { field, format } = WRITTEN_PORTS[master];
      const { write } = format as KindFormat<object, object>;
      writer.attribute(INFO.slaveKind, () => writer.bytes(Buffer.from(master)));
      writer.attribute(INFO.slaveData, () => write(writer, `settings.${field}`, settings[field] as object));
    });
  }
  return writer;
}

/** The first of the names whose field is given; it excludes the others. */
function onlyOne<Name extends string>(
  { check }: MessageWriter,
  settings: LinkSettings,
  names: readonly Name[],
  fieldOf: (name: Name) => string = (name) => name,
): Name | undefined {
  const given = (name: Name): unknown => settings[fieldOf(name) as keyof LinkSettings];
  const [first, ...others] = names.filter((name) => given(name) !== undefined);
  for (const other of others)
    check.fail(`settings.${fieldOf(other)}`, given(other), `excludes ${fieldOf(first as Name)}`, true);
  return first;
}

/** The link that an operation deletes, in one of two fields. */
type DeletedLink = Partial<Record<'link' | 'name', LinkReference>>;

/** The message that deletes a link. */
export function encodeDeleteLink(given: DeletedLink): MessageWriter {
  const writer = new MessageWriter(RTM.deleteLink, 0);
  const field = Object.hasOwn(given, 'name') ? 'name' : 'link';
  if (field === 'name' && given.link !== undefined)
    writer.check.fail('name', given.name, 'excludes link', true);
  writeTarget(writer, checkLink(writer, field, given[field]));
  return writer;
}

/** The message that gives a link an alternative name, or takes it away: RTM_NEWLINKPROP, RTM_DELLINKPROP. */
export function encodeAlternativeName(
  verb: 'add' | 'delete',
  link: LinkReference,
  name: string,
): MessageWriter {
  const writer = new MessageWriter(
    verb === 'add' ? RTM.newLinkProperty : RTM.deleteLinkProperty,
    verb === 'add' ? NLM_F.create | NLM_F.exclusive | NLM_F.append : 0,
  );
  writeTarget(writer, checkLink(writer, 'link', link));
  if (checked(writer, 'name', name, alternativeName)) {
    writer.attribute(IFLA.propList | NLA_F_NESTED, () =>
      writer.attribute(IFLA.altIfname, () => alternativeName.write(writer, name)),
    );
  }
  return writer;
}

/** The message that reads every link. */
export function encodeListLinks(): MessageWriter {
  return encodeRead(NLM_F.dump, 0);
}

/** The message that reads one link. */
export function encodeGetLink(link: LinkReference): MessageWriter {
  return encodeRead(NLM_F.acknowledge, link);
}

/** Link 0 stands for every link. */
function encodeRead(flags: number, link: LinkReference): MessageWriter {
  const writer = new MessageWriter(RTM.getLink, flags);
  const target = flags === NLM_F.dump ? 0 : checkLink(writer, 'link', link);
  writeTarget(writer, target);
  writer.attribute(IFLA.extMask, () => writer.u32(RTEXT_FILTER_SKIP_STATS));
  return writer;
}

/** struct ifinfomsg with the index of a link, and its name if that is given. */
function writeTarget(writer: MessageWriter, target: LinkReference): void {
  writeHeader(writer, typeof target === 'number' ? target : 0);
  if (typeof target === 'number') return;
  // An alternative name that is not longer than a name is found by that attribute too.
  const type = isLinkName(target) ? IFLA.ifname : IFLA.altIfname;
  writer.attribute(type, () => linkName.write(writer, target));
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
  if (netns !== undefined) {
    writeNamespace(writer, `${path}netns`, netns, { pid: IFLA.netNsPid, fd: IFLA.netNsFd });
  }
}

/** Index 0 means no master. */
function writeMaster(writer: MessageWriter, master: LinkReference | null | undefined): void {
  if (master === undefined) return;
  if (master === null || checked(writer, 'settings.master', master, linkReference)) {
    writer.attribute(IFLA.master, () => writer.link(master ?? 0));
  }
}

function writeKind(
  writer: MessageWriter,
  kind: WrittenKind,
  settings: LinkSettings | NewLinkSettings,
  isNew: boolean,
): void {
  const format = WRITTEN_KINDS[kind] as KindFormat<object, object>;
  format.write(writer, `settings.${kind}`, settings[kind] as object, isNew);
}

function writePeer(writer: MessageWriter, kind: string, peer: VethPeer): void {
  if (!writer.check.object('settings.peer', peer, PEER, 'the other end of a pair')) return;
  const { value, mask } = bitsOf<LinkSwitches>(writer, 'settings.peer.', peer, SWITCHES);
  if (kind === 'netkit' && mask !== 0) {
    const rule = 'must have no flags, as up: the kernel ignores those of the other end of a netkit';
    writer.check.fail('settings.peer', peer, rule, true);
  }
  writer.attribute(PEER_INFO, () => {
    writeHeader(writer, 0, value, mask);
    const { name } = peer;
    if (name !== undefined && checked(writer, 'settings.peer.name', name, linkName)) {
      writer.attribute(IFLA.ifname, () => linkName.write(writer, name));
    }
    writeCommon(writer, 'settings.peer.', peer);
  });
}
