// Three nodes with the real command, pods behind two of them, and a client outside that spreads its connections over the nodes (ECMP).
//
//   client ── lan ─┬─ node-0 ── shell
//                  ├─ node-1 ── web-0, web-1
//                  └─ node-2 ── web-2, web-3
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMAND, ProxyProcess } from '../../laboratory/proxyProcess.js';
import { serve } from './manyConnections.js';

export type Family = 4 | 6;

/** The load-balancer IPs of the Service `demo/web`. */
export const VIP: Readonly<Record<Family, string>> = { 4: '203.0.113.1', 6: 'fd99::1' };
export const CLUSTER_IP: Readonly<Record<Family, string>> = { 4: '10.96.0.1', 6: 'fd00:96::1' };
/** The client outside. */
export const CLIENT: Readonly<Record<Family, string>> = { 4: '192.168.60.100', 6: 'fd60::100' };
/** The port of the Service, which differs from that of the endpoints. */
export const PORT = 80;
export const ENDPOINT_PORT = 8080;
const NODES = [0, 1, 2] as const;
export type NodeNumber = (typeof NODES)[number];

/** A pod with its node and its number there. */
interface Pod {
  readonly name: string;
  readonly node: NodeNumber;
  readonly number: number;
}

const SHELL: Pod = { name: 'shell', node: 0, number: 100 };
const WEB: readonly Pod[] = [
  { name: 'web-0', node: 1, number: 11 },
  { name: 'web-1', node: 1, number: 12 },
  { name: 'web-2', node: 2, number: 11 },
  { name: 'web-3', node: 2, number: 12 },
];
const ANNOTATION = 'kube-netlink-proxy.io';

const nodeAddress = (node: number, family: Family) =>
  family === 4 ? `192.168.60.${1 + node}` : `fd60::${1 + node}`;
const podNetwork = (node: number, family: Family) =>
  family === 4 ? `10.244.${node}.` : `fd00:244:${10 + node}::`;
const length = (family: Family) => (family === 4 ? 24 : 64);

/** The address of an endpoint, or of another pod. */
export function podAddress({ node, number }: Pick<Pod, 'node' | 'number'>, family: Family): string {
  return `${podNetwork(node, family)}${number}`;
}

/** The address of a node in the network of its pods. */
export function gatewayAddress(node: NodeNumber, family: Family): string {
  return `${podNetwork(node, family)}1`;
}

/** Runs lines of ip(8) in a namespace; in this one, without a name. */
export function ip(namespace: string | undefined, lines: readonly string[]): void {
  const options = namespace === undefined ? [] : ['-n', namespace];
  execFileSync('ip', [...options, '-batch', '-'], { input: lines.map((line) => `${line}\n`).join('') });
}

/** Runs a program in a namespace; returns its output. */
export function run(namespace: string, ...words: readonly string[]): string {
  return execFileSync('ip', ['netns', 'exec', namespace, ...words], { encoding: 'utf8' });
}

/** The Service and its slices. */
function objects(settings: Readonly<Record<string, string>>): object[] {
  const annotations = Object.entries(settings).map(([name, text]) => [`${ANNOTATION}/${name}`, text]);
  const families = [4, 6] as const;
  const service = {
    ...{ apiVersion: 'v1', kind: 'Service' },
    metadata: { namespace: 'demo', name: 'web', annotations: Object.fromEntries(annotations) },
    spec: {
      ...{ type: 'LoadBalancer', clusterIP: CLUSTER_IP[4], clusterIPs: Object.values(CLUSTER_IP) },
      ...{ ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] },
      ports: [{ name: 'http', port: PORT, nodePort: 30080, targetPort: ENDPOINT_PORT }],
    },
    status: { loadBalancer: { ingress: families.map((family) => ({ ip: VIP[family] })) } },
  };
  const slices = families.map((family) => ({
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: `IPv${family}` },
    metadata: {
      ...{ namespace: 'demo', name: `web-ipv${family}` },
      labels: { 'kubernetes.io/service-name': 'web' },
    },
    ports: [{ name: 'http', port: ENDPOINT_PORT, protocol: 'TCP' }],
    endpoints: WEB.map((pod) => ({
      ...{ addresses: [podAddress(pod, family)], nodeName: `node-${pod.node}` },
      conditions: { ready: true },
    })),
  }));
  return [service, ...slices];
}

/** The network, and the agents of its nodes. Close it after the tests. */
export class ClusterNetwork {
  readonly client: string;
  readonly shell: string;
  readonly lan: string;
  readonly #prefix = `knp-${process.pid}`;
  readonly #manifests = mkdtempSync(join(tmpdir(), 'knp-tunnels-'));
  readonly #closing: (() => unknown)[] = [];
  readonly #agents = new Map<NodeNumber, ProxyProcess>();

