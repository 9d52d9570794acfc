// Operations as a readable diff, in the notation of nft.
import type { Known } from '../../mode.js';
import type { Rule } from '../../nftablesRules/plan/expressions.js';
import { TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import { ruleLines } from '../../nftablesRules/program/ruleText.js';
import { slotMapOf } from '../plan/containers.js';
import { type ChainItem, type ElementItem, type Item, verdictText } from '../plan/items.js';
import { TABLE } from '../plan/names.js';
import type { Operation } from '../plan/operations.js';
import { BalancedElement, LooseElement, slotChanges } from '../plan/slots.js';
import { printedTable } from './ruleText.js';

/** Lines of a readable diff for the operation: `+` adds, `-` removes, `~` changes. */
export function describe({ key, do: verb, item }: Operation, known: Known<Item>): string[][] {
  const before = known.get(key);
  const sign = verb === 'delete' ? '-' : before ? '~' : '+';
  switch (item.kind) {
    case 'table':
    case 'counter':
    case 'flowtable':
    case 'device':
      return [[`${sign} ${key}`]];
    case 'set':
      return [[`${sign} ${key}${item.timeout === undefined ? '' : ` timeout ${item.timeout}s`}`]];
    case 'chain': {
      const rules = before?.kind === 'chain' ? before.rules : [];
      return [verb === 'delete' ? [`- ${key}`] : describeChain(sign, key, item, rules)];
    }
    case 'element':
      return [elementLines(verb, item, before)];
  }
}

function describeChain(
  sign: string,
  key: string,
  { family, rules }: ChainItem,
  before: readonly Rule[],
): string[] {
  return [`${sign} ${key}`, ...ruleLines(printedTable(family), before, rules)];
}

/** The element, if it changes, and the slots that do. */
function elementLines(verb: Operation['do'], item: ElementItem, before: Item | undefined): string[] {
  const known = before?.kind === 'element' ? before : undefined;
  const lines = slotLines(known ?? item, known, verb === 'delete' ? undefined : item);
  const from = known && elementText(known);
  const to = elementText(item);
  if (verb === 'replace' && from === to) return lines;
  if (verb !== 'add' && !(known instanceof LooseElement && known.isAbsent)) lines.push(`- ${from ?? to}`);
  if (verb !== 'delete') lines.push(`+ ${to}`);
  return lines;
}

/** `element ip kube-proxy endpoints-0 { 10.96.0.1 . tcp . 80 . 0 : 10.244.0.1 . 8080 }` for each slot that changes. */
function slotLines(
  { container, text }: ElementItem,
  from: ElementItem | undefined,
  to: ElementItem | undefined,
): string[] {
  const map = slotMapOf(container, text);
  if (!map) return [];
  const line = (sign: string, slot: number, endpoint: string) =>
    `${sign} element ${TABLE_FAMILY[map.family]} ${TABLE} ${map.name} { ${text} . ${slot}${endpoint} }`;
  return slotChanges(from, to).flatMap(({ slot, empties, place }) => [
    ...(empties ? [line('-', slot, '')] : []),
    ...(place === undefined ? [] : [line('+', slot, endpointAt(to, place))]),
  ]);
}

/** ` : 10.244.0.1 . 8080` */
function endpointAt(item: ElementItem | undefined, place: number): string {
  if (!(item instanceof BalancedElement)) return '';
  return ` : ${item.endpoints.addressAt(place)} . ${item.endpoints.portAt(place)}`;
}

/** `element ip kube-proxy service-ips { 10.96.0.1 . tcp . 443 : goto service-…/https }`. */
function elementText({ container, text, verdict, comment }: ElementItem): string {
  const remark = comment === undefined ? '' : ` comment "${comment}"`;
  const set = `${TABLE_FAMILY[container.family]} ${TABLE} ${container.name}`;
  return `element ${set} { ${text}${remark}${verdict === '' ? '' : ` : ${verdictText(verdict)}`} }`;
}
