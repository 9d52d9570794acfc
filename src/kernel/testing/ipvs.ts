// IPVS in memory: keeps virtual services and real servers, and refuses the same operations as the kernel.
import { constants } from 'node:os';
import { canonicalAddress, familyOf, joinHostPort } from '../../net/address.js';
import { asking, nameService } from '../ipvs/names.js';
import { PACKING } from '../ipvs/packing.js';
import { packServiceId, packServiceIds, packTimeouts } from '../ipvs/records.js';
import type {
  Ipvs,
  IpvsChange,
  IpvsCounters,
  IpvsInfo,
  IpvsOperation,
  IpvsTimeouts,
  RealServer,
  RealServerId,
  VirtualService,
  VirtualServiceId,
  VirtualServiceState,
} from '../ipvs/types.js';
import { changed } from '../reported.js';
import type { OperationResult } from '../types.js';
import { FakeClient } from './client.js';

const { EEXIST, EINVAL, ENOENT, ESRCH } = constants.errno;

const NO_COUNTERS: IpvsCounters = {
  connections: 0n,
  inPackets: 0n,
  outPackets: 0n,
  inBytes: 0n,
  outBytes: 0n,
};

interface Held {
  service: VirtualService;
  readonly realServers: Map<string, RealServer>;
}

/** A fake of IPVS. Lists virtual services and real servers in the order in which they were added. */
export class FakeIpvs extends FakeClient<IpvsChange> implements Ipvs {
  /** Active connections by real server, `address:port`, for tests to set; none by default. */
  readonly connections = new Map<string, number>();
  /** Schedulers that this kernel has; others are refused with ENOENT. */
  readonly schedulers = new Set('rr wrr lc wlc lblc lblcr dh sh mh sed nq fo ovf twos none'.split(' '));
  /** Persistence engines that this kernel has; others are refused with ENOENT. */
  readonly persistenceEngines = new Set(['sip']);
  /** The kernel's defaults. */
  #timeouts: IpvsTimeouts = { tcp: 900, tcpFin: 120, udp: 300 };
  readonly #held = new Map<string, Held>();
  readonly #act = (operation: IpvsOperation) => this.#do(operation);