  private constructor() {
    this.client = `${this.#prefix}-client`;
    this.shell = `${this.#prefix}-shell`;
    this.lan = `${this.#prefix}-lan`;
  }

  /** Makes the network, and starts the servers of the pods. */
  static async open(): Promise<ClusterNetwork> {
    const made = new ClusterNetwork();
    made.#makeHosts();
    for (const pod of [SHELL, ...WEB]) made.#makePod(pod);
    for (const { name } of WEB) {
      const server = await serve(`${made.#prefix}-${name}`, name, ENDPOINT_PORT);
      made.#closing.push(() => server.close());
    }
    return made;
  }

  /** The namespace of a node. */
  node(node: NodeNumber): string {
    return `${this.#prefix}-node-${node}`;
  }

  /** Writes the Service with these settings. */
  write(settings: Readonly<Record<string, string>>): void {
    const list = { apiVersion: 'v1', kind: 'List', items: objects(settings) };
    writeFileSync(join(this.#manifests, 'web.json'), JSON.stringify(list));
  }

  /** Writes the Node objects, with these addresses. */
  writeNodes(): void {
    const items = NODES.map((node) => ({
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: `node-${node}` } },
      status: { addresses: [{ type: 'InternalIP', address: nodeAddress(node, 4) }] },
    }));
    writeFileSync(
      join(this.#manifests, 'nodes.json'),
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    );
  }

  /** Starts the agents of all nodes, or of some, with these flags, after the end of those that run. */
  async start(flags: readonly string[], nodes: readonly NodeNumber[] = NODES): Promise<void> {
    await this.stop();
    for (const node of nodes) this.#start(node, flags);
    for (const agent of this.#agents.values()) await agent.programmed();
  }

  /** Ends the agents. */
  async stop(): Promise<void> {
    for (const agent of this.#agents.values()) await agent.close();
    this.#agents.clear();
  }

  /** The agent of a node. */
  agent(node: NodeNumber): ProxyProcess {
    return this.#agents.get(node) as ProxyProcess;
  }

  /** Removes all state of the proxy on a node. */
  async cleanUp(node: NodeNumber): Promise<void> {
    await this.agent(node).close();
    run(this.node(node), process.execPath, COMMAND, '--cleanup', '--proxy-mode=ipvs');
  }

  #start(node: NodeNumber, flags: readonly string[]): void {
    const own = ['--hostname-override', `node-${node}`, '--cluster-cidr', '10.244.0.0/16,fd00:244::/32'];
    this.#agents.set(node, new ProxyProcess(this.node(node), this.#manifests, [...own, ...flags]));
  }

  /** The client's routes to the load-balancer IPs, over these nodes. */
  routeOver(nodes: readonly NodeNumber[]): void {
    for (const family of [4, 6] as const) {
      const hops = nodes.map((node) => `nexthop via ${nodeAddress(node, family)}`);
      const to = `${VIP[family]}/${family === 4 ? 32 : 128}`;
      ip(this.client, [`route replace ${to} ${hops.join(' ')}`]);
    }
  }

  /** Makes the client the router between all nodes, by IPv4. */
  routeBetweenNodes(): void {
    run(
      this.client,
      ...[
        'sh',
        '-c',
        'cd /proc/sys/net/ipv4; echo 1 >ip_forward; for f in conf/*/send_redirects; do echo 0 >$f; done',
      ],
    );
    for (const node of NODES) {
      const pods = `${podNetwork(node, 4)}0/24`;
      ip(this.client, [`route replace ${pods} via ${nodeAddress(node, 4)}`]);
      const others = NODES.filter((each) => each !== node);
      const routes = [`${nodeAddress(node, 4)}/32`, pods].map((to) => `route replace ${to} via ${CLIENT[4]}`);
      for (const other of others) ip(this.node(other), routes);
    }
  }

  /** Cuts a node off, or ends that: by its link, by all its packets, or by the packets that the router has for it. */
  cut(node: NodeNumber, what: 'link' | 'packets' | 'route', off: boolean): void {
    if (what === 'link') ip(this.node(node), [`link set eth0 ${off ? 'down' : 'up'}`]);
    else if (what === 'packets')
      run(this.lan, 'bridge', 'link', 'set', 'dev', `node-${node}`, 'state', off ? '0' : '3');
    else ip(this.client, [`route ${off ? 'add' : 'delete'} blackhole ${nodeAddress(node, 4)}/32`]);
    if (what === 'link' && !off)
      for (const other of NODES.filter((each) => each !== node))
        ip(this.node(node), [`route replace ${podNetwork(other, 4)}0/24 via ${nodeAddress(other, 4)}`]);
    if (what === 'route') {
      const pods = `${podNetwork(node, 4)}0/24`;
      ip(this.client, [`route replace ${off ? `blackhole ${pods}` : `${pods} via ${nodeAddress(node, 4)}`}`]);
    }
  }

  /** Loses one packet of a hundred, of every protocol, on its way from each node. */
  losePackets(): void {
    const lines = NODES.map(
      (node) => `table netdev loss {
  chain node-${node} {
    type filter hook ingress device node-${node} priority 0
    numgen random mod 100 0 counter drop
  }
}`,
    );
    execFileSync('ip', ['netns', 'exec', this.lan, 'nft', '-f', '-'], { input: lines.join('\n') });
  }

  /** Number of packets that were lost. */
  lostPackets(): number {
    const counters = run(this.lan, 'nft', 'list', 'table', 'netdev', 'loss').matchAll(
      /counter packets (\d+)/g,
    );
    return Array.from(counters, ([, packets]) => Number(packets)).reduce((sum, each) => sum + each, 0);
  }

  /** Takes node-0 away from the client, or gives it back. */
  setNode0(up: boolean): void {
    ip(this.lan, [`link set node-0 ${up ? 'up' : 'down'}`]);
    this.routeOver(up ? NODES : [1, 2]);
  }

  async close(): Promise<void> {
    await this.stop();
    for (const close of this.#closing.reverse()) await close();
    rmSync(this.#manifests, { recursive: true });
  }

  #makeHosts(): void {
    const { lan } = this;
    const hosts = [
      { namespace: this.client, name: 'client', addresses: CLIENT },
      ...NODES.map((node) => ({
        ...{ namespace: this.node(node), name: `node-${node}` },
        addresses: { 4: nodeAddress(node, 4), 6: nodeAddress(node, 6) },
      })),
    ];
    const pods = [SHELL, ...WEB].map(({ name }) => `${this.#prefix}-${name}`);
    const namespaces = [lan, ...hosts.map(({ namespace }) => namespace), ...pods];
    ip(
      undefined,
      namespaces.map((name) => `netns add ${name}`),
    );
    this.#closing.push(() =>
      ip(
        undefined,
        namespaces.map((name) => `netns delete ${name}`),
      ),
    );
    ip(
      undefined,
      hosts.map(
        ({ name, namespace }) => `link add eth0 netns ${namespace} type veth peer name ${name} netns ${lan}`,
      ),
    );
    ip(lan, [
      'link add lan type bridge',
      'link set lan up',
      ...hosts.map(({ name }) => `link set ${name} master lan up`),
    ]);
    for (const { namespace, addresses } of hosts) {
      const lines = [
        `address add ${addresses[4]}/24 dev eth0`,
        `address add ${addresses[6]}/64 dev eth0 nodad`,
      ];
      ip(namespace, ['link set lo up', 'link set eth0 up', ...lines]);
    }
    run(
      this.client,
      'sh',
      '-c',
      'for f in 4 6; do echo 1 > /proc/sys/net/ipv$f/fib_multipath_hash_policy; done',
    );
    for (const node of NODES) {
      run(
        this.node(node),
        'sh',
        '-c',
        'echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding; echo 1 > /proc/sys/net/ipv4/conf/all/rp_filter',
      );
      const others = NODES.filter((each) => each !== node);
      const gateways = ([4, 6] as const).map(
        (family) =>
          `address add ${podNetwork(node, family)}1/${length(family)} dev cni0${family === 6 ? ' nodad' : ''}`,
      );
      const routes = others.flatMap((other) =>
        ([4, 6] as const).map(
          (family) =>
            `route add ${podNetwork(other, family)}${family === 4 ? '0' : ''}/${length(family)} via ${nodeAddress(other, family)}`,
        ),
      );
      ip(this.node(node), ['link add cni0 type bridge', 'link set cni0 up', ...gateways, ...routes]);
    }
    this.routeOver(NODES);
  }

  #makePod({ name, node, number }: Pod): void {
    const namespace = `${this.#prefix}-${name}`;
    ip(undefined, [`link add eth0 netns ${namespace} type veth peer name ${name} netns ${this.node(node)}`]);
    ip(this.node(node), [`link set ${name} master cni0 up`]);
    const lines = ([4, 6] as const).flatMap((family) => [
      `address add ${podAddress({ node, number }, family)}/${length(family)} dev eth0${family === 6 ? ' nodad' : ''}`,
      `route add default via ${podNetwork(node, family)}1`,
    ]);
    ip(namespace, ['link set lo up', 'link set eth0 up', ...lines]);
  }
}
