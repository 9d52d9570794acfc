// The text of iptables-save and iptables-restore.
import type { IptablesOperation, Policy, SavedRules, Table } from './types.js';

/**
 * Reads the output of iptables-save: every chain with its rules. Counters and comments are ignored, and so is a second
 * space before the name of an nfacct counter, which some versions print.
 */
export function parseSaved(text: string): SavedRules {
  const chains = new Map<string, string[]>();
  let table = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('*')) {
      table = line.slice(1).trim();
    } else if (line.startsWith(':')) {
      chains.set(`${table}/${line.slice(1).split(' ', 1)[0]}`, []);
    } else {
      const rule = /^(?:\[\d+:\d+\] )?-A (\S+) (.*?)\s*$/.exec(line);
      if (rule)
        chains.get(`${table}/${rule[1]}`)?.push((rule[2] ?? '').replace('--nfacct-name  ', '--nfacct-name '));
    }
  }
  return chains;
}

/** Reads the policies of the built-in chains from the output of iptables-save: `filter/INPUT` → `DROP`. */
export function parsePolicies(text: string): ReadonlyMap<string, Policy> {
  const policies = new Map<string, Policy>();
  let table = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('*')) table = line.slice(1).trim();
    const header = /^:(\S+) (ACCEPT|DROP)\b/.exec(line);
    if (header) policies.set(`${table}/${header[1]}`, header[2] as Policy);
  }
  return policies;
}

/**
 * The input of `iptables-restore --noflush` that makes the changes. Naming a chain in a `:` line creates or empties it;
 * chains that are not named stay as they are. In each table, rules are added before others are deleted, and chains are
 * deleted when no rule jumps to them any more.
 */
export function restoreInput(operations: readonly IptablesOperation[]): string {
  return (['nat', 'filter', 'mangle'] as const).flatMap((table) => tableInput(table, operations)).join('');
}

/** The table of an operation. */
export function tableOf(operation: IptablesOperation): Table {
  return 'chain' in operation ? operation.chain.table : operation.rule.table;
}

function tableInput(table: Table, operations: readonly IptablesOperation[]): string[] {
  const headers: string[] = [];
  const appended: string[] = [];
  const inserted: string[] = [];
  const deleted: string[] = [];
  const chains: string[] = [];
  for (const operation of operations) {
    if (tableOf(operation) !== table) continue;
    switch (operation.do) {
      case 'setChain': {
        const { name, rules } = operation.chain;
        headers.push(`:${name} - [0:0]\n`);
        for (const rule of rules) appended.push(`-A ${name} ${rule}\n`);
        break;
      }
      case 'appendRule':
        appended.push(`-A ${operation.rule.chain} ${operation.rule.text}\n`);
        break;
      case 'insertRule':
        inserted.push(`-I ${operation.rule.chain} ${operation.rule.text}\n`);
        break;
      case 'deleteRule':
        deleted.push(`-D ${operation.rule.chain} ${operation.rule.text}\n`);
        break;
      case 'deleteChain':
        headers.push(`:${operation.chain.name} - [0:0]\n`);
        chains.push(`-X ${operation.chain.name}\n`);
        break;
    }
  }
  const lines = [...headers, ...appended, ...inserted, ...deleted, ...chains];
  return lines.length === 0 ? [] : [`*${table}\n`, ...lines, 'COMMIT\n'];
}
