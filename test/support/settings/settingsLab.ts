// A network with the proxy in ipvs mode, dual-stack Services of the web pods with settings, and clients of them.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type Ipvs, openIpvs, type VirtualServiceState } from '../../../src/kernel/ipvs/index.js';
import { type Lab, openLab } from '../../laboratory/lab.js';
import { LabHost, type Outcome } from '../../laboratory/labHost.js';
import { ManifestFolder } from '../../laboratory/manifestFolder.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { NODE_A, type Pod, SHELL, WEB, WEB_PORT } from '../../laboratory/places.js';
import { type LogLine, ProxyProcess, type SyncedLine } from '../../laboratory/proxyProcess.js';
import { closeAfter } from '../closeAfter.js';
import { annotations } from './objects.js';

export type Settings = Readonly<Record<string, string>>;

export const FAMILIES = [4, 6] as const;
export type Family = (typeof FAMILIES)[number];

/** A client in the same networks as {@link SHELL}. */
const SECOND: Pod = { name: 'second', node: NODE_A, ipv4: '10.244.1.101', ipv6: 'fd00:10:244:1::101' };
const UDP_PORT = 5353;

/** What is special about a Service. */
export interface Shape {
  /** Client-IP affinity. */
  readonly affinity?: boolean;
  /** Default `TCP`. */
  readonly protocol?: 'UDP';
}

/** What is special about the endpoints of a Service. */
export interface Endpoints {
  /** Weights of the slices of each pod. */
  readonly weights?: readonly string[];
  /** Zones of the endpoints of each pod. */
  readonly zones?: readonly string[];
  /** Pods that are no endpoints. */
  readonly absent?: readonly string[];
  /** Pods that are terminating. */
  readonly terminating?: readonly string[];
}

/** Services, each with an address of its own, so that no test counts the connections of another. */
export class SettingsLab<Name extends string> {
  readonly #names: readonly Name[];
  readonly #shapes: Readonly<Record<Name, Shape>>;
  readonly #lab: Lab;
  readonly #manifests: ManifestFolder;
  readonly proxy: ProxyProcess;
  readonly ipvs: Ipvs;
  readonly shell: LabHost;
  readonly second: LabHost;

  private constructor(
    shapes: Readonly<Record<Name, Shape>>,
    parts: Pick<SettingsLab<Name>, 'proxy' | 'ipvs' | 'shell' | 'second'> & {
      readonly lab: Lab;
      readonly manifests: ManifestFolder;
    },
  ) {
    this.#names = Object.keys(shapes) as Name[];
    this.#shapes = shapes;
    this.#lab = parts.lab;
    this.#manifests = parts.manifests;
    this.proxy = parts.proxy;
    this.ipvs = parts.ipvs;
    this.shell = parts.shell;
    this.second = parts.second;
  }

