// The clusters of the benchmark: objects as an API server reports them, decoded. The same seed gives the same cluster.
import { decodeObject } from '../src/proxy/objects/decode.js';
import type { ObjectChange } from '../src/proxy/objects/types.js';
import type { RawObject } from './apiServer/store.js';
import { seededRandom } from './statistics.js';
import type { Size } from './types.js';

/** Name of the node on which the proxy runs. */
export const NODE_NAME = 'node-0';
/** Address of the node (TEST-NET-1, RFC 5737). */
export const NODE_ADDRESS = '192.0.2.10';
/** Virtual addresses of the Services that all others depend on: the cluster's DNS and the API. */
export const VITAL_ADDRESSES = ['10.96.0.10', '10.96.0.1'] as const;

/** Number of nodes to which endpoints belong. */
const NODES = 500;
const ZONES = 3;
/** Every tenth Service has a node port. */
const NODE_PORT_EVERY = 10;
/** Number of node ports, from 30000: `--service-node-port-range`. Later Services have none. */
const NODE_PORTS = 2768;
/** The pods' network: 10.128.0.0/9. */
const FIRST_POD = 0x0a80_0000;
/**
 * The network of pods that replace others, 10.255.0.0/16, and the number of Services that have them: as many as a cluster of
 * 100 Services has without a node port. The changes of larger clusters are then the same, byte by byte.
 */
const FIRST_NEW_POD = 0x0aff_0000;
const REPLACED = 90;
/** The Services' network, behind the addresses of the vital Services: 10.97.0.0/16. */
export const FIRST_SERVICE = 0x0a61_0000;

/** The addresses of Services that are added later: 10.111.0.0/16. */
const FIRST_ADDED = 0x0a6f_0000;

/** The addresses of Services with one endpoint, 10.110.0.0/16, and of these endpoints, 10.252.0.0/14. */
const FIRST_PROBED = 0x0a6e_0000;
const FIRST_PROBED_POD = 0x0afc_0000;

/** A change of an object as JSON. */
export interface RawChange {
  readonly type: 'set' | 'delete';
  readonly object: RawObject;
}

/** A cluster, and changes of it. */
export interface Cluster<Change = ObjectChange> {
  readonly size: Size;
  /** All objects as they are now, in the order in which an API server lists them. */
  objects(): readonly Change[];
  /** The node in another zone. No endpoint has hints, so nothing follows. */
  nodeInZone(zone: string): Change;
  /** Replaces an endpoint of one Service, a different one at each call. Later changes contain the earlier ones. */
  replaceEndpoint(): Change;
  /** Replaces an endpoint of each of the first Services, of so many at most. */
  replaceEndpoints(count: number): readonly Change[];
  /** A Service that is not there yet, with its endpoints. */
  addService(): readonly Change[];
  /** The endpoints of every tenth Service terminate. */
  terminate(): readonly Change[];
  /** All Services and EndpointSlices are deleted. */
  deleteAll(): readonly Change[];
}

/** A Service with its endpoints, before it is decoded. */
interface Member {
  readonly namespace: string;
  readonly name: string;
  readonly address: string;
  readonly ports: readonly { readonly name: string; readonly protocol: string; readonly port: number }[];
  readonly nodePort?: number;
  /** ms since 1970. */
  readonly created: number;
  endpoints: readonly string[];
  terminating: boolean;
}

/** Makes a cluster. Besides `size.services` Services it has those of the cluster's DNS and of the API. */
export function makeCluster(size: Size, seed: number): Cluster {
  const raw = makeRawCluster(size, seed);
  return {
    size,
    objects: () => raw.objects().map(decoded),
    nodeInZone: (zone) => decoded(raw.nodeInZone(zone)),
    replaceEndpoint: () => decoded(raw.replaceEndpoint()),
    replaceEndpoints: (count) => raw.replaceEndpoints(count).map(decoded),
    addService: () => raw.addService().map(decoded),
    terminate: () => raw.terminate().map(decoded),
    deleteAll: () => raw.deleteAll().map(decoded),
  };
}

/** The same with objects as an API server sends them. */
export function makeRawCluster(size: Size, seed: number): Cluster<RawChange> {
  const random = seededRandom(seed);
  let pods = 0;
  const newPods = (count: number) => Array.from({ length: count }, () => addressAt(FIRST_POD, pods++));
  const created = [...vitalMembers(newPods), ...otherMembers(size, random, newPods)];
  const members = [...created].sort((one, other) =>
    compareText(`${one.namespace}/${one.name}`, `${other.namespace}/${other.name}`),
  );
  const others = created.filter(({ namespace }) => namespace === 'demo');
  // An endpoint of a Service with a node port is a real server of two virtual services: changes would differ in size.
  const plain = others.filter(({ nodePort }) => nodePort === undefined);
  const replacing = (plain.length > 0 ? plain : others).slice(0, REPLACED);
  let replaced = 0;
  let added = 0;
  const replaceOne = (member: Member) => {
    member.endpoints = [...member.endpoints.slice(1), addressAt(FIRST_NEW_POD, replaced++)];
    return slice(member);
  };
  return {
    size,
    objects: () => [node('zone-0'), ...members.map(service), ...members.map(slice)],
    nodeInZone: node,
    replaceEndpoint() {
      // Far from one another in the list.
      const member = replacing[(replaced * 37) % replacing.length] as Member;
      return replaceOne(member);
    },
    replaceEndpoints: (count) => plain.slice(0, count).map(replaceOne),
    addService() {
      const member = plainMember(size, added++, newPods);
      members.push(member);
      return [service(member), slice(member)];
    },
    terminate() {
      const terminating = others.filter((_, place) => place % 10 === 0);
      for (const member of terminating) member.terminating = true;
      return terminating.map(slice);
    },
    deleteAll: () =>
      [...members.map(slice), ...members.map(service)].map(({ object }) => ({ type: 'delete', object })),
  };
}

