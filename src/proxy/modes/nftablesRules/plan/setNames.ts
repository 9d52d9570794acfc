// The names of the sets that belong to single rules.
import { shortHash } from '../../shared/plan/hashedText.js';

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
