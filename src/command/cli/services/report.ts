// The virtual services of a node under the names of their Services: the result of `services -o json`. Pure.
import type { IpvsCounters, RealServerState, VirtualServiceState } from '../../../kernel/ipvs/types.js';
import { ownSettings } from '../../../kernel/ipvs/values/settingsText.js';
import { joinHostPort } from '../../../kernel/net/address.js';
import {
  compareText,
  type Identity,
  type NamesOrigin,
  type ServiceNameParts,
  type ServiceNames,
  sortedByName,
  virtualServiceName,
} from './names.js';

/** Numbers of connections, packets and bytes: in all, or per second. */
export type Traffic = Readonly<Record<keyof IpvsCounters, number>>;

/** A real server. With weight 0, it gets no new connections. */
interface RealServerReport
  extends Pick<
    RealServerState,
    | ('address' | 'port' | 'weight' | 'forwarding')
    | ('activeConnections' | 'inactiveConnections' | 'upperThreshold' | 'lowerThreshold')
  > {
  /** Since its creation. */
  readonly counters: Traffic;
  /** Per second. */
  readonly rates: Traffic;
}

/** A virtual service. It has an address, a port and a protocol, or a firewall mark and a family. */
export interface VirtualServiceReport extends ServiceNameParts, Identity {
  readonly scheduler: string;
  /**
   * Settings that kube-proxy never sets. Those in the kernel are first: `sh-port`, `one-packet`, `netmask 24`. Those of the agent follow,
   * from the origin of the names: `fail-fast removed`.
   */
  readonly settings: readonly string[];
  /** Timeout of persistence, in s; 0 for none. */
  readonly persistence: number;
  /** Sums of its real servers. */
  readonly activeConnections: number;
  readonly inactiveConnections: number;
  readonly counters: Traffic;
  readonly rates: Traffic;
  /** By address and port. */
  readonly realServers: readonly RealServerReport[];
}

/** The virtual services of a node. */
export interface ServicesReport {
  /** The origin of the names of Services, and why there are none. */
  readonly names: NamesOrigin;
  /** Time over which the rates were measured, in s; 0: they are the kernel's estimates, which it makes every 2 s. */
  readonly interval: number;
  /** By name, address and port; those without a name are last. */
  readonly virtualServices: readonly VirtualServiceReport[];
}

/** What rates are computed from: two listings, and the time between them in s. */
export interface Sample<Listing> {
  /** Absent: no rates were measured. */
  readonly before: Listing | undefined;
  readonly after: Listing;
  readonly interval: number;
}

/** The report of two listings. Without `before`, the rates are the kernel's estimates. */
export function servicesReport(
  { before, after, interval }: Sample<readonly VirtualServiceState[]>,
  names: ServiceNames,
): ServicesReport {
  const former = before && countersByName(before);
  const ratesOf = (name: string, { counters, rates }: Pick<RealServerState, 'counters' | 'rates'>) =>
    former && interval > 0 ? ratesBetween(former.get(name), counters, interval) : rates;
  const rows = after.map((service): VirtualServiceReport => {
    const name = virtualServiceName(service);
    const realServers = service.realServers
      .map((server) => ({
        ...realServerReport(server),
        rates: ratesOf(`${name} ${serverName(server)}`, server),
      }))
      .sort((a, b) => compareText(serverName(a), serverName(b)));
    const sum = (field: 'activeConnections' | 'inactiveConnections') =>
      realServers.reduce((total, server) => total + server[field], 0);
    const { settings = [], ...named } = names.of(service);
    return {
      ...named,
      ...identityOf(service),
      scheduler: service.scheduler,
      settings: [...ownSettings(service), ...settings],
      persistence: service.persistence?.timeout ?? 0,
      activeConnections: sum('activeConnections'),
      inactiveConnections: sum('inactiveConnections'),
      counters: numbers(service.counters, Number),
      rates: ratesOf(name, service),
      realServers,
    };
  });
  return {
    names: names.origin,
    interval: former ? interval : 0,
    virtualServices: sortedByName(rows, virtualServiceName),
  };
}

/** Rates per second from two counters. A counter that became smaller was set to zero in between, or is a new object's. */
export function ratesBetween<Field extends string>(
  before: Readonly<Record<Field, bigint | number>> | undefined,
  after: Readonly<Record<Field, bigint | number>>,
  seconds: number,
): Readonly<Record<Field, number>> {
  return numbers(after, (now, field) => {
    const then = BigInt(before?.[field] ?? 0);
    return Number(BigInt(now) - (then <= now ? then : 0n)) / seconds;
  });
}

/** A number for each field of counters. */
function numbers<Field extends string, Value>(
  counters: Readonly<Record<Field, Value>>,
  numberOf: (value: Value, field: Field) => number,
): Readonly<Record<Field, number>> {
  const fields = Object.entries(counters) as [Field, Value][];
  return Object.fromEntries(fields.map(([field, value]) => [field, numberOf(value, field)])) as Record<
    Field,
    number
  >;
}

function countersByName(listed: readonly VirtualServiceState[]): Map<string, IpvsCounters> {
  return new Map(
    listed.flatMap((service) => {
      const name = virtualServiceName(service);
      const servers = service.realServers.map((server): [string, IpvsCounters] => [
        `${name} ${serverName(server)}`,
        server.counters,
      ]);
      return [[name, service.counters], ...servers];
    }),
  );
}

function identityOf(service: VirtualServiceState) {
  if ('address' in service) {
    const { address, port, protocol } = service;
    return { address, port, protocol };
  }
  const { firewallMark, family } = service;
  return { firewallMark, family };
}

function realServerReport(server: RealServerState): Omit<RealServerReport, 'rates'> {
  const { address, port, weight, forwarding, activeConnections, inactiveConnections, counters } = server;
  const { upperThreshold, lowerThreshold } = server;
  return {
    ...{ address, port, weight, forwarding, upperThreshold, lowerThreshold },
    ...{ activeConnections, inactiveConnections },
    counters: numbers(counters, Number),
  };
}

function serverName({ address, port }: Pick<RealServerState, 'address' | 'port'>): string {
  return joinHostPort(address, port);
}
