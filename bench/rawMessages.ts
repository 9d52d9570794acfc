// Phases as netlink messages for the raw limit. Written apart from the library's encoders, whose work they measure.
// include/uapi/linux: netlink.h, ip_vs.h, netfilter/ipset/ip_set.h, if_addr.h.
import type { SetEntry } from '../src/kernel/ipset/types.js';
import { AttributeWriter, genericHeader, NLA_F_NET_BYTEORDER } from '../src/kernel/netlink/index.js';
import { addressBytes } from './bytes.js';
import { type KernelNumbers, NO_IPVS, type Phase, type ServedService, type ServerChange } from './phases.js';

/** Messages for one socket. */
export interface RawMessages {
  /** `NETLINK_…`. */
  readonly protocol: number;
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** Entries in one message: about as many as a message of 64 KiB, whose attributes have 16-bit lengths, holds. */
export const ENTRIES_PER_MESSAGE = 1000;

const NETLINK_ROUTE = 0;
const NETLINK_NETFILTER = 12;
const NETLINK_GENERIC = 16;
const NLM_F_REQUEST = 1;
const NLM_F_DUMP = 0x300;
const NLM_F_CREATE_EXCL = 0x600;
const AF_INET = 2;
const RTM_NEWADDR = 20;
const RTM_GETADDR = 22;
const IPSET = { list: 0x607, add: 0x609 } as const;
const IPVS = { newService: 1, getService: 4, newServer: 5, deleteServer: 7, getServers: 8 } as const;
const PROTOCOLS = { tcp: 6, udp: 17, sctp: 132 } as const;

/** The additions of a phase. @param each one entry in each message, not {@link ENTRIES_PER_MESSAGE} */
export function additionMessages(
  phase: Exclude<Phase, { kind: 'rules' }>,
  numbers: KernelNumbers,
  each = false,
): RawMessages {
  switch (phase.kind) {
    case 'services':
      return joined(
        NETLINK_GENERIC,
        phase.services.flatMap((served) => serviceMessages(served, ipvsOf(numbers))),
      );
    case 'entries':
      return joined(NETLINK_NETFILTER, [
        ...entryMessages(phase.set.name, phase.entries, each ? 1 : ENTRIES_PER_MESSAGE),
      ]);
    case 'addresses':
      return joined(
        NETLINK_ROUTE,
        phase.addresses.map((address) => addressMessage(address, numbers.link)),
      );
  }
}

/** Additions and deletions of real servers, in their order. */
export function changeMessages(changes: readonly ServerChange[], numbers: KernelNumbers): RawMessages {
  const family = ipvsOf(numbers);
  return joined(
    NETLINK_GENERIC,
    changes.flatMap(({ deleted, service, realServer }) =>
      serviceMessages({ service, realServers: [realServer] }, family, deleted).slice(1),
    ),
  );
}

/** Lists of everything that a workload consists of, each for a socket of its own, with the size of its datagrams. */
export function listMessages(
  workload: { readonly services: readonly ServedService[]; readonly sets: readonly string[] },
  numbers: KernelNumbers,
): (RawMessages & { readonly datagramSize: number })[] {
  const family = ipvsOf(numbers);
  const large = 32 * 1024;
  const list = (type: number, payload: Uint8Array) => message(type, NLM_F_DUMP, payload);
  const services = [list(family, genericHeader(IPVS.getService, 1))];
  // The kernel allocates as much for each list as it has seen offered: lists of real servers are short.
  const servers = workload.services.map((served) =>
    list(
      family,
      new AttributeWriter(genericHeader(IPVS.getServers, 1))
        .nested(1, (attributes) => putServiceId(attributes, served))
        .payload(),
    ),
  );
  const sets = workload.sets.map((name) => list(IPSET.list, setPayload(name).payload()));
  const addresses = [list(RTM_GETADDR, addressHeader(0, 0))];
  return [
    { ...joined(NETLINK_GENERIC, services), datagramSize: large },
    { ...joined(NETLINK_GENERIC, servers), datagramSize: 8 * 1024 },
    { ...joined(NETLINK_NETFILTER, sets), datagramSize: 2 * large },
    { ...joined(NETLINK_ROUTE, addresses), datagramSize: large },
  ];
}

function ipvsOf({ ipvs }: KernelNumbers): number {
  if (ipvs === undefined) throw new Error(NO_IPVS);
  return ipvs;
}

/** The message of the virtual service, and those of its real servers. */
function serviceMessages(served: ServedService, family: number, deleted = false): Uint8Array[] {
  const { service } = served;
  const added = new AttributeWriter(genericHeader(IPVS.newService, 1)).nested(1, (attributes) => {
    putServiceId(attributes, served);
    attributes.text(6, service.scheduler).bytes(7, wholeFlags());
    attributes.u32(8, service.persistence?.timeout ?? 0).u32(9, 0xffff_ffff);
  });
  const command = genericHeader(deleted ? IPVS.deleteServer : IPVS.newServer, 1);
  const servers = served.realServers.map((server) =>
    new AttributeWriter(command)
      .nested(1, (attributes) => putServiceId(attributes, served))
      .nested(2, (attributes) => {
        attributes.u16(11, AF_INET).bytes(1, addressBytes(server.address, 16)).u16be(2, server.port);
        if (!deleted) attributes.u32(3, 0).u32(4, server.weight).u32(5, 0).u32(6, 0);
      })
      .payload(),
  );
  return [added.payload(), ...servers].map((payload) => message(family, 0, payload));
}

function putServiceId(attributes: AttributeWriter, { service }: ServedService): void {
  if (!('address' in service)) throw new Error('the benchmark has no virtual services by firewall mark');
  attributes.u16(1, AF_INET).u16(2, PROTOCOLS[service.protocol as keyof typeof PROTOCOLS]);
  attributes.bytes(3, addressBytes(service.address, 16)).u16be(4, service.port);
}

/** struct ip_vs_flags: no flag, and a mask of all. */
function wholeFlags(): Uint8Array {
  const flags = new Uint8Array(8);
  flags.fill(0xff, 4);
  return flags;
}

function* entryMessages(set: string, entries: readonly SetEntry[], size: number): Generator<Uint8Array> {
  for (let start = 0; start < entries.length; start += size) {
    const payload = setPayload(set)
      .nested(8, (list) => {
        for (const entry of entries.slice(start, start + size))
          list.nested(7, (attributes) => putEntry(attributes, entry));
      })
      .u32be(9 | NLA_F_NET_BYTEORDER, 0)
      .payload();
    yield message(IPSET.add, 0, payload);
  }
}

/** struct nfgenmsg, the protocol's version and the name of the set. */
function setPayload(set: string): AttributeWriter {
  return new AttributeWriter(Uint8Array.of(AF_INET, 0, 0, 0)).u8(1, 6).text(2, set);
}

function putEntry(attributes: AttributeWriter, { address, protocol, port, ...others }: SetEntry): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`the benchmark has no entries with ${unknown}`);
  if (address !== undefined) {
    attributes.nested(1, (inner) => inner.bytes(1 | NLA_F_NET_BYTEORDER, addressBytes(address, 4)));
  }
  if (port !== undefined) attributes.u16be(4 | NLA_F_NET_BYTEORDER, port);
  if (protocol !== undefined) attributes.u8(7, typeof protocol === 'number' ? protocol : PROTOCOLS[protocol]);
}

function addressMessage(address: string, link: number): Uint8Array {
  const bytes = addressBytes(address, 4);
  const payload = new AttributeWriter(addressHeader(32, link)).bytes(2, bytes).bytes(1, bytes).payload();
  return message(RTM_NEWADDR, NLM_F_CREATE_EXCL, payload);
}

/** struct ifaddrmsg. */
function addressHeader(prefix: number, link: number): Uint8Array {
  const header = new Uint8Array(8);
  header.set([AF_INET, prefix, 0, 0]);
  header.set(new Uint8Array(Uint32Array.of(link).buffer), 4);
  return header;
}

/** struct nlmsghdr and a payload whose length is a multiple of 4. The sequence number is filled in when it is sent. */
function message(type: number, flags: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(16 + payload.length);
  bytes.set(new Uint8Array(Uint32Array.of(bytes.length).buffer));
  bytes.set(new Uint8Array(Uint16Array.of(type, flags | NLM_F_REQUEST).buffer), 4);
  bytes.set(payload, 16);
  return bytes;
}

function joined(protocol: number, messages: readonly Uint8Array[]): RawMessages {
  return { protocol, bytes: Buffer.concat(messages), count: messages.length };
}
