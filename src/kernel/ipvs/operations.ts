// Operations and names of IPVS → the records that cross to the addon. Fields that are left out get their defaults here.
import type { Family } from '../net/address.js';
import type { IpProtocol } from '../net/protocol.js';
import { argumentError, checkArray } from '../shared/arguments.js';
import { onlyRecord, RecordWriter } from '../shared/records/recordWriter.js';
import { atOnce, StepCounter, type Steps } from '../steps.js';
import { flagsOf } from './flags.js';
import {
  CHECKSUM,
  DAEMON,
  DAEMON_STATE,
  FORWARDING,
  OPERATION,
  SERVER,
  SERVICE,
  TIMEOUTS,
  TUNNEL,
  VERB,
} from './layouts.js';
import {
  type EncapsulationInput,
  FLUSH_CONFIRMATION,
  type IpvsOperation,
  type IpvsTimeoutsInput,
  type NumberedEncapsulation,
  type RealServerIdInput,
  type RealServerInput,
  type SyncDaemonInput,
  type VirtualServiceId,
  type VirtualServiceInput,
} from './types.js';

const LARGEST_U32 = 0xffff_ffff;
const LARGEST_I32 = 0x7fff_ffff;
// The longest times that still fit 32 bits when the kernel has multiplied them by HZ, which is at most 1000.
const LONGEST_PERSISTENCE = 4_294_967;
const LONGEST_TIMEOUT = 2_147_483;
/** That of ipvsadm 1.31, whose manual says 300. */
const DEFAULT_PERSISTENCE = 360;
/** Bytes of a service record with the fields that name the service. */
const NAME_LENGTH = SERVICE.flags;
/** The longest payload of UDP over IPv4. */
const LONGEST_MESSAGE = 65_507;

// Services and real servers that were listed may be given as they are: counters and rates, which nobody can set, are ignored.
const ID_FIELDS = ['address', 'port', 'protocol', 'firewallMark', 'family'];
const SERVICE_FIELDS = new Set([
  ...ID_FIELDS,
  ...['scheduler', 'schedulerFlags', 'onePacket', 'persistence', 'persistenceEngine'],
  ...['counters', 'rates', 'realServers'],
]);
const PERSISTENCE_FIELDS = new Set(['timeout', 'netmask']);
const SERVER_FIELDS = new Set([
  ...['address', 'port', 'weight', 'forwarding', 'upperThreshold', 'lowerThreshold', 'encapsulation'],
  ...['activeConnections', 'inactiveConnections', 'persistentConnections', 'counters', 'rates'],
]);
const ENCAPSULATION_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  ipip: new Set(['type']),
  gue: new Set(['type', 'port', 'checksum']),
  gre: new Set(['type', 'checksum']),
};
const NUMBERED_FIELDS = new Set(['type', 'port', 'flags']);
const TIMEOUTS_FIELDS = new Set(['tcp', 'tcpFin', 'udp']);
const DAEMON_FIELDS = new Set(['state', 'interface', 'syncId', 'maxLength', 'group', 'port', 'ttl']);

const ON_SERVICE = new Set(['do', 'service']);
const ON_SERVER = new Set(['do', 'service', 'realServer']);
const OPERATION_FIELDS: Readonly<Record<IpvsOperation['do'], ReadonlySet<string>>> = {
  addService: ON_SERVICE,
  updateService: ON_SERVICE,
  deleteService: ON_SERVICE,
  addRealServer: ON_SERVER,
  updateRealServer: ON_SERVER,
  deleteRealServer: ON_SERVER,
  zero: ON_SERVICE,
  flush: new Set(['do', 'confirm']),
  setTimeouts: new Set(['do', 'timeouts']),
  startDaemon: new Set(['do', 'daemon']),
  stopDaemon: new Set(['do', 'state']),
};

