// The words of `nodePortAddresses` that stand for networks, and the loopback networks among its values.
import { type Family, isLoopback } from '../../kernel/net/address.js';
import { formatNetwork, parseNetwork } from '../../kernel/net/network.js';

/** The words that kube-proxy 1.37 takes beside networks; 1.36 takes only `primary`, alone. */
export const NODE_PORT_KEYWORDS = ['primary', 'localhost', 'all'] as const;

/** A word that stands for networks. */
type NodePortKeyword = (typeof NODE_PORT_KEYWORDS)[number];

const NETWORKS: Readonly<Record<Exclude<NodePortKeyword, 'primary'>, readonly string[]>> = {
  localhost: ['127.0.0.0/8', '::1/128'],
  all: ['0.0.0.0/0', '::/0'],
};

/** Whether a value is a word that stands for networks. */
export function isNodePortKeyword(value: string): value is NodePortKeyword {
  return NODE_PORT_KEYWORDS.some((keyword) => keyword === value);
}

/**
 * The values with the networks that `localhost` and `all` stand for.
 *
 * @param primary what `primary` stands for: the networks of the node IPs, or the word itself while they are not known
 */
export function expandNodePortAddresses(
  values: readonly string[],
  primary: readonly string[] = ['primary'],
): string[] {
  return values.flatMap((value) => {
    if (!isNodePortKeyword(value)) return value;
    return value === 'primary' ? primary : NETWORKS[value];
  });
}

/**
 * The families of which the values name a loopback network: `localhost`, or a network with a loopback address. `all`, a network of length 0
 * and `primary` name none.
 */
export function explicitLoopback(values: readonly string[]): ReadonlySet<Family> {
  const families = new Set<Family>();
  for (const value of expandNodePortAddresses(values)) {
    const network = parseNetwork(value);
    const address = network && formatNetwork(network).split('/')[0];
    if (network && address !== undefined && isLoopback(address)) families.add(network.family);
  }
  return families;
}
