// IPVS values ↔ the records that cross to the addon; native/ipvs/records.h has the table of every offset.
import { type Family, formatAddress } from '../../net/address.js';
import { PROTOCOL_NUMBERS, protocolOfNumber } from '../../net/protocol.js';
import { argumentError, onlyRecord, RecordWriter } from '../fields.js';
import type { Steps } from '../slices.js';
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

/** Bytes of an operation. */
export const OPERATION_SIZE = 120;
// Bytes of a service, which names it and may have its settings.
const SERVICE_SIZE = 72;
// Bytes of the connection time-outs.
const TIMEOUTS_SIZE = 12;

const SERVER_SIZE = 40;
const COUNTERS_SIZE = 40;
// Where the parts of an operation begin.
const SERVICE = 8;
const SERVER = 80;

const LONGEST_NAME = 15;
const LARGEST_U32 = 0xffff_ffff;
const LARGEST_I32 = 0x7fff_ffff;
// What still fits 32 bits when the kernel has multiplied it by HZ, which is at most 1000.
const LONGEST_PERSISTENCE = 4_294_967;
const LONGEST_TIMEOUT = 2_147_483;

// IPVS_CMD_…
const VERBS: Readonly<Record<IpvsOperation['do'], number>> = {
  addService: 1,
  updateService: 2,
  deleteService: 3,
  addRealServer: 5,
  updateRealServer: 6,
  deleteRealServer: 7,
};

// IP_VS_CONN_F_…, the methods that may be written.
const FORWARDING = { masquerade: 0, tunnel: 2, route: 3 } as const;
const ENCAPSULATION: Readonly<Record<Encapsulation['type'], number>> = { gue: 1, gre: 2 };

const OPERATION_FIELDS = {
  service: new Set(['do', 'service']),
  realServer: new Set(['do', 'service', 'realServer']),
};
// Services and real servers that were listed may be given as they are: counters, which nobody can set, are passed over.
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
  const number = writer.choice('do', verb, VERBS);
  if (number === 0) return;
  writer.u8(0, number);
  const known = verb.endsWith('Service') ? OPERATION_FIELDS.service : OPERATION_FIELDS.realServer;
  writer.onlyFields('', operation, known, `the operation ${verb}`);
  const family = writeServiceId(operation.service, writer, SERVICE);
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

/** Writes what names a service, at `offset`; returns its family, or undefined when it is not even an object. */
function writeServiceId(
  id: VirtualServiceId | undefined,
  writer: RecordWriter,
  offset: number,
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
    writer.u32(offset + 4, writer.integer('service.firewallMark', id.firewallMark, 1, LARGEST_U32));
  } else {
    family = writer.address('service.address', id.address, offset + 24);
    writer.u8(offset + 1, writer.choice('service.protocol', id.protocol, PROTOCOL_NUMBERS));
    writer.u16(offset + 2, writer.integer('service.port', id.port, 0, 65535));
  }
  writer.u8(offset, family);
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
  writer.u32(SERVICE + 8, flags);
  writer.u32(SERVICE + 12, writer.integer('service.timeout', service.timeout, 0, LONGEST_PERSISTENCE));
  const widest = family === 4 ? 32 : 128;
  writer.u8(SERVICE + 16, writer.integer('service.netmask', service.netmask, 1, widest));
  writer.text('service.scheduler', service.scheduler, LONGEST_NAME, SERVICE + 40);
  if (service.persistenceEngine !== undefined) {
    writer.text('service.persistenceEngine', service.persistenceEngine, LONGEST_NAME, SERVICE + 56);
  }
}

function writeServerId(id: RealServerId | undefined, writer: RecordWriter): Family {
  if (typeof id !== 'object' || id === null) {
    writer.fail('realServer', id, 'must be an object', true);
    return 4;
  }
  writer.onlyFields('realServer.', id, SERVER_FIELDS, 'a real server');
  const family = writer.address('realServer.address', id.address, SERVER + 24);
  writer.u8(SERVER, family);
  writer.u16(SERVER + 2, writer.integer('realServer.port', id.port, 0, 65535));
  return family;
}