  /**
   * Opens the network, in which all Services have no settings. It is closed after all tests of the file.
   *
   * @param flags of the proxy
   */
  static async open<Name extends string>(
    shapes: Readonly<Record<Name, Shape>>,
    flags: readonly string[],
  ): Promise<SettingsLab<Name>> {
    const lab = closeAfter(openLab([SHELL, SECOND, ...WEB]));
    const manifests = closeAfter(new ManifestFolder(''));
    for (const [place, name] of (Object.keys(shapes) as Name[]).entries()) {
      manifests.write(`${name}.json`, manifest(name, place, shapes[name], {}));
    }
    const open = async (place: Pod) => closeAfter(await LabHost.open(lab.namespace(place)));
    const servers = WEB.map(async (pod) =>
      (await open(pod)).serve(pod.name, { tcp: [WEB_PORT], udp: [UDP_PORT] }),
    );
    await Promise.all(servers);
    const [shell, second] = [await open(SHELL), await open(SECOND)];
    const proxy = closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path, flags));
    await proxy.programmed();
    const ipvs = closeAfter(await openIpvs({ netns: lab.netns(NODE_A) }));
    return new SettingsLab(shapes, { lab, manifests, proxy, ipvs, shell, second });
  }

  addressOf(name: Name, family: Family): string {
    return addressAt(this.#names.indexOf(name), family);
  }

  /** Name of the network namespace of {@link shell}. */
  get shellNamespace(): string {
    return this.#lab.namespace(SHELL);
  }

  /** Changes a Service and its slices; resolves to the number of operations. */
  change(name: Name, settings: Settings, endpoints: Endpoints = {}): Promise<number> {
    const text = manifest(name, this.#names.indexOf(name), this.#shapes[name], settings, endpoints);
    return this.#write(name, text);
  }

  /** Changes the zone of the proxy's node, on which a Service depends; resolves to the number of operations. */
  moveNode(zone: string): Promise<number> {
    const labels = { 'topology.kubernetes.io/zone': zone };
    return this.#write(
      'node',
      JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: NODE_A.name, labels } }),
    );
  }

  /** Writes a manifest; resolves to the number of operations of its pass. */
  async #write(name: string, text: string): Promise<number> {
    const lines = this.proxy.log.length;
    this.#manifests.write(`${name}.json`, text);
    // A pass that removes a real server after its draining plans no Service.
    const isOfChange = (line: LogLine) =>
      line.msg === 'synced' && line['services'] !== 0 && this.proxy.log.indexOf(line) >= lines;
    const line = (await this.proxy.logged(isOfChange, `the pass of ${name}`)) as SyncedLine;
    assert.equal(line.failures, 0);
    return line.operations;
  }

  /** The servers of new connections, or the errors, one after another. */
  async servers(name: Name, family: Family, times: number, host = this.shell): Promise<string[]> {
    const found: string[] = [];
    for (let i = 0; i < times; i++) found.push(resultOf(await host.dial(this.addressOf(name, family), 80)));
    return found;
  }

  /** The number of connections of each web pod. */
  async spread(name: Name, family: Family, times: number): Promise<number[]> {
    const found = await this.servers(name, family, times);
    const counts = WEB.map((pod) => found.filter((by) => by === pod.name).length);
    const sum = counts.reduce((total, count) => total + count, 0);
    assert.equal(sum, times, `${found}`);
    return counts;
  }

  /** A request over a connection that stays open: the server, and whether the connection was the former one. */
  async kept(name: Name, family: Family, host = this.shell): Promise<{ by: string; kept: boolean }> {
    const outcome = await host.dial(this.addressOf(name, family), 80, { keep: true });
    assert.ok(!('error' in outcome), JSON.stringify(outcome));
    return { by: outcome.by, kept: outcome.kept === true };
  }

  /** The virtual service of a Service, once it is as wanted. */
  async state(
    name: Name,
    family: Family,
    wanted: (state: VirtualServiceState) => boolean = () => true,
  ): Promise<VirtualServiceState> {
    const protocol = this.#shapes[name].protocol === 'UDP' ? 'udp' : 'tcp';
    const id = { address: this.addressOf(name, family), port: 80, protocol } as const;
    const end = performance.now() + PATIENCE;
    for (;;) {
      const state = await this.ipvs.get(id);
      if (state && wanted(state)) return state;
      assert.ok(
        performance.now() < end,
        `the virtual service of ${name} stays ${JSON.stringify(state, plain)}`,
      );
      await wait(200);
    }
  }
}

/** The server, or the error. */
export function resultOf(outcome: Outcome): string {
  return 'error' in outcome ? outcome.error : outcome.by;
}

const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** The cluster IP of a Service by its place. */
function addressAt(place: number, family: Family): string {
  return family === 4 ? `10.96.30.${1 + place}` : `fd00:10:96:30::${1 + place}`;
}

/** A dual-stack Service of all web pods, as a List; each pod is in slices of its own, which may have a weight. */
function manifest(
  name: string,
  place: number,
  { affinity, protocol }: Shape,
  settings: Settings,
  { weights = [], zones = [], absent = [], terminating = [] }: Endpoints = {},
): string {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'settings', name, annotations: annotations(settings) },
    spec: {
      clusterIP: addressAt(place, 4),
      clusterIPs: [addressAt(place, 4), addressAt(place, 6)],
      ipFamilies: ['IPv4', 'IPv6'],
      ...(affinity ? { sessionAffinity: 'ClientIP' } : {}),
      ports: [{ port: 80, ...(protocol ? { protocol } : {}) }],
    },
  };
  const slices = WEB.flatMap((pod, i) =>
    FAMILIES.map((family) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        namespace: 'settings',
        name: `${name}-${i}-${family}`,
        labels: { 'kubernetes.io/service-name': name },
        annotations: annotations(weights[i] === undefined ? {} : { weight: weights[i] }),
      },
      addressType: `IPv${family}`,
      ports: [protocol ? { port: UDP_PORT, protocol } : { port: WEB_PORT }],
      endpoints: [
        {
          addresses: [family === 4 ? pod.ipv4 : pod.ipv6],
          nodeName: pod.node.name,
          ...(zones[i] === undefined ? {} : { zone: zones[i] }),
          ...(terminating.includes(pod.name)
            ? { conditions: { ready: false, serving: true, terminating: true } }
            : {}),
        },
      ].filter(() => !absent.includes(pod.name)),
    })),
  );
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [service, ...slices] });
}
