// Records that the addon returns → values of IPVS.
import { protocolOfNumber } from '../net/protocol.js';
import type { Reading } from '../shared/listing.js';
import type { Place } from '../shared/records/layout.js';
import { RecordReader } from '../shared/records/recordReader.js';
import { isOnePacket, isPersistent, schedulerFlagsOf } from './flags.js';
import {
  CHECKSUM,
  COUNTERS,
  DAEMON,
  DAEMON_STATE,
  FORWARDING,
  KERNEL_IPVS,
  LISTED_SERVER,
  LISTED_SERVICE,
  SERVER,
  SERVICE,
  TIMEOUTS,
  TUNNEL,
} from './layouts.js';
import type {
  Encapsulation,
  IpvsCounters,
  IpvsInfo,
  IpvsRates,
  IpvsTimeouts,
  RealServer,
  RealServerState,
  SyncDaemon,
  VirtualService,
  VirtualServiceState,
} from './types.js';

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** Reads a listing: services, each followed by its servers. */
export function* readListing(bytes: Uint8Array): Reading<VirtualServiceState> {
  for (const reader = new RecordReader(bytes); reader.hasMore; ) {
    const service = readService(reader, LISTED_SERVICE.service);
    const counters = readCounters(reader, LISTED_SERVICE.counters);
    const rates = readRates(reader, LISTED_SERVICE.rates);
    const realServers: RealServerState[] = [];
    const count = reader.u32(SERVICE.realServers, LISTED_SERVICE.service);
    reader.skip(LISTED_SERVICE.SIZE);
    for (let left = count; left > 0; left--) {
      realServers.push(readServerState(reader));
      reader.skip(LISTED_SERVER.SIZE);
      yield undefined;
    }
    yield { ...service, counters, rates, realServers };
  }
}

/** Reads a listing of services alone, without real servers and counters. */
export function* readServices(bytes: Uint8Array): Reading<VirtualService> {
  for (const reader = new RecordReader(bytes); reader.hasMore; reader.skip(SERVICE.SIZE)) {
    yield readService(reader, 0);
  }
}

/** Reads a listing of the real servers of some services, without connections and counters. */
export function* readRealServers(bytes: Uint8Array): Reading<RealServer[]> {
  for (const reader = new RecordReader(bytes); reader.hasMore; ) {
    const realServers: RealServer[] = [];
    for (let left = skipService(reader); left > 0; left--) {
      realServers.push(readServer(reader, 0));
      reader.skip(SERVER.SIZE);
      yield undefined;
    }
    yield realServers;
  }
}

/** Skips a service of a listing of real servers, which are next; returns their number. */
export function skipService(reader: RecordReader): number {
  const count = reader.u32(SERVICE.realServers);
  reader.skip(SERVICE.SIZE);
  return count;
}

/** Reads the `SERVICE` at `part` of a record. */
export function readService(reader: RecordReader, part: number): VirtualService {
  const service = readNamed(reader, part);
  const flags = reader.u32(SERVICE.flags, part);
  // Set after the literal: spreading them into it, if they are there, takes several times as long as all else.
  if (isPersistent(flags)) {
    const netmask = reader.u8(SERVICE.netmask, part);
    service.persistence = { timeout: reader.u32(SERVICE.timeout, part), netmask };
  }
  const persistenceEngine = reader.text(SERVICE.persistenceEngine, part);
  if (persistenceEngine !== '') service.persistenceEngine = persistenceEngine;
  return service;
}

/** The name of a service and the settings that every service has. */
function readNamed(reader: RecordReader, part: number): Writable<VirtualService> {
  const scheduler = reader.text(SERVICE.scheduler, part);
  const flags = reader.u32(SERVICE.flags, part);
  const schedulerFlags = schedulerFlagsOf(flags, scheduler);
  const onePacket = isOnePacket(flags);
  const family = reader.u8(SERVICE.family, part) === 6 ? 6 : 4;
  const firewallMark = reader.u32(SERVICE.firewallMark, part);
  if (firewallMark !== 0) return { firewallMark, family, scheduler, schedulerFlags, onePacket };
  const number = reader.u16(SERVICE.protocol, part);
  const protocol = protocolOfNumber(number) ?? number;
  const address = reader.address(SERVICE.address, family, part);
  const port = reader.u16(SERVICE.port, part);
  return { address, port, protocol, scheduler, schedulerFlags, onePacket };
}

