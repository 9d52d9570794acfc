// The names of the chains of Service ports and endpoints: hashes, as in kube-proxy.
import { hash } from 'node:crypto';
import type { Protocol } from '../../net/protocol.js';

/** RFC 4648, section 6. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The first 16 characters of the SHA-256 of a text, in base32: 80 bits. */
export function hashOf(text: string): string {
  const hex = hash('sha256', text, 'hex');
  let name = '';
  for (let at = 0; at < 20; at += 5) {
    const bits = Number.parseInt(hex.slice(at, at + 5), 16);
    for (let shift = 15; shift >= 0; shift -= 5) name += BASE32[(bits >> shift) & 31];
  }
  return name;
}

/** The name of a Service port in comments and hashes: `default/web:http`, or `default/web` for a port without a name. */
export function servicePortName(service: string, portName: string): string {
  return portName === '' ? service : `${service}:${portName}`;
}

/** The chains of a Service port. */
export interface PortChains {
  /** Endpoints for policy Cluster. */
  readonly cluster: string;
  /** Endpoints for policy Local. */
  readonly local: string;
  /** Traffic to external addresses and node ports. */
  readonly external: string;
  /** Source ranges of load-balancer IPs. */
  readonly firewall: string;
}

/** The names of a Service port's chains. */
export function portChains(portName: string, protocol: Protocol): PortChains {
  const hash = hashOf(portName + protocol);
  return {
    cluster: `KUBE-SVC-${hash}`,
    local: `KUBE-SVL-${hash}`,
    external: `KUBE-EXT-${hash}`,
    firewall: `KUBE-FW-${hash}`,
  };
}

/**
 * The name of the chain of an endpoint of a Service port.
 *
 * @param endpoint `10.0.0.1:80`, `[fd00::1]:80`
 */
export function endpointChain(portName: string, protocol: Protocol, endpoint: string): string {
  return `KUBE-SEP-${hashOf(portName + protocol + endpoint)}`;
}

/** KUBE-XLB- is from versions before 1.24, whose chains nothing else removes. */
const PER_SERVICE = /^KUBE-(?:SVC|SVL|EXT|FW|SEP|XLB)-[A-Z2-7]{16}$/;

/** Whether the chain belongs to a Service port or to an endpoint. Such chains are in table nat. */
export function isPerService(table: string, name: string): boolean {
  return table === 'nat' && PER_SERVICE.test(name);
}
