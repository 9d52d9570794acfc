// The names of the chains and sets of Service ports and endpoints, as kube-proxy makes them: a hash, and the text that it is of.
import type { Protocol } from '../../../../kernel/net/protocol.js';
import { writeHash } from '../../shared/plan/hashedText.js';

/** The name of the mode's table in each family. */
export const TABLE = 'kube-proxy';

/** The name of the flow table in each table, and of the chain that adds flows to it. */
export const FLOW_TABLE = 'services';
export const FLOW_CHAIN = 'flow-table-forward';

/** Number of characters of a hash: 40 bits. */
const HASH_LENGTH = 8;

/** Maximum length of a hash with its text. Only the names of endpoints may be longer: they are cut, and end with `...`. */
const LONGEST = 240;

/** What a chain of a Service port is for: the beginning of its name. */
export type ChainRole = 'service' | 'local' | 'external' | 'firewall' | 'endpoint';

/** A name that is being written. */
const name = Buffer.alloc(256);

/**
 * A prefix, the hash of a text, and the text. The name is one text, and not added from parts, which would each stay in memory with a
 * name that is kept.
 *
 * @param text of names of Kubernetes, which are ASCII
 */
export function hashedName(prefix: ChainRole | 'affinity', text: string): string {
  let at = name.write(prefix, 'latin1');
  name[at++] = HYPHEN;
  at = writeHash(name, at, text, HASH_LENGTH);
  name[at++] = HYPHEN;
  const cut = HASH_LENGTH + 1 + text.length > LONGEST;
  at += name.write(cut ? text.slice(0, LONGEST - 3 - HASH_LENGTH - 1) : text, at, 'latin1');
  if (cut) at += name.write('...', at, 'latin1');
  return name.toString('latin1', 0, at);
}

const HYPHEN = 0x2d;

/** The text in the names of a Service port's chains: `default/web/tcp/http`; `default/web/tcp/` for a port without a name. */
export function portText(service: string, protocol: Protocol, portName: string): string {
  return `${service}/${protocol}/${portName}`;
}

/**
 * The text in the names of the chain and the set of an endpoint.
 *
 * @param port see {@link portText}
 * @param address canonical
 */
export function endpointText(port: string, address: string, number: number): string {
  return `${port}__${address.replaceAll(':', '.')}/${number}`;
}

/** The name of a Service port in comments: `default/web:http`, or `default/web` for a port without a name. */
export function servicePortName(service: string, portName: string): string {
  return portName === '' ? service : `${service}:${portName}`;
}

/** Whether a chain belongs to a Service port or to an endpoint. No other chain of kube-proxy has a `/` in its name. */
export function isOfService(chain: string): boolean {
  return chain.includes('/');
}

/** Whether a set has the clients of an endpoint (session affinity). */
export function isAffinitySet(set: string): boolean {
  return set.startsWith('affinity-');
}