function readServerState(reader: RecordReader): RealServerState {
  return {
    ...readServer(reader, LISTED_SERVER.server),
    activeConnections: reader.u32(LISTED_SERVER.activeConnections),
    inactiveConnections: reader.u32(LISTED_SERVER.inactiveConnections),
    persistentConnections: reader.u32(LISTED_SERVER.persistentConnections),
    counters: readCounters(reader, LISTED_SERVER.counters),
    rates: readRates(reader, LISTED_SERVER.rates),
  };
}

/** Reads the `SERVER` at `part` of a record. */
export function readServer(reader: RecordReader, part: number): RealServer {
  const forwarding = nameOf(FORWARDING, reader.u8(SERVER.forwarding, part)) ?? 'other';
  const server: Writable<RealServer> = {
    address: reader.address(SERVER.address, reader.u8(SERVER.family, part) === 6 ? 6 : 4, part),
    port: reader.u16(SERVER.port, part),
    weight: reader.u32(SERVER.weight, part),
    forwarding,
    upperThreshold: reader.u32(SERVER.upperThreshold, part),
    lowerThreshold: reader.u32(SERVER.lowerThreshold, part),
  };
  if (forwarding === 'tunnel') server.encapsulation = readEncapsulation(reader, part);
  return server;
}

function readEncapsulation(reader: RecordReader, part: number): Encapsulation {
  const number = reader.u8(SERVER.tunnelType, part);
  const type = nameOf(TUNNEL, number);
  if (type === 'ipip') return { type };
  const port = reader.u16(SERVER.tunnelPort, part);
  const flags = reader.u16(SERVER.tunnelFlags, part);
  const checksum = nameOf(CHECKSUM, flags);
  if (type === 'gue' && checksum) return { type, port, checksum };
  if (type === 'gre' && checksum && checksum !== 'remote') return { type, checksum };
  return { type: number, port, flags };
}

function readCounters(reader: RecordReader, part: number): IpvsCounters {
  return eachCounter((place) => reader.u64(place, part));
}

function readRates(reader: RecordReader, part: number): IpvsRates {
  return eachCounter((place) => reader.u64AsNumber(place, part));
}

function eachCounter<Value>(read: (place: Place<'u64'>) => Value): Record<keyof IpvsCounters, Value> {
  return {
    connections: read(COUNTERS.connections),
    inPackets: read(COUNTERS.inPackets),
    outPackets: read(COUNTERS.outPackets),
    inBytes: read(COUNTERS.inBytes),
    outBytes: read(COUNTERS.outBytes),
  };
}

/** Reads a listing of sync daemons. */
export function* readDaemons(bytes: Uint8Array): Reading<SyncDaemon> {
  for (const reader = new RecordReader(bytes); reader.hasMore; reader.skip(DAEMON.SIZE)) {
    yield readDaemon(reader, 0);
  }
}

/** Reads the `DAEMON` at `part` of a record. Fields that have no value are 0, a group `0.0.0.0`. */
export function readDaemon(reader: RecordReader, part: number): SyncDaemon {
  const state = reader.u32(DAEMON.state, part);
  return {
    state: nameOf(DAEMON_STATE, state) ?? state,
    interface: reader.text(DAEMON.interface, part),
    syncId: reader.u32(DAEMON.syncId, part),
    maxLength: reader.u16(DAEMON.maxLength, part),
    group: reader.address(DAEMON.group, reader.u8(DAEMON.family, part) === 6 ? 6 : 4, part),
    port: reader.u16(DAEMON.port, part),
    ttl: reader.u8(DAEMON.ttl, part),
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
