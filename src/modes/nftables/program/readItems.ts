// Tables, sets and elements as the kernel lists them → items.
import type { Element, NftSet, Table } from '../../../kernel/nftables/types.js';
import type { Family } from '../../../net/address.js';
import { ADDRESS_TYPE, type Container, containerNamed, keyText } from '../plan/containers.js';
import { REJECT_CHAIN } from '../plan/fixedChains.js';
import { ElementItem, type SetItem } from '../plan/items.js';
import { isAffinitySet, isOfService } from '../plan/names.js';

/** Whether a table must be made anew: ours has no flags, and no program owns it. */
export function isStaleTable({ flags, owner }: Table): boolean {
  return flags.length > 0 || owner !== undefined;
}

/** Whether a set has the name of a set of this mode, but another type. */
export function isStaleSet(family: Family, { name, key, data, flags, anonymous }: NftSet): boolean {
  if (anonymous) return false;
  const container = containerNamed(family, name);
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
  if (containerNamed(family, name)) return { kind: 'set', family, name };
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

/** See {@link ElementItem.verdict}. An element with more than ours have has another one. */
function verdictText({ data, timeout, expressions, attributes }: Element): string {
  const more = timeout !== undefined || expressions?.length || attributes?.length ? ' and more' : '';
  if (typeof data !== 'object' || !('verdict' in data)) return more;
  const chain = 'chain' in data ? data.chain : '';
  const isOurs = data.verdict === 'goto' && (isOfService(chain) || chain === REJECT_CHAIN);
  if (more === '' && (isOurs || data.verdict === 'drop')) return isOurs ? chain : 'drop';
  return `${data.verdict} ${chain}${more}`;
}
