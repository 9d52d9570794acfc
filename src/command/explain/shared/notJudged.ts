// What may stop packets and is not followed: it is named, as far as the node shows it. Pure.
import type { Cause, EndpointPath, Explanation } from '../explanation.js';
import { CONNECTIONS, reversePathFilters } from './facts.js';
import type { NodeNetwork } from './nodeNetwork.js';

/** The share of the limit from which the table of connections counts as full: entries come and go while it is read. */
const FULL = 0.98;

/** A table of connections without room. */
export function connectionLimit({ facts: { settings } }: NodeNetwork): Cause[] {
  const [count, max] = [CONNECTIONS.count, CONNECTIONS.max].map((name) =>
    Number(settings.get(name) ?? Number.NaN),
  );
  if (count === undefined || max === undefined || !(max > 0 && count >= max * FULL)) return [];
  const text = `the table of connections is full (net.netfilter.nf_conntrack_count = ${count}, nf_conntrack_max = ${max}): the kernel drops packets of new connections`;
  return [{ code: 'ConntrackFull', text }];
}

/** Base chains of other programs, reverse-path filters, and links with a smaller MTU than that of the client. */
export function notJudged(
  node: NodeNetwork,
  client: Explanation['client'],
  endpoints: readonly EndpointPath[],
): string[] {
  const chains = (node.facts.unread ?? []).map((chain) => `not read: ${chain}`);
  if (client.place === 'node') return chains;
  const input = node.topology.route(client.address)?.link;
  return input === undefined
    ? chains
    : [...chains, ...filterOf(node, input), ...smallerLinks(node, input, endpoints)];
}

/** A strict filter: the kernel uses the larger value of all links and of the link (`IN_DEV_RPFILTER`). */
function filterOf({ facts: { family, settings } }: NodeNetwork, input: string): string[] {
  const values = reversePathFilters(['all', input], family).map(
    (path) => [path, Number(settings.get(path) ?? 0)] as const,
  );
  if (Math.max(0, ...values.map(([, value]) => value)) !== 1) return [];
  const [path = ''] = values.find(([, value]) => value === 1) ?? [];
  return [
    `not judged: ${path.replaceAll('/', '.')} = 1: packets of the client are dropped if they arrive on another link than ${input}`,
  ];
}

function smallerLinks(
  { topology, facts: { mtus } }: NodeNetwork,
  input: string,
  endpoints: readonly EndpointPath[],
): string[] {
  const largest = mtus?.get(input);
  if (mtus === undefined || largest === undefined) return [];
  const outputs = new Set(
    endpoints.flatMap(({ endpoint }) => topology.route(addressOf(endpoint))?.link ?? []),
  );
  return [...outputs].flatMap((output) => {
    const mtu = mtus.get(output);
    if (mtu === undefined || mtu >= largest) return [];
    return [
      `not judged: the MTU of link ${output} is ${mtu}, that of ${input} ${largest}: larger packets need ICMP messages to the client`,
    ];
  });
}

/** The address of `address:port`, `[address]:port`. */
function addressOf(endpoint: string): string {
  return endpoint.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
}
