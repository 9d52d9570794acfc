// IPVS that lives in memory: keeps virtual services and real servers, refuses what the kernel refuses.
import type {
  IpvsCounters,
  IpvsOperation,
  IpvsTimeouts,
  OperationResult,
  RealServer,
  VirtualService,
  VirtualServiceId,
  VirtualServiceState,
} from '../kernel/ipvs/types.js';
import { joinHostPort } from '../net/address.js';
import { attempt, type Fault, type Faults } from './faults.js';

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

/** A fake of IPVS. */
export class FakeIpvs implements Faults {
  fault: Fault = () => undefined;
  /** Active connections by real server, `address:port`, for tests to set; none by default. */
  readonly connections = new Map<string, number>();
  /** The kernel's defaults. */
  #timeouts: IpvsTimeouts = { tcp: 900, tcpFin: 120, udp: 300 };
  readonly #held = new Map<string, Held>();

  async list(): Promise<VirtualServiceState[]> {
    return [...this.#held.values()].map(({ service, realServers }) => ({
      ...service,
      counters: NO_COUNTERS,
      realServers: [...realServers.values()].map((server) => ({
        ...server,
        activeConnections: this.connections.get(joinHostPort(server.address, server.port)) ?? 0,
        inactiveConnections: 0,
        persistentConnections: 0,
        counters: NO_COUNTERS,
      })),
    }));
  }

  async listServices(): Promise<VirtualService[]> {
    return [...this.#held.values()].map(({ service }) => service);
  }

  async listRealServers(ids: readonly VirtualServiceId[]): Promise<RealServer[][]> {
    return ids.map((id) => [...(this.#held.get(nameOf(id))?.realServers.values() ?? [])]);
  }

  async get(id: VirtualServiceId): Promise<VirtualServiceState | undefined> {
    return (await this.list()).find((service) => nameOf(service) === nameOf(id));
  }

  async apply(operations: readonly IpvsOperation[]): Promise<OperationResult[]> {
    return operations.map((operation) =>
      attempt(this, `ipvs.${operation.do}`, targetOf(operation), () => this.#do(operation)),
    );
  }

  async timeouts(): Promise<IpvsTimeouts> {
    return this.#timeouts;
  }

  async setTimeouts(timeouts: IpvsTimeouts): Promise<void> {
    const fault = this.fault('ipvs.setTimeouts', '');
    if (fault) throw fault;
    const { tcp, tcpFin, udp } = this.#timeouts;
    this.#timeouts = {
      tcp: timeouts.tcp || tcp,
      tcpFin: timeouts.tcpFin || tcpFin,
      udp: timeouts.udp || udp,
    };
  }

  /** What `ipvsadm -S -n` prints, sorted. */
  dump(): string {
    const lines = [...this.#held.values()].flatMap(({ service, realServers }) => [
      `-A ${flag(service)} -s ${service.scheduler}${settings(service)}`,
      ...[...realServers.keys()].sort().map((id) => {
        return `-a ${flag(service)} -r ${id} -m -w ${realServers.get(id)?.weight}`;
      }),
    ]);
    return lines.map((line) => `${line}\n`).join('');
  }

  #do(operation: IpvsOperation): string | undefined {
    const key = nameOf(operation.service);
    const held = this.#held.get(key);
    if (operation.do === 'addService') {
      if (held) return 'EEXIST';
      this.#held.set(key, { service: operation.service, realServers: new Map() });
      return undefined;
    }
    if (!held) return 'ESRCH';
    if ('realServer' in operation) return doRealServer(held.realServers, operation);
    if (operation.do === 'updateService') held.service = operation.service;
    else this.#held.delete(key);
    return undefined;
  }
}

function doRealServer(
  realServers: Map<string, RealServer>,
  operation: Extract<IpvsOperation, { realServer: unknown }>,
): string | undefined {
  const id = joinHostPort(operation.realServer.address, operation.realServer.port);
  const there = realServers.has(id);
  if (operation.do === 'addRealServer' ? there : !there) return there ? 'EEXIST' : 'ENOENT';
  if (operation.do === 'deleteRealServer') realServers.delete(id);
  else realServers.set(id, operation.realServer);
  return undefined;
}

function nameOf(id: VirtualServiceId): string {
  return 'address' in id
    ? `${id.protocol} ${joinHostPort(id.address, id.port)}`
    : `fwmark ${id.firewallMark}/${id.family}`;
}

function targetOf(operation: IpvsOperation): string {
  if (!('realServer' in operation)) return nameOf(operation.service);
  const { address, port } = operation.realServer;
  return `${nameOf(operation.service)} -> ${joinHostPort(address, port)}`;
}

const OPTION = { tcp: '-t', udp: '-u', sctp: '--sctp-service' } as const;

function flag(id: VirtualServiceId): string {
  if ('address' in id) return `${OPTION[id.protocol]} ${joinHostPort(id.address, id.port)}`;
  return `-f ${id.firewallMark}${id.family === 6 ? ' -6' : ''}`;
}

function settings({ timeout, flags }: VirtualService): string {
  return `${flags & 0x1 ? ` -p ${timeout}` : ''}${flags & 0x10 ? ' -b mh-port' : ''}`;
}
