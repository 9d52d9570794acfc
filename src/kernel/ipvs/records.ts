// IPVS values ↔ the records that cross to the addon.
import type { Family } from '../../net/address.js';
import { PROTOCOL_NUMBERS, protocolOfNumber } from '../../net/protocol.js';
import { argumentError } from '../arguments.js';
import type { Reading } from '../listing.js';
import { RecordReader } from '../recordReader.js';
import { onlyRecord, RecordWriter } from '../recordWriter.js';
import {
  COUNTERS,
  KERNEL_IPVS,
  LISTED_SERVER,
  LISTED_SERVICE,
  OPERATION,
  SERVER,
  SERVICE,
  TIMEOUTS,
  VERB,
} from './layouts.js';
import {
  type Encapsulation,
  FLAG_HASHED,
  FLAG_PERSISTENT,
  type IpvsCounters,
  type IpvsInfo,
  type IpvsOperation,
  type IpvsTimeouts,
  type RealServer,
  type RealServerId,
  type RealServerState,
  type VirtualService,
  type VirtualServiceId,
  type VirtualServiceSettings,
  type VirtualServiceState,
} from './types.js';

const LARGEST_U32 = 0xffff_ffff;
const LARGEST_I32 = 0x7fff_ffff;
// The longest times that still fit 32 bits when the kernel has multiplied them by HZ, which is at most 1000.
const LONGEST_PERSISTENCE = 4_294_967;
const LONGEST_TIMEOUT = 2_147_483;

// IP_VS_CONN_F_…, the methods that may be written.
const FORWARDING = { masquerade: 0, tunnel: 2, route: 3 } as const;
const ENCAPSULATION: Readonly<Record<Encapsulation['type'], number>> = { gue: 1, gre: 2 };

const OPERATION_FIELDS = {
  service: new Set(['do', 'service']),
  realServer: new Set(['do', 'service', 'realServer']),
};
// Services and real servers that were listed may be given as they are: counters, which nobody can set, are ignored.
const SERVICE_FIELDS = new Set([
  ...['address', 'port', 'protocol', 'firewallMark', 'family'],
  ...['scheduler', 'flags', 'timeout', 'netmask', 'persistenceEngine', 'counters', 'realServers'],
]);
const SERVER_FIELDS = new Set([
  ...['address', 'port', 'weight', 'forwarding', 'upperThreshold', 'lowerThreshold', 'encapsulation'],
  ...['activeConnections', 'inactiveConnections', 'persistentConnections', 'counters'],
]);
const ENCAPSULATION_FIELDS = new Set(['type', 'port', 'flags']);
const TIMEOUTS_FIELDS = new Set(['tcp', 'tcpFin', 'udp']);

/** Writes an operation record. */
export function writeOperation(operation: IpvsOperation, writer: RecordWriter): void {
  const verb = operation?.do;
  const number = writer.choice('do', verb, VERB.numbers);
  if (number === 0) return;
  writer.u8(OPERATION.verb, number);
  const known = verb.endsWith('Service') ? OPERATION_FIELDS.service : OPERATION_FIELDS.realServer;
  writer.onlyFields('', operation, known, `the operation ${verb}`);
  const family = writeServiceId(operation.service, writer, OPERATION.service);
  if (family === undefined) return;
  switch (verb) {
    case 'addService':
      if ('realServers' in operation.service) {
        const rule = 'must be left out: real servers are added on their own';
        writer.fail('service.realServers', operation.service.realServers, rule);
      }
      writeSettings(operation.service, family, writer);
      break;
    case 'updateService':
      writeSettings(operation.service, family, writer);
      break;
    case 'addRealServer':
    case 'updateRealServer':
      writeServerSettings(operation.realServer, family, writer);
      break;
    case 'deleteRealServer':
      writeServerId(operation.realServer, writer);
      break;
    default:
  }
}

