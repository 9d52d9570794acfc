// The acts of the demonstration, once the network stands and the kernel is programmed.
import type { Ipvs, VirtualServiceState } from '../src/kernel/ipvs/types.js';
import { countersReach, realServersBecome } from './kernelView.js';
import { type ManifestFolder, withoutEndpoint } from './manifestFolder.js';
import { type Pod, WEB, WEB_PORT } from './places.js';
import type { ProxyProcess } from './proxyProcess.js';
import { bad, bars, explain, good, heading, paint, say, table } from './screen.js';
import { type Route, request } from './traffic.js';
import { type Diallers, WEB_ADDRESSES, WEB_MANIFEST, webRoutes } from './web.js';

/** Requests over each route in each act. */
const REQUESTS = 12;

/** What happens, and what came of it. */
export class Story {
  requests = 0;
  readonly failures: string[] = [];
  /** Ms from each change of the manifest to its being in the kernel. */
  readonly latencies: number[] = [];
  readonly #ipvs: Ipvs;
  readonly #routes: readonly Route[];
  readonly #manifests: ManifestFolder;
  readonly #proxy: ProxyProcess;

  /** @param ipvs the proxy's node's */
  constructor(ipvs: Ipvs, diallers: Diallers, manifests: ManifestFolder, proxy: ProxyProcess) {
    this.#ipvs = ipvs;
    this.#manifests = manifests;
    this.#proxy = proxy;
    this.#routes = webRoutes(diallers);
  }

  /** Everything, in order. */
  async tell(): Promise<void> {
    heading('Three kinds of virtual IP, one Service');
    explain(`Service demo/web of ${WEB_MANIFEST} has a ClusterIP, a NodePort and an external IP. No process
      accepts connections there: the kernel picks a pod for each new one, in turn. Each pod tells which address it sees
      the request come from.`);
    await this.#traffic(WEB);
    await this.#listing();
    const [gone, ...rest] = [WEB[1], WEB[0], WEB[2]] as [Pod, Pod, Pod];
    const before = this.#manifests.read(WEB_MANIFEST);
    heading(`${WEB_MANIFEST} loses an endpoint`);
    say(`  ${paint('red', `- addresses: [${gone.ipv4}]`)}   # ${gone.name}`);
    await this.#edit(withoutEndpoint(before, gone.ipv4), rest);
    await this.#traffic(rest);
    heading(`${WEB_MANIFEST} gets it back`);
    say(`  ${paint('green', `+ addresses: [${gone.ipv4}]`)}   # ${gone.name}`);
    await this.#edit(before, WEB);
    await this.#traffic(WEB);
  }

  /** Takes a failure down. */
  fail(failure: string): void {
    this.failures.push(failure);
    bad(failure);
  }

  /** Requests over every route. */
  async #traffic(pods: readonly Pod[]): Promise<void> {
    const expected = pods.map(({ name }) => name);
    for (const route of this.#routes) {
      const { counts, sources, failures } = await request(route, REQUESTS, expected);
      this.requests += REQUESTS;
      const seen = paint('dim', `pods see ${[...sources].join(', ')}`);
      say('', `  ${paint('bold', `${route.address}:${route.port}`)}  ${route.name}; ${seen}`);
      bars(counts);
      for (const failure of failures) this.fail(failure);
    }
  }

  /** The virtual services of demo/web as the kernel has them. */
  async #listing(): Promise<void> {
    heading('What the kernel holds');
    explain('Read back over netlink, by the library that the proxy uses.');
    say('');
    await countersReach(this.#ipvs, WEB_ADDRESSES.externalIP, REQUESTS);
    const all = await this.#ipvs.list();
    const shown = all.filter(isWeb);
    const numbers = [' weight', ' connections', ' packets in', ' bytes out'];
    table(['virtual service', 'real server', ...numbers], shown.flatMap(rows));
    say('', `  … and ${all.length - shown.length} more, of the other Services in examples/.`);
  }

  /** Changes the manifest, and waits until the kernel has followed at every virtual IP. */
  async #edit(text: string, pods: readonly Pod[]): Promise<void> {
    const expected = pods.map(({ ipv4 }) => `${ipv4}:${WEB_PORT}`);
    const logged = this.#proxy.log.length;
    const changed = this.#manifests.write(WEB_MANIFEST, text);
    const ids = Object.values(WEB_ADDRESSES);
    const moments = await Promise.all(ids.map((id) => realServersBecome(this.#ipvs, id, expected)));
    const latency = Math.max(...moments) - changed;
    this.latencies.push(latency);
    good(`the kernel followed ${latency.toFixed(0)} ms after the file was replaced`);
    const { planMs, operations, kernelMs } = await this.#proxy.synced(logged);
    explain(`${planMs} ms went into planning, ${kernelMs} ms into ${operations} kernel operations, sent together; the rest
      into noticing and reading the file.`);
  }
}

/** Node ports stand on every address of the node. */
function isWeb(service: VirtualServiceState): boolean {
  if (!('address' in service)) return false;
  const { nodePort, ...others } = WEB_ADDRESSES;
  return service.port === nodePort.port || Object.values(others).some((id) => id.address === service.address);
}

function rows(service: VirtualServiceState): string[][] {
  const name = 'address' in service ? `${service.address}:${service.port}` : '';
  return service.realServers.map(({ address, port, weight, counters }, i) => [
    i === 0 ? name : '',
    `${address}:${port}`,
    `${weight}`,
    `${counters.connections}`,
    `${counters.inPackets}`,
    `${counters.outBytes}`,
  ]);
}