  async list(): Promise<VirtualServiceState[]> {
    return this.read(asking('list'), () => [...this.#held.values()].map((held) => this.#stateOf(held)));
  }

  async listServices(): Promise<VirtualService[]> {
    return this.read(asking('listServices'), () => [...this.#held.values()].map(({ service }) => service));
  }

  async listRealServers(ids: readonly VirtualServiceId[]): Promise<RealServer[][]> {
    packServiceIds(ids, 'ipvs.listRealServers');
    return this.read(asking('listRealServers'), () =>
      ids.map((id) => [...(this.#held.get(nameService(canonical(id)))?.realServers.values() ?? [])]),
    );
  }

  async get(id: VirtualServiceId): Promise<VirtualServiceState | undefined> {
    packServiceId(id, 'ipvs.get');
    const name = nameService(id);
    return this.read(asking('get', name), () => {
      const held = this.#held.get(nameService(canonical(id)));
      return held && this.#stateOf(held);
    });
  }

  add(service: VirtualService): Promise<void> {
    return this.applyOne({ do: 'addService', service }, PACKING, this.#act);
  }

  update(service: VirtualService): Promise<void> {
    return this.applyOne({ do: 'updateService', service }, PACKING, this.#act);
  }

  delete(id: VirtualServiceId): Promise<void> {
    return this.applyOne({ do: 'deleteService', service: id }, PACKING, this.#act);
  }

  addRealServer(id: VirtualServiceId, realServer: RealServer): Promise<void> {
    return this.applyOne({ do: 'addRealServer', service: id, realServer }, PACKING, this.#act);
  }

  updateRealServer(id: VirtualServiceId, realServer: RealServer): Promise<void> {
    return this.applyOne({ do: 'updateRealServer', service: id, realServer }, PACKING, this.#act);
  }

  deleteRealServer(id: VirtualServiceId, realServer: RealServerId): Promise<void> {
    return this.applyOne({ do: 'deleteRealServer', service: id, realServer }, PACKING, this.#act);
  }

  apply(operations: readonly IpvsOperation[]): Promise<OperationResult[]> {
    return this.applyAll(operations, PACKING, this.#act);
  }

  flush(): Promise<void> {
    return changed(this, { do: 'flush' }, () => this.change(asking('flush'), () => this.#held.clear()));
  }

  info(): Promise<IpvsInfo> {
    return this.read(asking('info'), () => ({ version: '1.2.1', connectionTableSize: 4096 }));
  }

  timeouts(): Promise<IpvsTimeouts> {
    return this.read(asking('timeouts'), () => this.#timeouts);
  }

  async setTimeouts(timeouts: IpvsTimeouts): Promise<void> {
    packTimeouts(timeouts);
    return changed(this, { do: 'setTimeouts', timeouts }, () =>
      this.change(asking('setTimeouts'), () => {
        const { tcp, tcpFin, udp } = this.#timeouts;
        this.#timeouts = {
          tcp: timeouts.tcp || tcp,
          tcpFin: timeouts.tcpFin || tcpFin,
          udp: timeouts.udp || udp,
        };
      }),
    );
  }

  /** The output of `ipvsadm -S -n`, sorted. */
  dump(): string {
    const lines = [...this.#held.values()].flatMap(({ service, realServers }) => [
      `-A ${flag(service)} -s ${service.scheduler}${settings(service)}`,
      ...[...realServers.keys()].sort().map((id) => {
        return `-a ${flag(service)} -r ${id} -m -w ${realServers.get(id)?.weight}`;
      }),
    ]);
    return lines.map((line) => `${line}\n`).join('');
  }

  #stateOf({ service, realServers }: Held): VirtualServiceState {
    return {
      ...service,
      counters: NO_COUNTERS,
      realServers: [...realServers.values()].map((server) => ({
        ...server,
        activeConnections: this.connections.get(joinHostPort(server.address, server.port)) ?? 0,
        inactiveConnections: 0,
        persistentConnections: 0,
        counters: NO_COUNTERS,
      })),
    };
  }

  #do(operation: IpvsOperation): number | undefined {
    const key = nameService(canonical(operation.service));
    const held = this.#held.get(key);
    if (operation.do === 'addService') {
      if (held) return EEXIST;
      if (!this.#knows(operation.service)) return ENOENT;
      this.#held.set(key, { service: settingsOf(operation.service), realServers: new Map() });
      return undefined;
    }
    if (!held) return ESRCH;
    if ('realServer' in operation) return doRealServer(held.realServers, operation);
    if (operation.do === 'deleteService') {
      this.#held.delete(key);
      return undefined;
    }
    if (!this.#knows(operation.service)) return ENOENT;
    held.service = settingsOf(operation.service);
    return undefined;
  }

  #knows({ scheduler, persistenceEngine }: VirtualService): boolean {
    return (
      this.schedulers.has(scheduler) &&
      (persistenceEngine === undefined || this.persistenceEngines.has(persistenceEngine))
    );
  }
}

function doRealServer(
  realServers: Map<string, RealServer>,
  operation: Extract<IpvsOperation, { realServer: unknown }>,
): number | undefined {
  const address = canonicalText(operation.realServer.address);
  const id = joinHostPort(address, operation.realServer.port);
  const there = realServers.has(id);
  if (operation.do === 'addRealServer' ? there : !there) return there ? EEXIST : ENOENT;
  if (operation.do === 'addRealServer' && !isUnicast(address)) return EINVAL;
  if (operation.do === 'deleteRealServer') {
    realServers.delete(id);
    return undefined;
  }
  const { port, weight, forwarding, upperThreshold, lowerThreshold, encapsulation } = operation.realServer;
  realServers.set(id, {
    ...{ address, port, weight, forwarding, upperThreshold, lowerThreshold },
    ...(encapsulation && { encapsulation }),
  });
  return undefined;
}

/** The check of ip_vs_new_dest(), as far as it does not depend on routes. */
function isUnicast(address: string): boolean {
  if (familyOf(address) === 6) return address !== '::' && !address.startsWith('ff');
  const first = Number(address.split('.')[0]);
  return first !== 0 && (first < 224 || first > 239) && address !== '255.255.255.255';
}

/** The name of a service, as the kernel lists it: of an object with both, the mark. */
function canonical(id: VirtualServiceId): VirtualServiceId {
  if ('firewallMark' in id) return { firewallMark: id.firewallMark, family: id.family };
  return { address: canonicalText(id.address), port: id.port, protocol: id.protocol };
}

function settingsOf(service: VirtualService): VirtualService {
  const { scheduler, flags, timeout, netmask, persistenceEngine } = service;
  return {
    ...canonical(service),
    ...{ scheduler, flags, timeout, netmask },
    ...(persistenceEngine !== undefined && { persistenceEngine }),
  };
}

/** Of a valid address. */
function canonicalText(address: string): string {
  return canonicalAddress(address) ?? address;
}

const OPTION = { tcp: '-t', udp: '-u', sctp: '--sctp-service' } as const;

function flag(id: VirtualServiceId): string {
  if ('address' in id) return `${OPTION[id.protocol]} ${joinHostPort(id.address, id.port)}`;
  return `-f ${id.firewallMark}${id.family === 6 ? ' -6' : ''}`;
}

function settings({ timeout, flags }: VirtualService): string {
  return `${flags & 0x1 ? ` -p ${timeout}` : ''}${flags & 0x10 ? ' -b mh-port' : ''}`;
}
