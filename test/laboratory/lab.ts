// A small network in namespaces: an outside client, two nodes, pods behind each. close() removes all of it.
//
//   client ──┐                          ┌── web-0
//            ├── lan ── node-a ── cni0 ─┼── web-1
//            │         (the proxy)      └── shell
//            └── lan ── node-b ── cni0 ──── web-2
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { undoAtExit } from './atExit.js';
import {
  CLIENT,
  EXTERNAL_NETWORK,
  NODE_A,
  NODE_B,
  type NodePlace,
  type Place,
  type Pod,
  STRANGER,
} from './places.js';

/** A network that exists until it is closed. */
export interface Lab {
  /** Name of a place's network namespace, for `ip netns exec`. */
  namespace(place: Place): string;
  /** Path of a place's network namespace, for our library. */
  netns(place: Place): string;
  /** Connects the network namespace of this process to that of client and nodes, with an IPv4 address. */
  join(address: string): void;
  /** Removes every namespace; processes in them must have ended. */
  close(): void;
}

/** The bridge of client and nodes. */
const LAN: Place = { name: 'lan', ipv4: '', ipv6: '' };

let count = 0;

/** Creates the network with the client, the nodes, more nodes and the given pods. Needs root. */
export function openLab(pods: readonly Pod[], more: readonly NodePlace[] = []): Lab {
  count += 1;
  const prefix = `knp-${process.pid}-${count}`;
  const nodes = [NODE_A, NODE_B, ...more];
  const hosts = [CLIENT, ...nodes];
  const places = [LAN, ...hosts, ...pods];
  const namespace = ({ name }: Place) => `${prefix}-${name}`;
  const removals = places.map((place) => `netns delete ${namespace(place)}`);
  const close = undoAtExit(() => ip(['-force'], removals));
  const set = (place: Place, commands: readonly string[]) => ip(['-n', namespace(place)], commands);
  const setNode = (node: NodePlace) => {
    const own = pods.filter((pod) => pod.node === node);
    const others = nodes.filter((other) => other !== node);
    set(node, nodeCommands(node, others, own));
  };
  try {
    // Pods on one bridge reach each other through the node's IPVS only if bridged frames pass netfilter hooks.
    if (!existsSync('/proc/sys/net/bridge')) {
      execFileSync('modprobe', ['br_netfilter'], { stdio: ['ignore', 'ignore', 'inherit'] });
    }
    const namespaces = places.map((place) => `netns add ${namespace(place)}`);
    const lan = hosts.map((host) => cable(namespace(host), 'eth0', namespace(LAN), host.name));
    const inner = pods.map((pod) => cable(namespace(pod), 'eth0', namespace(pod.node), pod.name));
    ip([], [...namespaces, ...lan, ...inner]);
    set(LAN, ['link set lo up', ...bridge('lan', hosts)]);
    set(CLIENT, clientCommands());
    for (const node of nodes) {
      setNode(node);
      // The proxy itself enables IPv4 forwarding on its node.
      forward(namespace(node), node === NODE_A ? ['ipv6'] : ['ipv4', 'ipv6']);
    }
    for (const pod of pods) set(pod, podCommands(pod));
  } catch (error) {
    removeWhatIsThere(close);
    throw error;
  }
  // The pair goes with the namespace of its other end.
  const join = (address: string) => {
    ip([], [`link add ${prefix} type veth peer name self netns ${namespace(LAN)}`]);
    set(LAN, ['link set self master lan', 'link set self up']);
    ip([], [`address add ${address}/24 dev ${prefix}`, `link set ${prefix} up`]);
  };
  return { namespace, netns: (place) => `/run/netns/${namespace(place)}`, join, close };
}

function cable(fromNamespace: string, from: string, toNamespace: string, to: string): string {
  return `link add ${from} netns ${fromNamespace} type veth peer name ${to} netns ${toNamespace}`;
}

/** A bridge, and its ends of the veth pairs. */
function bridge(name: string, members: readonly Place[]): string[] {
  return [
    `link add ${name} type bridge mcast_snooping 0`,
    `link set ${name} up`,
    ...members.flatMap((member) => [
      `link set ${member.name} master ${name}`,
      // If IPVS selects the client pod itself, the packet returns over the bridge port on which it arrived.
      `link set ${member.name} type bridge_slave hairpin on`,
      `link set ${member.name} up`,
    ]),
  ];
}

/** `nodad`: an IPv6 address is usable at once, without 2 s of duplicate address detection. */
function host({ ipv4, ipv6 }: Omit<Place, 'name'>, device: string): string[] {
  return [
    `link set ${device} up`,
    `address add ${ipv4}/24 dev ${device}`,
    `address add ${ipv6}/64 dev ${device} nodad`,
  ];
}

function clientCommands(): string[] {
  return [
    'link set lo up',
    ...host(CLIENT, 'eth0'),
    `address add ${STRANGER}/32 dev lo`,
    `route add ${EXTERNAL_NETWORK} via ${NODE_A.ipv4}`,
  ];
}

function nodeCommands(node: NodePlace, others: readonly NodePlace[], pods: readonly Pod[]): string[] {
  return [
    'link set lo up',
    ...host(node, 'eth0'),
    ...bridge('cni0', pods),
    ...host(node.podGateway, 'cni0'),
    ...others.flatMap((other) => [
      `route add ${other.podNetworks[0]} via ${other.ipv4}`,
      `route add ${other.podNetworks[1]} via ${other.ipv6}`,
    ]),
    `route add ${STRANGER} via ${CLIENT.ipv4}`,
  ];
}

function podCommands(pod: Pod): string[] {
  const { podGateway: gateway } = pod.node;
  return [
    'link set lo up',
    ...host(pod, 'eth0'),
    `route add 0.0.0.0/0 via ${gateway.ipv4}`,
    `route add ::/0 via ${gateway.ipv6}`,
  ];
}

/** Makes a namespace a router. */
function forward(namespace: string, families: readonly ('ipv4' | 'ipv6')[]): void {
  const commands = families.map((family) => `echo 1 >/proc/sys/net/${family}/conf/all/forwarding`);
  execFileSync('ip', ['netns', 'exec', namespace, 'sh', '-c', commands.join(' && ')]);
}

/** Ignores errors: after a failed creation, namespaces may be missing, and the first error is the one to report. */
function removeWhatIsThere(close: () => void): void {
  try {
    close();
  } catch {}
}

/** Many commands of ip(8) in one process. */
function ip(options: readonly string[], commands: readonly string[]): void {
  const input = `${commands.join('\n')}\n`;
  execFileSync('ip', [...options, '-batch', '-'], { input, stdio: ['pipe', 'ignore', 'inherit'] });
}
