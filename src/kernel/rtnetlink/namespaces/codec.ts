// Ids of network namespaces ↔ messages. Numbers: include/uapi/linux/net_namespace.h (NETNSA_).
import { shown } from '../../shared/arguments.js';
import { checked, text } from '../fields.js';
import { type Message, MessageWriter } from '../message.js';
import { NLM_F, RTM } from '../numbers.js';
import type { NetworkNamespace, NewNamespaceId } from './types.js';

const NETNSA = { id: 1, pid: 2, fd: 3 } as const;
/** NETNSA_NSID_NOT_ASSIGNED, which in a request lets the kernel select one. */
const NONE = 0xffff_ffff;
const LARGEST_ID = 0x7fff_ffff;
const LONGEST_PATH = 4095;
const LARGEST_PID = 0x3f_ffff; // PID_MAX_LIMIT, include/linux/threads.h
/** struct rtgenmsg, padded. */
const HEADER_SIZE = 4;
const NAMES: ReadonlySet<string> = new Set(['netns', 'id']);

/** `netns /run/netns/blue`. */
export function describeNamespace(netns: unknown): string {
  return `netns ${shown(netns)}`;
}

/** Writes a network namespace, as an attribute that has the id of a process, or one that has a descriptor. */
export function writeNamespace(
  writer: MessageWriter,
  field: string,
  netns: unknown,
  attributes: Readonly<Record<'pid' | 'fd', number>>,
): void {
  if (typeof netns === 'number') {
    const pid = writer.check.integer(field, netns, 1, LARGEST_PID);
    writer.attribute(attributes.pid, () => writer.u32(pid));
  } else if (checked(writer, field, netns, text(LONGEST_PATH))) {
    writer.attribute(attributes.fd, () => writer.networkNamespace(netns as string));
  }
}

/** The message that gives a network namespace an id. */
export function encodeNamespaceId(given: NewNamespaceId): MessageWriter {
  const writer = new MessageWriter(RTM.newNamespaceId, 0).u32(0);
  const { check } = writer;
  if (!check.object('namespaceId', given, NAMES, 'an id of a network namespace')) return writer;
  writeNamespace(writer, 'namespaceId.netns', given.netns, NETNSA);
  const id = given.id === undefined ? NONE : check.integer('namespaceId.id', given.id, 0, LARGEST_ID);
  return writer.attribute(NETNSA.id, () => writer.u32(id));
}

/** The message that asks for the id of a network namespace. */
export function encodeGetNamespaceId(netns: NetworkNamespace): MessageWriter {
  const writer = new MessageWriter(RTM.getNamespaceId, NLM_F.acknowledge).u32(0);
  writeNamespace(writer, 'netns', netns, NETNSA);
  return writer;
}

/** The message that lists the ids of network namespaces. */
export function encodeListNamespaceIds(): MessageWriter {
  return new MessageWriter(RTM.getNamespaceId, NLM_F.dump).u32(0);
}

/** Reads an id; undefined if the network namespace has none. */
export function readNamespaceId(message: Message): number | undefined {
  for (const attributes = message.attributes(HEADER_SIZE); attributes.next(); ) {
    if (attributes.type !== NETNSA.id) continue;
    const id = attributes.u32();
    return id === NONE ? undefined : id;
  }
  return undefined;
}