/** Writes the fields that name a service; returns its family, or undefined when it is not even an object. */
function writeServiceId(
  id: VirtualServiceId | undefined,
  writer: RecordWriter,
  part = 0,
): Family | undefined {
  if (typeof id !== 'object' || id === null) {
    writer.fail('service', id, 'must be an object', true);
    return undefined;
  }
  writer.onlyFields('service.', id, SERVICE_FIELDS, 'a virtual service');
  let family: Family;
  if ('firewallMark' in id) {
    family = id.family === 6 ? 6 : 4;
    if (id.family !== family) writer.fail('service.family', id.family, 'must be 4 or 6');
    const mark = writer.integer('service.firewallMark', id.firewallMark, 1, LARGEST_U32);
    writer.u32(SERVICE.firewallMark, mark, part);
  } else {
    family = writer.address('service.address', id.address, SERVICE.address, part);
    writer.u8(SERVICE.protocol, writer.choice('service.protocol', id.protocol, PROTOCOL_NUMBERS), part);
    writer.u16(SERVICE.port, writer.integer('service.port', id.port, 0, 65535), part);
  }
  writer.u8(SERVICE.family, family, part);
  return family;
}

function writeSettings(
  service: VirtualServiceId & VirtualServiceSettings,
  family: Family,
  writer: RecordWriter,
): void {
  const flags = writer.integer('service.flags', service.flags, 0, LARGEST_U32);
  if ((flags & FLAG_HASHED) !== 0) {
    writer.fail('service.flags', flags, "must leave out FLAG_HASHED, which is the kernel's own");
  }
  if ('port' in service && service.port === 0 && (flags & FLAG_PERSISTENT) === 0) {
    writer.fail('service.port', 0, 'must be 1 to 65535 without FLAG_PERSISTENT');
  }
  const part = OPERATION.service;
  writer.u32(SERVICE.flags, flags, part);
  const timeout = writer.integer('service.timeout', service.timeout, 0, LONGEST_PERSISTENCE);
  writer.u32(SERVICE.timeout, timeout, part);
  const widest = family === 4 ? 32 : 128;
  writer.u8(SERVICE.netmask, writer.integer('service.netmask', service.netmask, 1, widest), part);
  writer.text('service.scheduler', service.scheduler, SERVICE.scheduler, part);
  if (service.persistenceEngine !== undefined) {
    writer.text('service.persistenceEngine', service.persistenceEngine, SERVICE.persistenceEngine, part);
  }
}

function writeServerId(id: RealServerId | undefined, writer: RecordWriter): Family {
  if (typeof id !== 'object' || id === null) {
    writer.fail('realServer', id, 'must be an object', true);
    return 4;
  }
  writer.onlyFields('realServer.', id, SERVER_FIELDS, 'a real server');
  const part = OPERATION.server;
  const family = writer.address('realServer.address', id.address, SERVER.address, part);
  writer.u8(SERVER.family, family, part);
  writer.u16(SERVER.port, writer.integer('realServer.port', id.port, 0, 65535), part);
  return family;
}

function writeServerSettings(server: RealServer, serviceFamily: Family, writer: RecordWriter): void {
  const family = writeServerId(server, writer);
  if (typeof server !== 'object' || server === null) return;
  const part = OPERATION.server;
  const method = writer.choice('realServer.forwarding', server.forwarding, FORWARDING);
  writer.u8(SERVER.forwarding, method, part);
  if (family !== serviceFamily && server.forwarding !== 'tunnel') {
    writer.fail('realServer.address', server.address, `must be IPv${serviceFamily}, as its service is`);
  }
  writer.u32(SERVER.weight, writer.integer('realServer.weight', server.weight, 0, LARGEST_I32), part);
  const upper = writer.integer('realServer.upperThreshold', server.upperThreshold, 0, LARGEST_U32);
  writer.u32(SERVER.upperThreshold, upper, part);
  const lower = writer.integer('realServer.lowerThreshold', server.lowerThreshold, 0, upper);
  writer.u32(SERVER.lowerThreshold, lower, part);
  if (server.encapsulation !== undefined) writeEncapsulation(server, server.encapsulation, writer);
}

