// Counters of nfacct ↔ messages of netlink (include/uapi/linux/netfilter/nfnetlink_acct.h).
import { NetlinkError } from '../../../kernel/errors.js';
import { AttributeReader } from '../../../kernel/netlink/attributeReader.js';
import { AttributeWriter } from '../../../kernel/netlink/attributeWriter.js';
import { NLM_F_CREATE } from '../../../kernel/netlink/flags.js';
import { NETFILTER_HEADER_SIZE, netfilterHeader } from '../../../kernel/netlink/headers.js';
import type { NetlinkMessage, NetlinkRequest } from '../../../kernel/netlink/types.js';
import type { NfacctCounter } from './types.js';

/** `NFNL_SUBSYS_ACCT`, in the upper byte of the type of a message. */
const SUBSYSTEM = 7;
/** `enum nfnl_acct_msg_types` */
const NFNL_MSG_ACCT = { new: 0, get: 1 } as const;
/** `enum nfnl_acct_type`. The numbers are in network order. */
const NFACCT = { name: 1, packets: 2, bytes: 3 } as const;
/** `NFACCT_NAME_MAX` is 32, with the zero. */
const LONGEST_NAME = 31;

/** The request to create a counter. */
export function addRequest(name: string): NetlinkRequest {
  return { type: messageType(NFNL_MSG_ACCT.new), flags: NLM_F_CREATE, payload: named(name, 'nfacct.add') };
}

/** The request for a counter. */
export function getRequest(name: string): NetlinkRequest {
  return { type: messageType(NFNL_MSG_ACCT.get), payload: named(name, 'nfacct.get') };
}

/** Reads a counter. Throws a NetlinkError `ERR_MALFORMED_REPLY` if the message is not one. */
export function readCounter({ payload }: NetlinkMessage): NfacctCounter {
  const operation = 'nfacct.get';
  let name: string | undefined;
  let packets = 0n;
  let bytes = 0n;
  for (const attribute of new AttributeReader(payload, { offset: NETFILTER_HEADER_SIZE, operation })) {
    if (attribute.type === NFACCT.name) name = attribute.text();
    else if (attribute.type === NFACCT.packets) packets = attribute.u64be();
    else if (attribute.type === NFACCT.bytes) bytes = attribute.u64be();
  }
  if (name !== undefined) return { name, packets, bytes };
  const kernelMessage = 'the message has no name of a counter';
  throw new NetlinkError({ code: 'ERR_MALFORMED_REPLY', operation, kernelMessage });
}

function messageType(verb: number): number {
  return (SUBSYSTEM << 8) | verb;
}

function named(name: string, operation: string): Uint8Array {
  const { length } = Buffer.from(name);
  if (length === 0 || length > LONGEST_NAME || name.includes('\0')) {
    const kernelMessage = `name must have 1 to ${LONGEST_NAME} bytes and no zero`;
    throw new NetlinkError({ code: 'ERR_INVALID_ARGUMENT', operation, target: name, kernelMessage });
  }
  return new AttributeWriter(netfilterHeader(0)).text(NFACCT.name, name).payload();
}