function vitalMembers(newPods: (count: number) => string[]): Member[] {
  const [dns, api] = VITAL_ADDRESSES;
  return [
    {
      namespace: 'default',
      name: 'kubernetes',
      address: api,
      ports: [{ name: 'https', protocol: 'TCP', port: 443 }],
      created: 0,
      endpoints: newPods(3),
      terminating: false,
    },
    {
      namespace: 'kube-system',
      name: 'kube-dns',
      address: dns,
      ports: [
        { name: 'dns', protocol: 'UDP', port: 53 },
        { name: 'dns-tcp', protocol: 'TCP', port: 53 },
      ],
      created: 60_000,
      endpoints: newPods(2),
      terminating: false,
    },
  ];
}

function otherMembers(size: Size, random: () => number, newPods: (count: number) => string[]): Member[] {
  return Array.from({ length: size.services }, (_, place) => ({
    namespace: 'demo',
    name: `service-${place}`,
    address: addressAt(FIRST_SERVICE, place),
    ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
    ...(place % NODE_PORT_EVERY === 0 &&
      place < NODE_PORT_EVERY * NODE_PORTS && { nodePort: 30_000 + place / NODE_PORT_EVERY }),
    created: 3_600_000 + Math.floor(random() * 1e9) * 1000,
    endpoints: newPods(size.endpoints),
    terminating: false,
  }));
}

/** A Service without a node port, behind all others. */
function plainMember(size: Size, place: number, newPods: (count: number) => string[]): Member {
  return {
    namespace: 'demo',
    name: `added-${place}`,
    address: addressAt(FIRST_ADDED, place),
    ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
    created: Date.UTC(2025, 0),
    endpoints: newPods(size.endpoints),
    terminating: false,
  };
}

/** A Service with one endpoint. */
export interface ProbedService {
  readonly address: string;
  readonly endpoint: string;
  /** The Service and its EndpointSlice. */
  readonly objects: readonly RawChange[];
}

/**
 * A Service that is in no cluster.
 *
 * @param pod the place of its endpoint among those of all such Services
 */
export function probedService(place: number, pod = place): ProbedService {
  const endpoint = addressAt(FIRST_PROBED_POD, pod);
  const size = { services: 0, endpoints: 1 };
  const address = addressAt(FIRST_PROBED, place);
  const member = { ...plainMember(size, place, () => [endpoint]), name: `probed-${place}`, address };
  return { address, endpoint, objects: [service(member), slice(member)] };
}

function service(member: Member): RawChange {
  return set({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      namespace: member.namespace,
      name: member.name,
      creationTimestamp: new Date(member.created).toISOString(),
    },
    spec: {
      type: member.nodePort === undefined ? 'ClusterIP' : 'NodePort',
      clusterIP: member.address,
      clusterIPs: [member.address],
      ipFamilies: ['IPv4'],
      ports: member.ports.map((port) => ({
        ...port,
        targetPort: port.port,
        ...(member.nodePort !== undefined && { nodePort: member.nodePort }),
      })),
    },
    status: { loadBalancer: {} },
  });
}

function slice(member: Member): RawChange {
  return set({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: member.namespace,
      name: `${member.name}-a1b2c`,
      labels: { 'kubernetes.io/service-name': member.name },
    },
    addressType: 'IPv4',
    ports: member.ports.map((port) => ({ ...port, port: 8080 })),
    endpoints: member.endpoints.map((address, place) => ({
      addresses: [address],
      conditions: {
        ready: !member.terminating,
        serving: !member.terminating,
        terminating: member.terminating,
      },
      // Never this node: the rules for local endpoints are not what is measured.
      nodeName: `node-${1 + (place % (NODES - 1))}`,
      zone: `zone-${place % ZONES}`,
    })),
  });
}

function node(zone: string): RawChange {
  return set({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: NODE_NAME,
      uid: '8d3c1a52-6d0b-4e51-9a2b-0c5f3f6b7a10',
      labels: { 'topology.kubernetes.io/zone': zone },
    },
    spec: { podCIDRs: ['10.128.0.0/24'] },
    status: { addresses: [{ type: 'InternalIP', address: NODE_ADDRESS }] },
  });
}

function set(object: RawObject): RawChange {
  return { type: 'set', object };
}

function decoded({ type, object: raw }: RawChange): ObjectChange {
  const { object, problems } = decodeObject(raw);
  if (!object) throw new Error(`the benchmark's own object is invalid: ${JSON.stringify(problems)}`);
  return { type, object };
}

function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The address at a distance from the first one of a network. */
export function addressAt(first: number, distance: number): string {
  const number = first + distance;
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.');
}
