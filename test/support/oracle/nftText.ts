// The items of nftables mode as nft prints them.
import type { ValueTypes } from '../../../src/kernel/nftables/types.js';
import { containerNamed } from '../../../src/proxy/modes/nftables/plan/containers.js';
import { TABLE_COMMENT } from '../../../src/proxy/modes/nftables/plan/fixedChains.js';
import {
  type ChainItem,
  type ElementItem,
  type Item,
  type SetItem,
  verdictText,
} from '../../../src/proxy/modes/nftables/plan/items.js';
import { ruleText } from '../../../src/proxy/modes/nftables/program/ruleText.js';
import { ADDRESS_TYPE, TABLE_FAMILY } from '../../../src/proxy/modes/nftablesRules/plan/families.js';

/** The text of `nft list ruleset` for items. The kernel gives sets that rules fill a size. */
export function nftText(items: Iterable<Item>): string {
  const all = [...items];
  return all
    .filter(({ kind }) => kind === 'table')
    .map(({ family }) => {
      const ofTable = all.filter((item) => item.family === family);
      const elements = ofTable.filter((item) => item.kind === 'element');
      const objects = ofTable.flatMap((item) => {
        if (item.kind === 'set') return setText(item, elements);
        return item.kind === 'chain' ? chainText(item) : [];
      });
      return `table ${TABLE_FAMILY[family]} kube-proxy {\ncomment "${TABLE_COMMENT}"\n${objects.join('\n')}\n}\n`;
    })
    .join('');
}

function typeText(types: ValueTypes | 'verdict'): string {
  return Array.isArray(types) ? types.join(' . ') : String(types);
}

function setText({ family, name, timeout }: SetItem, elements: readonly ElementItem[]): string[] {
  const container = containerNamed(family, name);
  if (!container) {
    const properties = ['size 65535', 'flags dynamic,timeout', `timeout ${timeout}s`];
    return [`set ${name} {`, `type ${ADDRESS_TYPE[family]}`, ...properties, '}'];
  }
  const { key, data, comment } = container;
  const type = `type ${typeText(key)}${data === undefined ? '' : ` : ${typeText(data)}`}`;
  const own = elements.filter((element) => element.container === container).map(elementText);
  return [
    `${data === undefined ? 'set' : 'map'} ${name} {`,
    type,
    `comment "${comment}"`,
    ...(own.length > 0 ? [`elements = { ${own.join(', ')} }`] : []),
    '}',
  ];
}

function elementText({ text, verdict, comment }: ElementItem): string {
  const remark = comment === undefined ? '' : ` comment "${comment}"`;
  return `${text}${remark}${verdict === '' ? '' : ` : ${verdictText(verdict)}`}`;
}

function chainText({ family, name, base, comment, rules }: ChainItem): string[] {
  return [
    `chain ${name} {`,
    ...(base ? [`type ${base.type} hook ${base.hook} priority ${base.priority}; policy accept;`] : []),
    ...(comment === undefined ? [] : [`comment "${comment}"`]),
    ...rules.map((rule) => ruleText(family, rule)),
    '}',
  ];
}