/** Writes an operation record. */
export function writeOperation(operation: IpvsOperation, writer: RecordWriter): void {
  const number = writer.choice('do', operation?.do, VERB.numbers);
  if (number === 0) return;
  writer.u8(OPERATION.verb, number);
  writer.onlyFields('', operation, OPERATION_FIELDS[operation.do], `the operation ${operation.do}`);
  switch (operation.do) {
    case 'addService':
      writeAddedService(operation.service, writer);
      break;
    case 'updateService':
      writeService(operation.service, writer);
      break;
    case 'deleteService':
      writeServiceId(operation.service, writer, OPERATION.service);
      break;
    case 'addRealServer':
    case 'updateRealServer':
      writeServer(operation.service, operation.realServer, writer);
      break;
    case 'deleteRealServer':
      if (writeServiceId(operation.service, writer, OPERATION.service)) {
        writeServerId(operation.service, operation.realServer, writer);
      }
      break;
    case 'zero':
      if (operation.service !== undefined) writeServiceId(operation.service, writer, OPERATION.service);
      break;
    case 'setTimeouts':
      writeTimeouts(operation.timeouts, writer);
      break;
    case 'startDaemon':
      writeDaemon(operation.daemon, writer);
      break;
    case 'stopDaemon':
      writeDaemonState('state', operation.state, writer);
      break;
    case 'flush':
      writer.confirmation(operation.confirm, FLUSH_CONFIRMATION);
  }
}

/** Writes the fields that name a service; returns its family, or undefined when it is not even an object. */
function writeServiceId(id: VirtualServiceId, writer: RecordWriter, part = 0): Family | undefined {
  if (!writer.isObject('service', id)) return undefined;
  if (writer.repeat(id, part, NAME_LENGTH)) return writer.readU8(SERVICE.family, part) === 6 ? 6 : 4;
  writer.onlyFields('service.', id, SERVICE_FIELDS, 'a virtual service');
  let family: Family;
  if ('firewallMark' in id) {
    family = id.family === 6 ? 6 : 4;
    if (id.family !== family) writer.fail('service.family', id.family, 'must be 4 or 6');
    const mark = writer.integer('service.firewallMark', id.firewallMark, 1, LARGEST_U32);
    writer.u32(SERVICE.firewallMark, mark, part);
  } else {
    family = writer.address('service.address', id.address, SERVICE.address, part);
    writer.u16(SERVICE.protocol, protocolNumber(id.protocol, writer), part);
    writer.u16(SERVICE.port, writer.integer('service.port', id.port, 0, 65535), part);
  }
  writer.u8(SERVICE.family, family, part);
  return family;
}

function protocolNumber(protocol: unknown, writer: RecordWriter): number {
  if (typeof protocol === 'number') return writer.integer('service.protocol', protocol, 1, 65535);
  return writer.protocol('service.protocol', protocol as IpProtocol);
}

function writeAddedService(service: VirtualServiceInput, writer: RecordWriter): void {
  writeService(service, writer);
  if (service && typeof service === 'object' && 'realServers' in service) {
    const rule = 'must be left out: real servers are added on their own';
    writer.fail('service.realServers', service.realServers, rule);
  }
}

function writeService(service: VirtualServiceInput, writer: RecordWriter): void {
  const part = OPERATION.service;
  const family = writeServiceId(service, writer, part);
  if (family === undefined) return;
  const { scheduler = 'wlc', persistence, persistenceEngine } = service;
  writer.text('service.scheduler', scheduler, SERVICE.scheduler, part);
  writer.u32(SERVICE.flags, flagsOf(service, scheduler, writer), part);
  const widest = family === 4 ? 32 : 128;
  if (persistence === undefined) {
    if ('port' in service && service.port === 0 && !('firewallMark' in service)) {
      writer.fail('service.port', 0, 'must be 1 to 65535 without persistence');
    }
    writer.u8(SERVICE.netmask, widest, part);
  } else if (writer.object('service.persistence', persistence, PERSISTENCE_FIELDS, 'a persistence')) {
    const path = 'service.persistence';
    const { timeout = DEFAULT_PERSISTENCE, netmask = widest } = persistence;
    writer.u32(SERVICE.timeout, writer.integer(`${path}.timeout`, timeout, 0, LONGEST_PERSISTENCE), part);
    writer.u8(SERVICE.netmask, writer.integer(`${path}.netmask`, netmask, 1, widest), part);
  }
  if (persistenceEngine !== undefined) {
    writer.text('service.persistenceEngine', persistenceEngine, SERVICE.persistenceEngine, part);
  }
}

