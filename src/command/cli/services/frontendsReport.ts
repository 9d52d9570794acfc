// The frontends in rules under the names of their Services: the result of `services -o json` in iptables mode. Pure.

import { joinHostPort } from '../../../kernel/net/address.js';
import type { ProgrammedEndpoint, ProgrammedFrontend, RuleTraffic } from '../../explain/inventory.js';
import { type NamesOrigin, type ServiceNames, sortedByName } from './names.js';
import { ratesBetween, type Sample } from './report.js';

/** An endpoint, with rates per second; without two listings, there are none. */
interface EndpointReport extends ProgrammedEndpoint {
  readonly rates?: RuleTraffic;
}

/** A frontend, with rates per second; without two listings, there are none. */
export interface FrontendReport extends ProgrammedFrontend {
  readonly rates?: RuleTraffic;
  readonly endpoints: readonly EndpointReport[];
  /** Settings of the Service that the rules do not show: `fail-fast removed`. Absent: none, or no agent and no objects name it. */
  readonly settings?: readonly string[];
}

/** The frontends of a node. */
export interface FrontendsReport {
  /** The origin of the names of Services; `rules`: their comments. */
  readonly names: NamesOrigin;
  /** Time over which the rates were measured, in s; 0: there are none. */
  readonly interval: number;
  /** By name, address and port; those without a name are last. */
  readonly frontends: readonly FrontendReport[];
}

/** The report of two listings. */
export function frontendsReport(
  { before, after, interval }: Sample<readonly ProgrammedFrontend[]>,
  names: ServiceNames,
): FrontendsReport {
  const former = before && interval > 0 ? countersOf(before) : undefined;
  const ratesOf = (key: string, counters: RuleTraffic | undefined) =>
    former && counters ? { rates: ratesBetween(former.get(key), counters, interval) } : {};
  const rows = after.map((frontend): FrontendReport => {
    const key = frontendName(frontend);
    return {
      ...frontend,
      ...namesOf(frontend, names),
      ...ratesOf(key, frontend.counters),
      endpoints: frontend.endpoints.map((endpoint) => ({
        ...endpoint,
        ...ratesOf(`${key} ${endpoint.chain}`, endpoint.counters),
      })),
    };
  });
  const isNamed = ({ service }: FrontendReport) => service !== undefined;
  const origin =
    names.origin.source === 'none' && rows.some(isNamed) ? { source: 'rules' as const } : names.origin;
  return { names: origin, interval: former ? interval : 0, frontends: sortedByName(rows, frontendName) };
}

/** `10.96.0.80:80/tcp`; a node port is `*:30080/tcp`, and `[*]:30080/tcp` in IPv6. */
export function frontendName({ family, address, port, protocol }: ProgrammedFrontend): string {
  const host =
    address === undefined ? (family === 4 ? `*:${port}` : `[*]:${port}`) : joinHostPort(address, port);
  return `${host}/${protocol}`;
}

/** The names of the agent or of objects, which rules without comments lack. */
function namesOf({ family, address, port, protocol }: ProgrammedFrontend, names: ServiceNames) {
  // A node port is found by its port, at any address of the family.
  const any = address ?? (family === 4 ? '0.0.0.0' : '::');
  return names.of({ address: any, port, protocol: protocol as 'tcp' });
}

function countersOf(listed: readonly ProgrammedFrontend[]): Map<string, RuleTraffic> {
  return new Map(
    listed.flatMap((frontend) => {
      const key = frontendName(frontend);
      const endpoints = frontend.endpoints.map(
        ({ chain, counters }) => [`${key} ${chain}`, counters] as const,
      );
      return [[key, frontend.counters] as const, ...endpoints].flatMap(([name, counters]) =>
        counters ? [[name, counters] as const] : [],
      );
    }),
  );
}
