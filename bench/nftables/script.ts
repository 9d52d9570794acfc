// Operations of nftables as a script for `nft -f`.

import type { Family } from '../../src/kernel/net/address.js';
import type {
  BaseChain,
  ElementValue,
  KeyExpression,
  NewElement,
  NewSet,
  NftablesOperation,
} from '../../src/kernel/nftables/types.js';
import { verdictText } from '../../src/proxy/modes/nftables/plan/items.js';
import { ruleText } from '../../src/proxy/modes/nftables/program/ruleText.js';
import { familyOfTable } from '../../src/proxy/modes/nftablesRules/plan/families.js';
import type { ToolCommand } from '../toolCommands.js';
import { elementsOf } from './elements.js';
import type { Pass } from './record.js';

/** The command that makes all changes of a pass in one transaction. */
export function scriptCommand(pass: Pass): ToolCommand {
  return { command: ['nft', '-f', '-'], input: pass.map((operation) => `${lineOf(operation)}\n`).join('') };
}

interface Named {
  readonly family: string | number;
  readonly table: string;
  readonly name: string;
}

function place({ family, table, name }: Named): string {
  return `${family} ${table} ${name}`;
}

/** Throws an Error for an operation that the proxy does not make in the benchmark. */
function lineOf(operation: NftablesOperation): string {
  switch (operation.do) {
    case 'addTable':
      return `add table ${operation.table.family} ${operation.table.name} {${comment(operation.table, ';')} }`;
    case 'addChain': {
      const { chain } = operation;
      return `add chain ${place(chain)} {${chain.base ? baseText(chain.base) : ''}${comment(chain, ';')} }`;
    }
    case 'flushChain':
    case 'deleteChain':
      return `${operation.do === 'flushChain' ? 'flush' : 'delete'} chain ${place(operation.chain)}`;
    case 'addRule': {
      const { family, table, chain, expressions, comment: remark } = operation.rule;
      const rule = { expressions, ...(remark !== undefined && { comment: remark }) };
      return `add rule ${family} ${table} ${chain} ${ruleText(familyOfTable(family) as Family, rule)}`;
    }
    case 'addSet': {
      const { set } = operation;
      const kind = set.data === undefined ? 'set' : 'map';
      return `add ${kind} ${place(set)} { ${typesOf(set)} ;${comment(set, ';')} }`;
    }
    case 'addElements':
    case 'deleteElements': {
      const verb = operation.do === 'addElements' ? 'add' : 'delete';
      return `${verb} element ${place(operation.set)} { ${elementsOf(operation).map(elementText).join(', ')} }`;
    }
    default:
      throw new Error(`the benchmark has no text for ${operation.do}`);
  }
}

function comment({ comment: text }: { readonly comment?: string }, end = ''): string {
  return text === undefined ? '' : ` comment "${text}"${end}`;
}

function baseText({ type, hook, priority }: BaseChain): string {
  return ` type ${type} hook ${hook} priority ${priority} ;`;
}

/** nft knows a key with an integer by its expressions only. */
function typesOf({ key, data, keyExpressions, dataExpressions }: NewSet): string {
  const types = keyExpressions ? [keyExpressions, dataExpressions ?? data] : [key, data];
  const texts = types.flatMap((each) => (each === undefined ? [] : joined(each)));
  return `${keyExpressions ? 'typeof' : 'type'} ${texts.join(' : ')}`;
}

function joined(parts: ElementValue | readonly KeyExpression[]): string {
  return Array.isArray(parts) ? parts.join(' . ') : String(parts);
}

function elementText({ key, data, comment: text }: NewElement): string {
  const end = data === undefined ? '' : ` : ${dataText(data)}`;
  return `${joined(key)}${comment({ ...(text !== undefined && { comment: text }) })}${end}`;
}

function dataText(data: NonNullable<NewElement['data']>): string {
  if (typeof data !== 'object' || !('verdict' in data)) return joined(data);
  return verdictText('chain' in data ? data.chain : data.verdict);
}