/** The port of a real server in an argument. */
export function portOf(service: VirtualServiceId, { port }: RealServerIdInput): number {
  if (port !== undefined) return port;
  return 'firewallMark' in service ? 0 : service.port;
}

/** Writes the fields that name a real server; returns its family, or undefined when it is not even an object. */
function writeServerId(
  service: VirtualServiceId,
  id: RealServerIdInput,
  writer: RecordWriter,
): Family | undefined {
  if (!writer.object('realServer', id, SERVER_FIELDS, 'a real server')) return undefined;
  const part = OPERATION.argument;
  const family = writer.address('realServer.address', id.address, SERVER.address, part);
  writer.u8(SERVER.family, family, part);
  writer.u16(SERVER.port, writer.integer('realServer.port', portOf(service, id), 0, 65535), part);
  return family;
}

function writeServer(service: VirtualServiceId, server: RealServerInput, writer: RecordWriter): void {
  const serviceFamily = writeServiceId(service, writer, OPERATION.service);
  const family = serviceFamily && writeServerId(service, server, writer);
  if (family === undefined) return;
  const part = OPERATION.argument;
  const { weight = 1, forwarding = 'route', upperThreshold = 0, lowerThreshold = 0 } = server;
  writer.u8(SERVER.forwarding, writer.choice('realServer.forwarding', forwarding, FORWARDING), part);
  if (family !== serviceFamily && forwarding !== 'tunnel') {
    writer.fail('realServer.address', server.address, `must be IPv${serviceFamily}, as its service is`);
  }
  writer.u32(SERVER.weight, writer.integer('realServer.weight', weight, 0, LARGEST_I32), part);
  const upper = writer.integer('realServer.upperThreshold', upperThreshold, 0, LARGEST_U32);
  writer.u32(SERVER.upperThreshold, upper, part);
  const lower = writer.integer('realServer.lowerThreshold', lowerThreshold, 0, upper);
  writer.u32(SERVER.lowerThreshold, lower, part);
  if (server.encapsulation === undefined) return;
  if (forwarding !== 'tunnel') {
    writer.fail('realServer.encapsulation', server.encapsulation, 'must be left out without tunnel');
  }
  writeEncapsulation(server.encapsulation, writer);
}

function writeEncapsulation(encapsulation: EncapsulationInput, writer: RecordWriter): void {
  const path = 'realServer.encapsulation';
  if (!writer.isObject(path, encapsulation)) return;
  const part = OPERATION.argument;
  if (typeof encapsulation.type === 'number') {
    writeNumbered(encapsulation as NumberedEncapsulation, writer);
    return;
  }
  const { type } = encapsulation as Exclude<EncapsulationInput, NumberedEncapsulation>;
  writer.u8(SERVER.tunnelType, writer.choice(`${path}.type`, type, TUNNEL), part);
  const isNamed = typeof type === 'string' && Object.hasOwn(ENCAPSULATION_FIELDS, type);
  const fields = isNamed && ENCAPSULATION_FIELDS[type];
  if (!fields) return;
  writer.onlyFields(`${path}.`, encapsulation, fields, `the encapsulation ${type}`);
  if (type === 'ipip') return;
  if (type === 'gue') {
    const { port } = encapsulation as { readonly port: number };
    writer.u16(SERVER.tunnelPort, writer.integer(`${path}.port`, port, 1, 65535), part);
  }
  const { checksum = 'none' } = encapsulation as { readonly checksum?: 'none' };
  writer.u16(SERVER.tunnelFlags, writer.choice(`${path}.checksum`, checksum, CHECKSUM), part);
  if (type === 'gre' && (checksum as string) === 'remote') {
    writer.fail(`${path}.checksum`, checksum, 'must be none or full with gre');
  }
}

