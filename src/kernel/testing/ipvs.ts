// IPVS in memory: keeps virtual services, real servers and sync daemons, and refuses the same operations as the kernel.
import { constants } from 'node:os';
import { packFilter } from '../ipvs/connections.js';
import { formatRules } from '../ipvs/formatRules.js';
import { OPERATION, VERB } from '../ipvs/layouts.js';
import { PartsBatch } from '../ipvs/listRecords.js';
import { asking, CONNECTIONS, nameService } from '../ipvs/names.js';
import { packOperation, packServiceId, packServiceIds } from '../ipvs/operations.js';
import { readDaemon, readServer, readService } from '../ipvs/records.js';
import {
  type AddressId,
  type ConnectionFilter,
  type Ipvs,
  type IpvsCapabilities,
  type IpvsConnection,
  type IpvsCounters,
  type IpvsInfo,
  type IpvsOperation,
  type IpvsRates,
  type IpvsTimeouts,
  type RealServer,
  SCHEDULERS,
  type SyncDaemon,
  type VirtualService,
  type VirtualServiceId,
  type VirtualServiceState,
} from '../ipvs/types.js';
import {
  type ChangePart,
  type RealServers,
  realServersOf,
  type ServerLists,
} from '../ipvs/values/serverLists.js';
import { IpvsVerbs } from '../ipvs/verbs.js';
import { familyOf, joinHostPort } from '../net/address.js';
import { RecordReader } from '../shared/records/recordReader.js';
import type { CallOptions, Listing, OperationResult } from '../shared/types.js';
import { withVerbs } from '../shared/verbs.js';
import { FakeClient } from './client.js';

const { EEXIST, EINVAL, ENODEV, ENOENT, ESRCH } = constants.errno;

const NO_COUNTERS: IpvsCounters = {
  connections: 0n,
  inPackets: 0n,
  outPackets: 0n,
  inBytes: 0n,
  outBytes: 0n,
};
const NO_RATES: IpvsRates = { connections: 0, inPackets: 0, outPackets: 0, inBytes: 0, outBytes: 0 };
const INFO: IpvsInfo = { version: '1.2.1', connectionTableSize: 4096 };

/** The verbs of records by their numbers. */
const VERBS = new Map(Object.entries(VERB.numbers).map(([verb, number]) => [number, verb]));

/** An operation on virtual services or real servers. */
type ServiceOperation = Extract<IpvsOperation, { service: unknown }>;

interface Held {
  service: VirtualService;
  readonly realServers: Map<string, RealServer>;
}

/** A fake of IPVS. Lists virtual services in the order in which they were added, and real servers as the kernel does: the last one first. */
export class FakeIpvs extends withVerbs(FakeClient<IpvsOperation>, IpvsVerbs) implements Ipvs, ServerLists {
  /** Active connections by real server, `address:port`, for tests to set; none by default. */
  readonly activeConnections = new Map<string, number>();
  /** Counters by name, `tcp 10.96.0.1:443` or `tcp 10.96.0.1:443 -> 10.0.0.4:6443`, for tests to set; 0 by default. */
  readonly counters = new Map<string, IpvsCounters>();
  /** Rates, by the same names. */
  readonly rates = new Map<string, IpvsRates>();
  /** The connection table, for tests to set; empty by default. */
  readonly connectionTable: IpvsConnection[] = [];
  /** Schedulers that this kernel has; others are refused with ENOENT. */
  readonly schedulers = new Set<string>([...SCHEDULERS, 'none']);
  /** Persistence engines that this kernel has; others are refused with ENOENT. */
  readonly persistenceEngines = new Set(['sip']);
  /** The interfaces of this kernel, with their MTU, in bytes; a sync daemon on another is refused with ENODEV. */
  readonly interfaces = new Map([['lo', 65_536]]);
  /** The kernel's defaults. */
  #timeouts: IpvsTimeouts = { tcp: 900, tcpFin: 120, udp: 300 };
  readonly #held = new Map<string, Held>();
  readonly #daemons = new Map<SyncDaemon['state'], SyncDaemon>();