function writeEncapsulation(server: RealServer, encapsulation: Encapsulation, writer: RecordWriter): void {
  const field = 'realServer.encapsulation';
  writer.onlyFields(`${field}.`, encapsulation, ENCAPSULATION_FIELDS, 'an encapsulation');
  if (server.forwarding !== 'tunnel') writer.fail(field, encapsulation, 'must be left out without tunnel');
  const part = OPERATION.server;
  writer.u8(SERVER.tunnelType, writer.choice(`${field}.type`, encapsulation?.type, ENCAPSULATION), part);
  const [least, most] = encapsulation?.type === 'gue' ? [1, 65535] : [0, 0];
  writer.u16(SERVER.tunnelPort, writer.integer(`${field}.port`, encapsulation?.port, least, most), part);
  writer.u16(SERVER.tunnelFlags, writer.integer(`${field}.flags`, encapsulation?.flags, 0, 65535), part);
}

/** The record that names a service; throws the error of the call when it breaks a rule. */
export function packServiceId(id: VirtualServiceId, operation: string): Uint8Array {
  const writer = new RecordWriter(SERVICE.SIZE, 1);
  writeServiceId(id, writer);
  return onlyRecord(writer, operation);
}

/** The records that name services; throws the error of the call when one of them breaks a rule. */
export function packServiceIds(ids: readonly VirtualServiceId[], operation: string): Uint8Array {
  const writer = new RecordWriter(SERVICE.SIZE, ids.length);
  for (const [i, id] of ids.entries()) {
    writeServiceId(id, writer);
    const fault = writer.finish();
    if (fault) throw argumentError(operation, { ...fault, field: `ids[${i}].${fault.field}` });
  }
  return writer.records();
}

/** The record of connection timeouts; throws the error of the call when they break a rule. */
export function packTimeouts(timeouts: IpvsTimeouts): Uint8Array {
  const writer = new RecordWriter(TIMEOUTS.SIZE, 1);
  writeTimeouts(timeouts, writer);
  return onlyRecord(writer, 'ipvs.setTimeouts');
}

function writeTimeouts(timeouts: IpvsTimeouts, writer: RecordWriter): void {
  writer.onlyFields('', timeouts, TIMEOUTS_FIELDS, 'the timeouts');
  writer.u32(TIMEOUTS.tcp, writer.integer('tcp', timeouts?.tcp, 0, LONGEST_TIMEOUT));
  writer.u32(TIMEOUTS.tcpFin, writer.integer('tcpFin', timeouts?.tcpFin, 0, LONGEST_TIMEOUT));
  writer.u32(TIMEOUTS.udp, writer.integer('udp', timeouts?.udp, 0, LONGEST_TIMEOUT));
}

/** Reads a listing: services, each followed by its servers. */
export function* readListing(bytes: Uint8Array): Reading<VirtualServiceState> {
  for (const reader = new RecordReader(bytes); reader.hasMore; ) {
    const service = readService(reader);
    const counters = readCounters(reader, LISTED_SERVICE.counters);
    const realServers: RealServerState[] = [];
    for (let left = skipService(reader); left > 0; left--) {
      realServers.push(readServerState(reader));
      reader.skip(LISTED_SERVER.SIZE);
      yield undefined;
    }
    yield { ...service, counters, realServers };
  }
}

/** Reads a listing without real servers; counters are left out. */
export function* readServices(bytes: Uint8Array): Reading<VirtualService> {
  for (const reader = new RecordReader(bytes); reader.hasMore; reader.skip(LISTED_SERVICE.SIZE)) {
    yield readService(reader);
  }
}

/** Reads the real servers of each service of a listing; connections and counters are left out. */
export function* readRealServers(bytes: Uint8Array): Reading<RealServer[]> {
  for (const reader = new RecordReader(bytes); reader.hasMore; ) {
    const realServers: RealServer[] = [];
    for (let left = skipService(reader); left > 0; left--) {
      realServers.push(readServer(reader));
      reader.skip(LISTED_SERVER.SIZE);
      yield undefined;
    }
    yield realServers;
  }
}

/** Skips a listed service, so that its real servers are next; returns their number. */
function skipService(reader: RecordReader): number {
  const count = reader.u32(SERVICE.realServers, LISTED_SERVICE.service);
  reader.skip(LISTED_SERVICE.SIZE);
  return count;
}