/** As it was listed. */
function writeNumbered(encapsulation: NumberedEncapsulation, writer: RecordWriter): void {
  const path = 'realServer.encapsulation';
  const { type, port, flags } = encapsulation;
  const part = OPERATION.argument;
  writer.u8(SERVER.tunnelType, writer.integer(`${path}.type`, type, 0, 255), part);
  writer.onlyFields(`${path}.`, encapsulation, NUMBERED_FIELDS, 'an encapsulation with numbers');
  writer.u16(SERVER.tunnelPort, writer.integer(`${path}.port`, port, 0, 65535), part);
  writer.u16(SERVER.tunnelFlags, writer.integer(`${path}.flags`, flags, 0, 65535), part);
}

function writeTimeouts(timeouts: IpvsTimeoutsInput, writer: RecordWriter): void {
  if (!writer.object('timeouts', timeouts, TIMEOUTS_FIELDS, 'the timeouts')) return;
  const part = OPERATION.argument;
  const { tcp = 0, tcpFin = 0, udp = 0 } = timeouts;
  writer.u32(TIMEOUTS.tcp, writer.integer('timeouts.tcp', tcp, 0, LONGEST_TIMEOUT), part);
  writer.u32(TIMEOUTS.tcpFin, writer.integer('timeouts.tcpFin', tcpFin, 0, LONGEST_TIMEOUT), part);
  writer.u32(TIMEOUTS.udp, writer.integer('timeouts.udp', udp, 0, LONGEST_TIMEOUT), part);
}

function writeDaemonState(path: string, state: unknown, writer: RecordWriter): void {
  writer.u32(DAEMON.state, writer.choice(path, state, DAEMON_STATE), OPERATION.argument);
}

function writeDaemon(daemon: SyncDaemonInput, writer: RecordWriter): void {
  if (!writer.object('daemon', daemon, DAEMON_FIELDS, 'a sync daemon')) return;
  writeDaemonState('daemon.state', daemon.state, writer);
  const part = OPERATION.argument;
  writer.text('daemon.interface', daemon.interface, DAEMON.interface, part);
  const { syncId = 0, maxLength, group, port, ttl } = daemon;
  writer.u32(DAEMON.syncId, writer.integer('daemon.syncId', syncId, 0, 255), part);
  if (maxLength !== undefined) {
    writer.u16(DAEMON.maxLength, writer.integer('daemon.maxLength', maxLength, 1, LONGEST_MESSAGE), part);
  }
  if (group !== undefined) {
    writer.u8(DAEMON.family, writer.address('daemon.group', group, DAEMON.group, part), part);
  }
  if (port !== undefined) writer.u16(DAEMON.port, writer.integer('daemon.port', port, 1, 65535), part);
  if (ttl !== undefined) writer.u8(DAEMON.ttl, writer.integer('daemon.ttl', ttl, 1, 255), part);
}

/** The record that names a service; throws the error of the call when it is invalid. */
export function packServiceId(id: VirtualServiceId, operation: string): Uint8Array {
  const writer = new RecordWriter(SERVICE.SIZE, 1);
  writeServiceId(id, writer);
  return onlyRecord(writer, operation);
}

/** The records that name services; throws the error of the call when one of them is invalid. */
export function packServiceIds(ids: readonly VirtualServiceId[], operation: string): Uint8Array {
  return atOnce(packServiceIdsInSteps(ids, operation));
}

/** The same in steps. */
export function* packServiceIdsInSteps(
  ids: readonly VirtualServiceId[],
  operation: string,
): Steps<Uint8Array> {
  checkArray(operation, 'ids', ids);
  const counter = new StepCounter();
  const writer = new RecordWriter(SERVICE.SIZE, ids.length);
  for (const [i, id] of ids.entries()) {
    writeServiceId(id, writer);
    const invalid = writer.finish();
    if (invalid)
      throw argumentError(operation, { ...invalid, field: invalid.field.replace('service', `ids[${i}]`) });
    if (counter.isFull()) yield;
  }
  return writer.records();
}

/** The record of an operation; throws the error of the operation when it is invalid. */
export function packOperation(operation: IpvsOperation): Uint8Array {
  const writer = new RecordWriter(OPERATION.SIZE, 1);
  writeOperation(operation, writer);
  return onlyRecord(writer, `ipvs.${operation.do}`);
}
