// Reads links from messages.
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import { field, integer, type LinkNames, type Numbers, nameOf, readKnownField } from '../fields.js';
import { flagNames } from '../flags.js';
import type { Message } from '../message.js';
import {
  AF_INET6,
  ATTRIBUTES,
  addressGeneration,
  FLAGS,
  HEADER_SIZE,
  IFLA,
  IFLA_INET6_ADDR_GEN_MODE,
  INFO,
  QUEUES,
} from './fields.js';
import { LISTED_KINDS, LISTED_PORTS } from './kinds/index.js';
import type { Link, OperationalState } from './types.js';

const STATES: Numbers<Extract<OperationalState, string>> = {
  unknown: 0,
  notpresent: 1,
  down: 2,
  lowerlayerdown: 3,
  testing: 4,
  dormant: 5,
  up: 6,
};
const LISTED = {
  ...ATTRIBUTES,
  ...QUEUES,
  promiscuity: field(30, integer('u32')),
  minMtu: field(50, integer('u32')),
  maxMtu: field(51, integer('u32')),
};

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
      link['state'] = nameOf(STATES, attribute.u8()) ?? attribute.u8();
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
      readKnownField(attribute, LISTED, link, links);
  }
}

function* alternativeNames(attributes: AttributeCursor): Generator<string, void> {
  while (attributes.next()) if (attributes.type === IFLA.altIfname) yield attributes.text();
}

/** The kind precedes its settings: rtnl_link_fill. */
function readInfo(attributes: AttributeCursor, link: Record<string, unknown>, links: LinkNames): void {
  let kind = '';
  let slaveKind = '';
  while (attributes.next()) {
    switch (attributes.type) {
      case INFO.kind:
        kind = attributes.text();
        link['kind'] = kind;
        break;
      case INFO.slaveKind:
        slaveKind = attributes.text();
        break;
      case INFO.data: {
        const format = LISTED_KINDS.get(kind);
        if (format) link[kind] = format.read(attributes.nested(), links);
        break;
      }
      case INFO.slaveData: {
        const port = LISTED_PORTS.get(slaveKind);
        if (port) link[port.field] = port.format.read(attributes.nested(), links);
        break;
      }
      default:
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