  list(options?: CallOptions): Promise<VirtualServiceState[]> {
    const read = () => [...this.#held.values()].map((held) => this.#stateOf(held));
    return this.read(asking('list'), read, options);
  }

  listServices(options?: CallOptions): Promise<VirtualService[]> {
    const read = () => [...this.#held.values()].map(({ service }) => service);
    return this.read(asking('listServices'), read, options);
  }

  async listRealServers(ids: readonly VirtualServiceId[], options?: CallOptions): Promise<RealServer[][]> {
    packServiceIds(ids, 'ipvs.listRealServers');
    const read = () =>
      ids.map((id) => [...(this.#held.get(keyOf(id))?.realServers.values() ?? [])].reverse());
    return this.read(asking('listRealServers'), read, options);
  }

  async listServers(ids: readonly AddressId[]): Promise<RealServers[]> {
    const lists = await this.listRealServers(ids);
    return ids.map(({ address }, i) => realServersOf(familyOf(address), lists[i] ?? []));
  }

  /** Reads the records that the real one sends. */
  async applyChanges(parts: readonly ChangePart[]): Promise<OperationResult[]> {
    const batch = new PartsBatch(parts);
    const errors = await this.apply(operationsIn(batch.records()));
    for (const [record, error] of errors.entries()) if (error) batch.fail(record, () => error);
    return batch.results;
  }

  async get(id: VirtualServiceId, options?: CallOptions): Promise<VirtualServiceState | undefined> {
    packServiceId(id, 'ipvs.get');
    const read = () => {
      const held = this.#held.get(keyOf(id));
      return held && this.#stateOf(held);
    };
    return this.read(asking('get', nameService(id)), read, options);
  }

  info(options?: CallOptions): Promise<IpvsInfo> {
    return this.read(asking('info'), () => INFO, options);
  }

  timeouts(options?: CallOptions): Promise<IpvsTimeouts> {
    return this.read(asking('timeouts'), () => this.#timeouts, options);
  }

  listDaemons(options?: CallOptions): Promise<SyncDaemon[]> {
    return this.read(asking('listDaemons'), () => [...this.#daemons.values()], options);
  }

  connections(filter: ConnectionFilter = {}, options?: CallOptions): Listing<IpvsConnection> {
    const matches = packFilter(filter, CONNECTIONS.operation);
    return this.listing(CONNECTIONS, () => this.connectionTable.filter(matches), options);
  }

  /** Those of the newest kernel, with the schedulers and engines of this one. */
  capabilities(options?: CallOptions): Promise<IpvsCapabilities> {
    return this.read(
      asking('capabilities'),
      () => ({
        ...INFO,
        schedulers: { loaded: [...this.schedulers].filter((name) => name !== 'none').sort(), loadable: [] },
        persistenceEngines: { loaded: [...this.persistenceEngines].sort(), loadable: [] },
        modulesKnown: true,
        encapsulations: ['ipip', 'gue', 'gre'],
        counters64: true,
        daemonAttributes: true,
      }),
      options,
    );
  }

  /** The output of `ipvsadm -S -n`, sorted, and with the thresholds. */
  dump(): string {
    return formatRules(
      [...this.#held.values()].map(({ service, realServers }) => ({
        ...service,
        realServers: [...realServers]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([, realServer]) => realServer),
      })),
    );
  }

  #stateOf({ service, realServers }: Held): VirtualServiceState {
    const name = nameService(service);
    return {
      ...service,
      ...this.#statisticsOf(name),
      realServers: [...realServers].reverse().map(([id, server]) => ({
        ...server,
        activeConnections: this.activeConnections.get(id) ?? 0,
        inactiveConnections: 0,
        persistentConnections: 0,
        ...this.#statisticsOf(`${name} -> ${id}`),
      })),
    };
  }

  #statisticsOf(name: string): { counters: IpvsCounters; rates: IpvsRates } {
    return { counters: this.counters.get(name) ?? NO_COUNTERS, rates: this.rates.get(name) ?? NO_RATES };
  }

  protected act(operation: IpvsOperation): number | undefined {
    switch (operation.do) {
      case 'flush':
        this.#held.clear();
        return undefined;
      case 'setTimeouts': {
        const { tcp, tcpFin, udp } = this.#timeouts;
        const { timeouts } = operation;
        this.#timeouts = {
          tcp: timeouts.tcp || tcp,
          tcpFin: timeouts.tcpFin || tcpFin,
          udp: timeouts.udp || udp,
        };
        return undefined;
      }
      case 'zero':
        return this.#zero(operation.service);
      case 'startDaemon':
        return this.#startDaemon(readDaemon(recordOf(operation), OPERATION.argument));
      case 'stopDaemon':
        return this.#daemons.delete(operation.state) ? undefined : ESRCH;
      default:
        return this.#doService(operation);
    }
  }

  #doService(operation: ServiceOperation): number | undefined {
    const record = recordOf(operation);
    const service = readService(record, OPERATION.service);
    const key = nameService(service);
    const held = this.#held.get(key);
    if (operation.do === 'addService') {
      if (held) return EEXIST;
      if (!this.#knows(service)) return ENOENT;
      this.#held.set(key, { service, realServers: new Map() });
      return undefined;
    }
    if (!held) return ESRCH;
    if ('realServer' in operation) {
      return this.#doServer(held, operation.do, readServer(record, OPERATION.argument));
    }
    if (operation.do === 'deleteService') {
      this.#held.delete(key);
      return undefined;
    }
    if (!this.#knows(service)) return ENOENT;
    held.service = service;
    return undefined;
  }

  #doServer(
    { service, realServers }: Held,
    verb: ServiceOperation['do'],
    realServer: RealServer,
  ): number | undefined {
    const id = joinHostPort(realServer.address, realServer.port);
    const there = realServers.has(id);
    // "The synchronization protocol is incompatible with mixed family services."
    const isMixed = familyOf(realServer.address) !== familyOfService(service);
    if (verb !== 'deleteRealServer' && isMixed && this.#daemons.size > 0) return EINVAL;
    if (verb === 'addRealServer' ? there : !there) return there ? EEXIST : ENOENT;
    if (verb === 'addRealServer' && !isUnicast(realServer.address)) return EINVAL;
    if (verb === 'deleteRealServer') realServers.delete(id);
    else realServers.set(id, realServer);
    return undefined;
  }

  #zero(id: VirtualServiceId | undefined): number | undefined {
    const name = id && keyOf(id);
    if (name !== undefined && !this.#held.has(name)) return ESRCH;
    for (const statistics of [this.counters, this.rates]) {
      for (const key of statistics.keys()) {
        if (name === undefined || key === name || key.startsWith(`${name} -> `)) statistics.delete(key);
      }
    }
    return undefined;
  }

  /** The checks and defaults of ip_vs_genl_new_daemon() and start_sync_thread(); a value that was left out is 0. */
  #startDaemon(daemon: SyncDaemon): number | undefined {
    const group = daemon.group === '0.0.0.0' ? '224.0.0.81' : daemon.group;
    if (!isMulticast(group) || this.#hasMixedFamilies()) return EINVAL;
    const device = this.interfaces.get(daemon.interface);
    if (device === undefined) return ENODEV;
    if (this.#daemons.has(daemon.state)) return EEXIST;
    const isBackup = daemon.state === 'backup';
    const headers = familyOf(group) === 4 ? 28 : 48;
    const mtu = isBackup ? Math.min(Math.max(device, 1500), 65_535) : 1500;
    const maxLength = daemon.maxLength
      ? Math.min(Math.max(daemon.maxLength, isBackup ? 1024 : 1), 65_535 - headers)
      : mtu - headers;
    const { port, ttl } = daemon;
    this.#daemons.set(daemon.state, { ...daemon, maxLength, group, port: port || 8848, ttl: ttl || 1 });
    return undefined;
  }

  #hasMixedFamilies(): boolean {
    return [...this.#held.values()].some(({ service, realServers }) =>
      [...realServers.values()].some(({ address }) => familyOf(address) !== familyOfService(service)),
    );
  }

  #knows({ scheduler, persistenceEngine }: VirtualService): boolean {
    return (
      this.schedulers.has(scheduler) &&
      (persistenceEngine === undefined || this.persistenceEngines.has(persistenceEngine))
    );
  }
}

/** The operations of records, on virtual services and real servers. */
function operationsIn(records: Uint8Array): IpvsOperation[] {
  const operations: IpvsOperation[] = [];
  for (const reader = new RecordReader(records); reader.hasMore; reader.skip(OPERATION.SIZE)) {
    const verb = VERBS.get(reader.u8(OPERATION.verb));
    const service = readService(reader, OPERATION.service);
    const realServer = verb?.endsWith('Server') && readServer(reader, OPERATION.argument);
    operations.push({ do: verb, service, ...(realServer && { realServer }) } as IpvsOperation);
  }
  return operations;
}

/** The operation as the kernel gets it: addresses in canonical form, and a value in every field. */
function recordOf(operation: IpvsOperation): RecordReader {
  return new RecordReader(packOperation(operation));
}

/** The name of a service, as the kernel lists it: of an object with both, the mark. */
function keyOf(id: VirtualServiceId): string {
  return nameService(readService(recordOf({ do: 'deleteService', service: id }), OPERATION.service));
}

function familyOfService(service: VirtualServiceId): 4 | 6 {
  return 'firewallMark' in service ? service.family : familyOf(service.address);
}

/** The check of ip_vs_new_dest(), as far as it does not depend on routes. */
function isUnicast(address: string): boolean {
  if (familyOf(address) === 6) {
    // ipv6_addr_type() takes IPv4-mapped addresses for a type of their own.
    return address !== '::' && !address.startsWith('ff') && !address.startsWith('::ffff:');
  }
  const first = Number(address.split('.')[0]);
  return first !== 0 && (first < 224 || first > 239) && address !== '255.255.255.255';
}

function isMulticast(address: string): boolean {
  if (familyOf(address) === 6) return address.startsWith('ff');
  const first = Number(address.split('.')[0]);
  return first >= 224 && first <= 239;
}