function writeServerSettings(server: RealServer, serviceFamily: Family, writer: RecordWriter): void {
  const family = writeServerId(server, writer);
  if (typeof server !== 'object' || server === null) return;
  writer.u8(SERVER + 1, writer.choice('realServer.forwarding', server.forwarding, FORWARDING));
  if (family !== serviceFamily && server.forwarding !== 'tunnel') {
    writer.fail('realServer.address', server.address, `must be IPv${serviceFamily}, as its service is`);
  }
  writer.u32(SERVER + 4, writer.integer('realServer.weight', server.weight, 0, LARGEST_I32));
  const upper = writer.integer('realServer.upperThreshold', server.upperThreshold, 0, LARGEST_U32);
  writer.u32(SERVER + 8, upper);
  writer.u32(SERVER + 12, writer.integer('realServer.lowerThreshold', server.lowerThreshold, 0, upper));
  if (server.encapsulation !== undefined) writeEncapsulation(server, server.encapsulation, writer);
}

function writeEncapsulation(server: RealServer, encapsulation: Encapsulation, writer: RecordWriter): void {
  const field = 'realServer.encapsulation';
  writer.onlyFields(`${field}.`, encapsulation, ENCAPSULATION_FIELDS, 'an encapsulation');
  if (server.forwarding !== 'tunnel') writer.fail(field, encapsulation, 'must be left out without tunnel');
  writer.u8(SERVER + 16, writer.choice(`${field}.type`, encapsulation?.type, ENCAPSULATION));
  const [least, most] = encapsulation?.type === 'gue' ? [1, 65535] : [0, 0];
  writer.u16(SERVER + 18, writer.integer(`${field}.port`, encapsulation?.port, least, most));
  writer.u16(SERVER + 20, writer.integer(`${field}.flags`, encapsulation?.flags, 0, 65535));
}

/** The record of what names a service; throws what the call rejects with when it breaks a rule. */
export function packServiceId(id: VirtualServiceId, operation: string): Uint8Array {
  const writer = new RecordWriter(SERVICE_SIZE, 1);
  writeServiceId(id, writer, 0);
  return onlyRecord(writer, operation);
}

/** The records of what names services; throws what the call rejects with when one of them breaks a rule. */
export function packServiceIds(ids: readonly VirtualServiceId[], operation: string): Uint8Array {
  const writer = new RecordWriter(SERVICE_SIZE, ids.length);
  for (const [i, id] of ids.entries()) {
    writeServiceId(id, writer, 0);
    const fault = writer.finish();
    if (fault) throw argumentError(operation, { ...fault, field: `ids[${i}].${fault.field}` });
  }
  return writer.records();
}

/** The record of connection time-outs; throws what the call rejects with when they break a rule. */
export function packTimeouts(timeouts: IpvsTimeouts): Uint8Array {
  const writer = new RecordWriter(TIMEOUTS_SIZE, 1);
  writeTimeouts(timeouts, writer);
  return onlyRecord(writer, 'ipvs.setTimeouts');
}

function writeTimeouts(timeouts: IpvsTimeouts, writer: RecordWriter): void {
  writer.onlyFields('', timeouts, TIMEOUTS_FIELDS, 'the time-outs');
  writer.u32(0, writer.integer('tcp', timeouts?.tcp, 0, LONGEST_TIMEOUT));
  writer.u32(4, writer.integer('tcpFin', timeouts?.tcpFin, 0, LONGEST_TIMEOUT));
  writer.u32(8, writer.integer('udp', timeouts?.udp, 0, LONGEST_TIMEOUT));
}

/** Reads a listing: services, each followed by its servers. */
export function* readListing(bytes: Uint8Array): Steps<VirtualServiceState[]> {
  const view = viewOf(bytes);
  const services: VirtualServiceState[] = [];
  for (let at = 0; at < bytes.length; ) {
    const count = view.getUint32(at + 20, true);
    const service = at;
    at += SERVICE_SIZE + COUNTERS_SIZE;
    const realServers: RealServerState[] = [];
    for (let i = 0; i < count; i++) {
      realServers.push(readServerState(bytes, view, at));
      at += SERVER_SIZE + 16 + COUNTERS_SIZE;
      yield;
    }
    const counters = readCounters(view, service + SERVICE_SIZE);
    services.push({
      ...readServiceId(bytes, view, service),
      ...readSettings(bytes, view, service),
      counters,
      realServers,
    });
    yield;
  }
  return services;
}

/** Reads a listing without real servers; counters are left out. */
export function* readServices(bytes: Uint8Array): Steps<VirtualService[]> {
  const view = viewOf(bytes);
  const services: VirtualService[] = [];
  for (let at = 0; at < bytes.length; at += SERVICE_SIZE + COUNTERS_SIZE) {
    services.push({ ...readServiceId(bytes, view, at), ...readSettings(bytes, view, at) });
    yield;
  }
  return services;
}

