// The endpoints of a recording, and the requests to each of its frontends, as the objects have them. Pure.
import { parseAllDocuments } from 'yaml';
import type { Socket } from '../../laboratory/labHost.js';

/** Places from which requests come: a pod of the node, one of another node, the node, a host outside, and an endpoint itself. */
export const CLIENTS = ['pod here', 'pod elsewhere', 'node', 'outside', 'own endpoint'] as const;
export type Client = (typeof CLIENTS)[number];

/** An endpoint that answers. */
export interface Endpoint extends Socket {
  /** It is on the node of the proxy. */
  readonly here: boolean;
}

/** A frontend, or another port of a virtual IP. */
export interface Frontend extends Socket {
  /** The first endpoint on the node: the client `own endpoint`. */
  readonly own: string | undefined;
}

/** Networks of the pods of the node. Endpoints with an address of the node are no clients. */
const PODS_HERE = ['10.244.1.', 'fd00:10:244:1:'];
/** Addresses at which node ports are dialled. */
const NODE_PORTS = ['192.168.50.10', 'fd00:192:168:50::10'];
/** A port that no Service has. */
const CLOSED = 22;

/** The fields of Services and slices that are read. */
interface Recorded {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Record<string, string>;
  };
  readonly addressType?: string;
  readonly ports?: readonly RecordedPort[] | null;
  readonly endpoints?:
    | readonly { readonly addresses: readonly string[]; readonly nodeName?: string }[]
    | null;
  readonly spec?: {
    readonly clusterIPs?: readonly string[];
    readonly externalIPs?: readonly string[];
    readonly ports?: readonly RecordedPort[];
  };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

interface RecordedPort {
  readonly port: number;
  readonly nodePort?: number;
  readonly protocol?: string;
}

function read(text: string): Recorded[] {
  return parseAllDocuments(text).map((document) => document.toJSON() as Recorded);
}

const isIpv6 = (address: string) => address.includes(':');

/** No requests are sent over SCTP, of which Node.js has no sockets. */
function protocolOf({ protocol = 'TCP' }: RecordedPort): Socket['protocol'] | undefined {
  return protocol === 'SCTP' ? undefined : protocol === 'UDP' ? 'udp' : 'tcp';
}

/** The endpoints of all slices, each once. */
export function endpointsOf(text: string): Endpoint[] {
  const found = new Map<string, Endpoint>();
  for (const { kind, addressType, ports, endpoints } of read(text)) {
    if (kind !== 'EndpointSlice' || addressType === 'FQDN') continue;
    for (const port of ports ?? [])
      for (const { addresses, nodeName } of endpoints ?? [])
        for (const address of addresses) {
          const protocol = protocolOf(port);
          if (!protocol) continue;
          const endpoint = { protocol, address, port: port.port, here: nodeName === 'node-a' };
          found.set(`${address} ${port.port} ${protocol}`, endpoint);
        }
  }
  return [...found.values()];
}

/** The frontends of all Services, and a closed port of each virtual IP. */
export function frontendsOf(text: string): Frontend[] {
  const objects = read(text);
  const found = new Map<string, Frontend>();
  for (const { kind, metadata, spec = {}, status } of objects) {
    if (kind !== 'Service') continue;
    const { clusterIPs = [], externalIPs = [], ports = [] } = spec;
    const ingress = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []);
    const virtual = [...clusterIPs, ...externalIPs, ...ingress].filter((address) => address !== 'None');
    const add = (address: string, port: number, protocol: Socket['protocol']) => {
      const own = ownEndpoint(objects, metadata, address);
      found.set(`${address} ${port} ${protocol}`, { address, port, protocol, own });
    };
    for (const port of ports) {
      const protocol = protocolOf(port);
      if (!protocol) continue;
      for (const address of virtual) add(address, port.port, protocol);
      for (const address of NODE_PORTS) if (port.nodePort) add(address, port.nodePort, protocol);
    }
    for (const address of virtual) add(address, CLOSED, 'tcp');
  }
  return [...found.values()];
}

/** The first pod of a Service on the node, in the family of an address. */
function ownEndpoint(
  objects: readonly Recorded[],
  { name, namespace }: Recorded['metadata'],
  address: string,
): string | undefined {
  for (const { kind, metadata, endpoints } of objects) {
    if (kind !== 'EndpointSlice' || metadata.namespace !== namespace) continue;
    if (metadata.labels?.['kubernetes.io/service-name'] !== name) continue;
    for (const { addresses, nodeName } of endpoints ?? []) {
      const [first = ''] = addresses;
      const isPod = nodeName === 'node-a' && PODS_HERE.some((network) => first.startsWith(network));
      if (isPod && isIpv6(first) === isIpv6(address)) return first;
    }
  }
  return undefined;
}
