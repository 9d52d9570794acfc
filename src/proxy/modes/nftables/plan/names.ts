// The names of the chains and sets of Service ports and endpoints, as kube-proxy makes them: a hash, and the text that it is of.
import type { Protocol } from '../../../../kernel/net/protocol.js';
import { shortHash, writeHash } from '../../shared/plan/hashedText.js';

/** The name of the mode's table in each family. */
export const TABLE = 'kube-proxy';

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

/** Number of characters in the names of sets of rules, 60 bits. The kernel's limit is 15. */
const SET_HASH = 10;

/** Number of them that the kernel gets, 42 bits: with the zero at its end, such a name takes 8 bytes of memory, and a longer one 16. */
const SHORT_HASH = 7;

/**
 * The name of the set that belongs to a rule of a chain; no chain has two such rules. The kernel would look for a free name among
 * all sets of the table, and reads all their names for each new one, byte by byte: base64 is shorter than base32, and the kernel gets the
 * {@link shortSetName} unless another set has it.
 *
 * @param content text of its elements. The kernel lets nobody change the elements of such a set (nf_tables_newsetelem() and
 *   nf_tables_delsetelem() refuse it with EBUSY): sets with equal names are equal, and need not be read
 */
export function ownSetName(chain: string, content: string): string {
  return shortHash(`${chain} ${content}`, SET_HASH);
}

/** The beginning of a name of {@link ownSetName}, which names the set in the kernel. */
export function shortSetName(name: string): string {
  return name.slice(0, SHORT_HASH);
}

/** nft names such sets `__set0` and `__map0`; base64 has no underscore. */
const OWN_SET = new RegExp(`^[A-Za-z0-9+/]{${SHORT_HASH}}([A-Za-z0-9+/]{${SET_HASH - SHORT_HASH}})?$`);

/** Whether a set of a rule has a name that says what it contains. */
export function isOwnSetName(set: string): boolean {
  return OWN_SET.test(set);
}

/** Whether names of sets of rules say that they contain the same: equal names, or a short one and a whole one. */
export function sameSetName(a: string | undefined, b: string | undefined): boolean {
  if (a === b || a === undefined || b === undefined) return a === b;
  return shortSetName(a) === shortSetName(b) && a.length !== b.length && isOwnSetName(a) && isOwnSetName(b);
}
