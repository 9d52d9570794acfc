// The text of iptables-save and iptables-restore.
import type { IptablesOperation, Policy, SavedRules, Table } from './types.js';

/** Reads the output of iptables-save: every chain with its rules. Counters and comments are ignored. */
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
      if (rule) chains.get(`${table}/${rule[1]}`)?.push(rule[2] ?? '');
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
 * chains that are not named stay as they are.
 */
export function restoreInput(operations: readonly IptablesOperation[]): string {
  return (['nat', 'filter', 'mangle'] as const).flatMap((table) => tableInput(table, operations)).join('');
}

function tableInput(table: Table, operations: readonly IptablesOperation[]): string[] {
  const headers: string[] = [];
  const rules: string[] = [];
  const last: string[] = [];
  for (const operation of operations) {
    if (('chain' in operation ? operation.chain : operation.jump).table !== table) continue;
    switch (operation.do) {
      case 'setChain':
        headers.push(`:${operation.chain.name} - [0:0]\n`);
        rules.push(...operation.chain.rules.map((rule) => `-A ${operation.chain.name} ${rule}\n`));
        break;
      case 'insertJump':
        last.push(`-I ${operation.jump.from} ${operation.jump.rule}\n`);
        break;
      case 'deleteJump':
        rules.push(`-D ${operation.jump.from} ${operation.jump.rule}\n`);
        break;
      case 'deleteChain':
        headers.push(`:${operation.chain.name} - [0:0]\n`);
        last.push(`-X ${operation.chain.name}\n`);
        break;
    }
  }
  const lines = [...headers, ...rules, ...last];
  return lines.length === 0 ? [] : [`*${table}\n`, ...lines, 'COMMIT\n'];
}
