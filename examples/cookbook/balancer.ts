// A static load balancer: creates the virtual services of a YAML file, and makes them equal to it again after SIGHUP.
//
//   node balancer.js balancer.yaml
//
// with a file such as:
//
//   - { address: 10.96.0.10, port: 80, protocol: tcp, scheduler: rr, servers: [{ address: 10.0.0.1, port: 8080, weight: 2 }] }
//
// Virtual services that the file never named stay. Needs CAP_NET_ADMIN. SIGINT and SIGTERM end it; the services stay.
import { on } from 'node:events';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { pathToFileURL } from 'node:url';
import {
  type Ipvs,
  type IpvsOperation,
  openIpvs,
  type Protocol,
  type RealServerInput,
  throwOnFailure,
} from 'kube-netlink-proxy/ipvs';
import { parse } from 'yaml';

/** A virtual service of the file. */
export interface BalancedService {
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
  readonly scheduler?: string;
  readonly servers: readonly RealServerInput[];
}

/** Makes the kernel's services equal to `wanted`, and removes those of `former` that are not wanted any more. */
export async function balance(
  ipvs: Pick<Ipvs, 'get' | 'apply'>,
  wanted: readonly BalancedService[],
  former: readonly BalancedService[] = [],
): Promise<void> {
  const operations: IpvsOperation[] = [];
  for (const service of wanted) operations.push(...(await operationsFor(ipvs, service)));
  for (const service of former) {
    if (wanted.some((other) => isDeepStrictEqual(idOf(other), idOf(service)))) continue;
    operations.push({ do: 'deleteService', service: idOf(service) });
  }
  throwOnFailure(await ipvs.apply(operations));
}

async function operationsFor(ipvs: Pick<Ipvs, 'get'>, service: BalancedService): Promise<IpvsOperation[]> {
  const id = idOf(service);
  const settings = { ...id, ...(service.scheduler && { scheduler: service.scheduler }) };
  const state = await ipvs.get(id);
  const isSame = (one: RealServerInput, other: RealServerInput) =>
    one.address === other.address && one.port === other.port;
  const gone = state?.realServers.filter((server) => !service.servers.some((each) => isSame(each, server)));
  return [
    { do: state ? 'updateService' : 'addService', service: settings },
    ...service.servers.map((realServer): IpvsOperation => {
      const exists = state?.realServers.some((server) => isSame(server, realServer));
      return {
        do: exists ? 'updateRealServer' : 'addRealServer',
        service: id,
        realServer: { forwarding: 'masquerade', ...realServer },
      };
    }),
    ...(gone ?? []).map((realServer): IpvsOperation => ({ do: 'deleteRealServer', service: id, realServer })),
  ];
}

function idOf({ address, port, protocol }: BalancedService) {
  return { address, port, protocol };
}

async function main(file: string): Promise<void> {
  await using ipvs = await openIpvs();
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end.abort());
  const keepAlive = setInterval(() => {}, 60_000);
  const reloads = on(process, 'SIGHUP', { signal: end.signal });
  let former: BalancedService[] = [];
  try {
    do {
      const wanted = parse(await readFile(file, 'utf8')) as BalancedService[];
      await balance(ipvs, wanted, former);
      former = wanted;
      console.log(`${wanted.length} services`);
      await reloads.next();
    } while (!end.signal.aborted);
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    clearInterval(keepAlive);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv[2] ?? 'balancer.yaml');