/** Reads the real servers of each service of a listing; connections and counters are left out. */
export function* readRealServers(bytes: Uint8Array): Steps<RealServer[][]> {
  const view = viewOf(bytes);
  const ofServices: RealServer[][] = [];
  for (let at = 0; at < bytes.length; ) {
    const count = view.getUint32(at + 20, true);
    at += SERVICE_SIZE + COUNTERS_SIZE;
    const realServers: RealServer[] = [];
    for (let i = 0; i < count; i++) {
      realServers.push(readServer(bytes, view, at));
      yield;
      at += SERVER_SIZE + 16 + COUNTERS_SIZE;
    }
    ofServices.push(realServers);
  }
  return ofServices;
}

function readServiceId(bytes: Uint8Array, view: DataView, at: number): VirtualServiceId {
  const family = bytes[at] === 6 ? 6 : 4;
  const firewallMark = view.getUint32(at + 4, true);
  if (firewallMark !== 0) return { firewallMark, family };
  const protocol = protocolOfNumber(view.getUint8(at + 1));
  // ip_vs_ctl.c takes no others: "Check for valid protocol: TCP or UDP or SCTP".
  if (!protocol) throw new RangeError(`virtual service of protocol ${view.getUint8(at + 1)}`);
  return { address: readAddress(bytes, at + 24, family), port: view.getUint16(at + 2, true), protocol };
}

function readSettings(bytes: Uint8Array, view: DataView, at: number): VirtualServiceSettings {
  const persistenceEngine = readText(bytes, at + 56);
  return {
    scheduler: readText(bytes, at + 40),
    flags: view.getUint32(at + 8, true),
    timeout: view.getUint32(at + 12, true),
    netmask: view.getUint8(at + 16),
    ...(persistenceEngine && { persistenceEngine }),
  };
}

function readServerState(bytes: Uint8Array, view: DataView, at: number): RealServerState {
  return {
    ...readServer(bytes, view, at),
    activeConnections: view.getUint32(at + SERVER_SIZE, true),
    inactiveConnections: view.getUint32(at + SERVER_SIZE + 4, true),
    persistentConnections: view.getUint32(at + SERVER_SIZE + 8, true),
    counters: readCounters(view, at + SERVER_SIZE + 16),
  };
}

function readServer(bytes: Uint8Array, view: DataView, at: number): RealServer {
  const encapsulation = readEncapsulation(view, at);
  return {
    address: readAddress(bytes, at + 24, bytes[at] === 6 ? 6 : 4),
    port: view.getUint16(at + 2, true),
    weight: view.getUint32(at + 4, true),
    forwarding: nameOf(FORWARDING, view.getUint8(at + 1)) ?? 'other',
    upperThreshold: view.getUint32(at + 8, true),
    lowerThreshold: view.getUint32(at + 12, true),
    ...(encapsulation && { encapsulation }),
  };
}

function readEncapsulation(view: DataView, at: number): Encapsulation | undefined {
  const type = nameOf(ENCAPSULATION, view.getUint8(at + 16));
  return type && { type, port: view.getUint16(at + 18, true), flags: view.getUint16(at + 20, true) };
}

function readCounters(view: DataView, at: number): IpvsCounters {
  return {
    connections: view.getBigUint64(at, true),
    inPackets: view.getBigUint64(at + 8, true),
    outPackets: view.getBigUint64(at + 16, true),
    inBytes: view.getBigUint64(at + 24, true),
    outBytes: view.getBigUint64(at + 32, true),
  };
}

/** Reads what {@link IpvsInfo} says: the version is one byte each of major, minor and patch. */
export function readInfo(bytes: Uint8Array): IpvsInfo {
  const view = viewOf(bytes);
  const version = view.getUint32(0, true);
  return {
    version: `${(version >> 16) & 255}.${(version >> 8) & 255}.${version & 255}`,
    connectionTableSize: view.getUint32(4, true),
  };
}

/** Reads the connection time-outs. */
export function readTimeouts(bytes: Uint8Array): IpvsTimeouts {
  const view = viewOf(bytes);
  return { tcp: view.getUint32(0, true), tcpFin: view.getUint32(4, true), udp: view.getUint32(8, true) };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function readAddress(bytes: Uint8Array, at: number, family: Family): string {
  return formatAddress(bytes.subarray(at, at + (family === 4 ? 4 : 16)));
}

function readText(bytes: Uint8Array, at: number): string {
  const end = bytes.indexOf(0, at);
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString();
}

function nameOf<Name extends string>(
  numbers: Readonly<Record<Name, number>>,
  number: number,
): Name | undefined {
  return (Object.keys(numbers) as Name[]).find((name) => numbers[name] === number);
}
