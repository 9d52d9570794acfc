// VLANs of bridges and their ports ↔ messages. Numbers: include/uapi/linux/if_bridge.h (IFLA_BRIDGE_, BRIDGE_VLAN_INFO_).
import { checked, type LinkNames, linkReference } from '../fields.js';
import { HEADER_SIZE, IFLA } from '../links/fields.js';
import { type Message, MessageWriter } from '../message.js';
import { NLM_F, RTM } from '../numbers.js';
import type { BridgeVlan, BridgeVlanId, NewBridgeVlan } from './types.js';

const AF_BRIDGE = 7;
const RTEXT_FILTER_BRVLAN = 2;
const IFLA_BRIDGE = { flags: 0, vlanInfo: 2 } as const;
const BRIDGE_FLAGS_SELF = 2;
const INFO = { pvid: 2, untagged: 4, rangeBegin: 8, rangeEnd: 16 } as const;
const LAST = 4094;

const ID_NAMES: ReadonlySet<string> = new Set(['link', 'vlan', 'lastVlan', 'self']);
const NAMES: ReadonlySet<string> = new Set([...ID_NAMES, 'pvid', 'untagged']);

/** The message that adds or deletes VLANs. */
export function encodeBridgeVlan(verb: 'add' | 'delete', given: NewBridgeVlan | BridgeVlanId): MessageWriter {
  const writer = new MessageWriter(verb === 'add' ? RTM.setLink : RTM.deleteLink, 0);
  const { check } = writer;
  // A VLAN that was listed is its name.
  if (!check.object('bridgeVlan', given, NAMES, 'a VLAN of a bridge')) return writer;
  const { link, self = false, pvid = false, untagged = false } = given as NewBridgeVlan;
  for (const [name, value] of Object.entries({ self, pvid, untagged })) {
    if (typeof value !== 'boolean') check.fail(`bridgeVlan.${name}`, value, 'must be true or false', true);
  }
  const vlan = check.integer('bridgeVlan.vlan', given.vlan, 1, LAST);
  const last =
    given.lastVlan === undefined ? vlan : check.integer('bridgeVlan.lastVlan', given.lastVlan, vlan, LAST);
  if (pvid === true && last !== vlan) check.fail('bridgeVlan.pvid', pvid, 'excludes lastVlan', true);
  const hasLink = checked(writer, 'bridgeVlan.link', link, linkReference);
  writeHeader(writer, hasLink ? link : 0);
  const flags = verb === 'add' ? (pvid ? INFO.pvid : 0) | (untagged ? INFO.untagged : 0) : 0;
  writer.attribute(IFLA.afSpec, () => {
    if (self) writer.attribute(IFLA_BRIDGE.flags, () => writer.u16(BRIDGE_FLAGS_SELF));
    const one = (id: number, more: number) =>
      writer.attribute(IFLA_BRIDGE.vlanInfo, () => writer.u16(flags | more).u16(id));
    if (last === vlan) one(vlan, 0);
    else {
      one(vlan, INFO.rangeBegin);
      one(last, INFO.rangeEnd);
    }
  });
  return writer;
}

/** struct ifinfomsg of the family of bridges. */
function writeHeader(writer: MessageWriter, link: BridgeVlanId['link']): void {
  writer.u8(AF_BRIDGE).u8(0).u16(0).link(link).u32(0).u32(0);
}

/** The message that lists the VLANs of all bridges and ports. */
export function encodeListBridgeVlans(): MessageWriter {
  const writer = new MessageWriter(RTM.getLink, NLM_F.dump);
  writeHeader(writer, 0);
  return writer.attribute(IFLA.extMask, () => writer.u32(RTEXT_FILTER_BRVLAN));
}

/** Reads the VLANs of a bridge or a port. */
export function* readBridgeVlans(message: Message, links: LinkNames): Generator<BridgeVlan, void> {
  const index = message.u32(4);
  const link = links.get(index);
  if (message.u8(0) !== AF_BRIDGE || link === undefined) return;
  let master = 0;
  for (const attributes = message.attributes(HEADER_SIZE); attributes.next(); ) {
    if (attributes.type === IFLA.master) master = attributes.u32();
    if (attributes.type !== IFLA.afSpec) continue;
    // IFLA_MASTER precedes it: br_fill_ifinfo. That of a bridge is the bridge.
    const self = master === index;
    for (const inner = attributes.nested(); inner.next(); ) {
      if (inner.type !== IFLA_BRIDGE.vlanInfo) continue;
      const flags = inner.u16();
      yield {
        ...{ link, vlan: inner.u16(2), self },
        ...{ pvid: (flags & INFO.pvid) !== 0, untagged: (flags & INFO.untagged) !== 0 },
      };
    }
  }
}
