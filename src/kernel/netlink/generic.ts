// Generic netlink: the header of its messages, and the families with their names (include/uapi/linux/genetlink.h).
import { NetlinkError } from '../errors.js';
import { argumentError, checkObject, invalidInteger } from '../shared/arguments.js';
import { type Attribute, AttributeReader } from './attributeReader.js';
import { AttributeWriter } from './attributeWriter.js';
import type { GenericFamily, NetlinkMessage, NetlinkRequest } from './types.js';

/** `GENL_ID_CTRL`: the id of the family that knows all families. */
export const GENL_ID_CTRL = 0x10;

/** Bytes of `genlmsghdr`. */
export const GENERIC_HEADER_SIZE = 4;

const CTRL_CMD_GETFAMILY = 3;
const CTRL_ATTR = { familyId: 1, familyName: 2, version: 3, headerSize: 4, groups: 7 } as const;
const CTRL_ATTR_MCAST_GRP = { name: 1, id: 2 } as const;

/** The header of a message of generic netlink (`genlmsghdr`), for {@link AttributeWriter}. `command` and `version` are 0–255. */
export function genericHeader(command: number, version = 1): Uint8Array {
  const invalid = invalidInteger('command', command, 0, 255) ?? invalidInteger('version', version, 0, 255);
  if (invalid) throw argumentError('netlink.genericHeader', invalid);
  return Uint8Array.of(command, version, 0, 0);
}

/** The command of a message of generic netlink; its attributes are behind {@link GENERIC_HEADER_SIZE} bytes. */
export function genericCommand(message: Pick<NetlinkMessage, 'payload'>): number {
  const payload = payloadOf(message, 'netlink.genericCommand');
  const [command] = payload;
  if (command !== undefined && payload.length >= GENERIC_HEADER_SIZE) return command;
  const kernelMessage = 'the message is shorter than genlmsghdr';
  throw new NetlinkError({ code: 'ERR_MALFORMED_REPLY', operation: 'netlink.read', kernelMessage });
}

/** The request for a family by its name. */
export function familyRequest(name: string): NetlinkRequest {
  const payload = new AttributeWriter(genericHeader(CTRL_CMD_GETFAMILY))
    .text(CTRL_ATTR.familyName, name)
    .payload();
  return { type: GENL_ID_CTRL, payload };
}

/** Reads a family from a message of the controller, as a reply or in a listing. */
export function readFamily(message: Pick<NetlinkMessage, 'payload'>, operation?: string): GenericFamily {
  const payload = payloadOf(message, 'netlink.readFamily');
  const family = { name: '', id: 0, version: 0, headerSize: 0, groups: new Map<string, number>() };
  for (const attribute of new AttributeReader(payload, { offset: GENERIC_HEADER_SIZE, operation })) {
    switch (attribute.type) {
      case CTRL_ATTR.familyId:
        family.id = attribute.u16();
        break;
      case CTRL_ATTR.familyName:
        family.name = attribute.text();
        break;
      case CTRL_ATTR.version:
        family.version = attribute.u32();
        break;
      case CTRL_ATTR.headerSize:
        family.headerSize = attribute.u32();
        break;
      case CTRL_ATTR.groups:
        for (const group of attribute.nested()) readGroup(group, family.groups);
        break;
      default:
    }
  }
  return family;
}

function payloadOf(message: Pick<NetlinkMessage, 'payload'>, operation: string): Uint8Array {
  checkObject(operation, 'message', message);
  const { payload } = message;
  if (payload instanceof Uint8Array) return payload;
  const rule = 'must be a Uint8Array';
  throw argumentError(operation, { field: 'message.payload', value: payload, rule, wrongType: true });
}

function readGroup(group: Attribute, groups: Map<string, number>): void {
  let name = '';
  let id = 0;
  for (const attribute of group.nested()) {
    if (attribute.type === CTRL_ATTR_MCAST_GRP.name) name = attribute.text();
    if (attribute.type === CTRL_ATTR_MCAST_GRP.id) id = attribute.u32();
  }
  groups.set(name, id);
}