function readService(reader: RecordReader): VirtualService {
  const part = LISTED_SERVICE.service;
  const persistenceEngine = reader.text(SERVICE.persistenceEngine, part);
  return {
    ...readServiceId(reader, part),
    scheduler: reader.text(SERVICE.scheduler, part),
    flags: reader.u32(SERVICE.flags, part),
    timeout: reader.u32(SERVICE.timeout, part),
    netmask: reader.u8(SERVICE.netmask, part),
    ...(persistenceEngine && { persistenceEngine }),
  };
}

function readServiceId(reader: RecordReader, part: number): VirtualServiceId {
  const family = reader.u8(SERVICE.family, part) === 6 ? 6 : 4;
  const firewallMark = reader.u32(SERVICE.firewallMark, part);
  if (firewallMark !== 0) return { firewallMark, family };
  const number = reader.u8(SERVICE.protocol, part);
  const protocol = protocolOfNumber(number);
  // ip_vs_ctl.c takes no others: "Check for valid protocol: TCP or UDP or SCTP".
  if (!protocol) throw new RangeError(`virtual service of protocol ${number}`);
  const address = reader.address(SERVICE.address, family, part);
  return { address, port: reader.u16(SERVICE.port, part), protocol };
}

function readServerState(reader: RecordReader): RealServerState {
  return {
    ...readServer(reader),
    activeConnections: reader.u32(LISTED_SERVER.activeConnections),
    inactiveConnections: reader.u32(LISTED_SERVER.inactiveConnections),
    persistentConnections: reader.u32(LISTED_SERVER.persistentConnections),
    counters: readCounters(reader, LISTED_SERVER.counters),
  };
}

function readServer(reader: RecordReader): RealServer {
  const part = LISTED_SERVER.server;
  const encapsulation = readEncapsulation(reader, part);
  return {
    address: reader.address(SERVER.address, reader.u8(SERVER.family, part) === 6 ? 6 : 4, part),
    port: reader.u16(SERVER.port, part),
    weight: reader.u32(SERVER.weight, part),
    forwarding: nameOf(FORWARDING, reader.u8(SERVER.forwarding, part)) ?? 'other',
    upperThreshold: reader.u32(SERVER.upperThreshold, part),
    lowerThreshold: reader.u32(SERVER.lowerThreshold, part),
    ...(encapsulation && { encapsulation }),
  };
}

function readEncapsulation(reader: RecordReader, part: number): Encapsulation | undefined {
  const type = nameOf(ENCAPSULATION, reader.u8(SERVER.tunnelType, part));
  if (!type) return undefined;
  return { type, port: reader.u16(SERVER.tunnelPort, part), flags: reader.u16(SERVER.tunnelFlags, part) };
}

function readCounters(reader: RecordReader, part: number): IpvsCounters {
  return {
    connections: reader.u64(COUNTERS.connections, part),
    inPackets: reader.u64(COUNTERS.inPackets, part),
    outPackets: reader.u64(COUNTERS.outPackets, part),
    inBytes: reader.u64(COUNTERS.inBytes, part),
    outBytes: reader.u64(COUNTERS.outBytes, part),
  };
}

/** Reads an {@link IpvsInfo}. */
export function readInfo(bytes: Uint8Array): IpvsInfo {
  const reader = new RecordReader(bytes);
  const version = reader.u32(KERNEL_IPVS.version);
  return {
    version: `${(version >> 16) & 255}.${(version >> 8) & 255}.${version & 255}`,
    connectionTableSize: reader.u32(KERNEL_IPVS.connectionTableSize),
  };
}

/** Reads the connection timeouts. */
export function readTimeouts(bytes: Uint8Array): IpvsTimeouts {
  const reader = new RecordReader(bytes);
  return {
    tcp: reader.u32(TIMEOUTS.tcp),
    tcpFin: reader.u32(TIMEOUTS.tcpFin),
    udp: reader.u32(TIMEOUTS.udp),
  };
}

function nameOf<Name extends string>(
  numbers: Readonly<Record<Name, number>>,
  number: number,
): Name | undefined {
  return (Object.keys(numbers) as Name[]).find((name) => numbers[name] === number);
}
