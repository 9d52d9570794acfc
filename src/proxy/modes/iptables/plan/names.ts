// The names of the chains of Service ports and endpoints: hashes, as in kube-proxy.
import type { Protocol } from '../../../../kernel/net/protocol.js';
import { writeHash } from '../../shared/plan/hashedText.js';

/** Number of characters of a hash: 80 bits. */
const LENGTH = 16;

/** A name that is being written. */
const name = Buffer.alloc(32);

/**
 * A prefix and the first 16 characters of the SHA-256 of a text, in base32. The name is one text, and not added from parts, which
 * would each stay in memory with a name that is kept.
 */
export function hashedName(prefix: string, text: string): string {
  const end = writeHash(name, name.write(prefix, 'latin1'), text, LENGTH);
  return name.toString('latin1', 0, end);
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
  const hash = hashedName('', portName + protocol);
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
  return hashedName('KUBE-SEP-', portName + protocol + endpoint);
}

/** KUBE-XLB- is from versions before 1.24, whose chains nothing else removes. */
const PER_SERVICE = /^KUBE-(?:SVC|SVL|EXT|FW|SEP|XLB)-[A-Z2-7]{16}$/;

/** Whether the chain belongs to a Service port or to an endpoint. Such chains are in table nat. */
export function isPerService(table: string, name: string): boolean {
  return table === 'nat' && PER_SERVICE.test(name);
}
