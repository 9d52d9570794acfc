// Tables, sets and elements as the kernel lists them → items.

import type { Family } from '../../../../kernel/net/address.js';
import type { Element, NftSet, Table, Value } from '../../../../kernel/nftables/types.js';
import { ADDRESS_TYPE } from '../../nftablesRules/plan/families.js';
import { type Container, keyText, setNamed } from '../plan/containers.js';
import { isOptionalChain, REJECT_CHAIN } from '../plan/fixedChains.js';
import { ElementItem, type SetItem } from '../plan/items.js';
import { isAffinitySet, isOfService } from '../plan/names.js';
import { isSharedChain } from '../plan/sharedChains.js';
import { FoundSlots } from '../plan/slots.js';

/** Whether a table must be made anew: ours has no flags, and no program owns it. */
export function isStaleTable({ flags, owner }: Table): boolean {
  return flags.length > 0 || owner !== undefined;
}

/** Whether a set has the name of a set of this mode, but another type. */
export function isStaleSet(family: Family, { name, key, data, flags, anonymous }: NftSet): boolean {
  if (anonymous) return false;
  const container = setNamed(family, name);
  if (container)
    return flags.length > 0 || !sameTypes(key, container.key) || !sameTypes(data, container.data);
  if (!isAffinitySet(name)) return false;
  const isDynamic = flags.length === 2 && flags.includes('dynamic') && flags.includes('timeout');
  return !isDynamic || !sameTypes(key, ADDRESS_TYPE[family]) || data !== undefined;
}

function sameTypes(
  a: NftSet['key'] | undefined | 'verdict',
  b: NftSet['key'] | undefined | 'verdict',
): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The item of a set; undefined if it is not ours. */
export function setItem(family: Family, { name, timeout, anonymous }: NftSet): SetItem | undefined {
  if (anonymous) return undefined;
  if (setNamed(family, name)) return { kind: 'set', family, name };
  if (!isAffinitySet(name)) return undefined;
  return { kind: 'set', family, name, ...(timeout !== undefined && { timeout: Number(timeout) / 1000 }) };
}

/** The item of an element of a container. */
export function elementItem(container: Container, element: Element): ElementItem {
  const { key, comment } = element;
  return new ElementItem(
    container,
    keyText(Array.isArray(key) ? key : [key as string]),
    verdictText(element),
    comment,
  );
}

/** Adds an element of a map of slots to those of its frontend, by the key of the frontend's element. */
export function addSlot(slots: Map<string, FoundSlots>, family: Family, element: Element): void {
  if (!Array.isArray(element.key)) return;
  const parts = element.key as readonly Value[];
  const frontend = keyText(parts.slice(0, -1));
  let found = slots.get(frontend);
  if (!found) {
    found = new FoundSlots(family);
    slots.set(frontend, found);
  }
  found.add(
    Number(parts.at(-1)),
    hasMore(element) || element.comment !== undefined ? undefined : element.data,
  );
}

/** An element has something that ours never have. */
function hasMore({ timeout, expressions, attributes }: Element): boolean {
  return timeout !== undefined || Boolean(expressions?.length) || Boolean(attributes?.length);
}

/** See {@link ElementItem.verdict}. An element with more than ours have has another one. */
function verdictText(element: Element): string {
  const { data } = element;
  const more = hasMore(element) ? ' and more' : '';
  if (typeof data !== 'object' || !('verdict' in data)) return more;
  const chain = 'chain' in data ? data.chain : '';
  const isKnown =
    isOfService(chain) || isSharedChain(chain) || chain === REJECT_CHAIN || isOptionalChain(chain);
  const isOurs = data.verdict === 'goto' && isKnown;
  if (more === '' && (isOurs || data.verdict === 'drop')) return isOurs ? chain : 'drop';
  return `${data.verdict} ${chain}${more}`;
}
