// Operations as a readable diff, in the notation of nft.
import type { Known } from '../../mode.js';
import { TABLE_FAMILY } from './containers.js';
import { type ChainItem, type ElementItem, type Item, verdictText } from './items.js';
import { TABLE } from './names.js';
import type { Operation } from './operations.js';
import type { Rule } from './rules.js';
import { sameRule } from './sameRules.js';

/** Lines of a readable diff for the operation: `+` adds, `-` removes, `~` changes. */
export function describe({ key, do: verb, item }: Operation, known: Known<Item>): string[][] {
  const before = known.get(key);
  const sign = verb === 'delete' ? '-' : before ? '~' : '+';
  switch (item.kind) {
    case 'table':
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

function describeChain(sign: string, key: string, { rules }: ChainItem, before: readonly Rule[]): string[] {
  const lines = (mark: string, some: readonly Rule[], others: readonly Rule[]) =>
    some
      .filter((rule) => !others.some((other) => sameRule(rule, other)))
      .map(({ text, comment }) => `    ${mark} ${text ?? otherRule(comment)}`);
  return [`${sign} ${key}`, ...lines('-', before, rules), ...lines('+', rules, before)];
}

/** A rule that was read, and is not one that we make. */
function otherRule(comment: string | undefined): string {
  return comment === undefined ? 'another rule' : `another rule, comment "${comment}"`;
}

function elementLines(verb: Operation['do'], item: ElementItem, before: Item | undefined): string[] {
  const lines: string[] = [];
  if (verb !== 'add') lines.push(`- ${elementText(before?.kind === 'element' ? before : item)}`);
  if (verb !== 'delete') lines.push(`+ ${elementText(item)}`);
  return lines;
}

/** `element ip kube-proxy service-ips { 10.96.0.1 . tcp . 443 : goto service-…/https }`. */
function elementText({ container, text, verdict, comment }: ElementItem): string {
  const remark = comment === undefined ? '' : ` comment "${comment}"`;
  const set = `${TABLE_FAMILY[container.family]} ${TABLE} ${container.name}`;
  return `element ${set} { ${text}${remark}${verdict === '' ? '' : ` : ${verdictText(verdict)}`} }`;
}
