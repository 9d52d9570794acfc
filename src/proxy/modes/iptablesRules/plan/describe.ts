// Operations of iptables as a readable diff.
import type { IptablesOperation } from '../../../../kernel/iptables/types.js';

/**
 * Lines of a readable diff: `+` adds, `-` removes, `~` changes.
 *
 * @param before the rules that the chain has now; undefined if it does not exist
 */
export function describeRules(operation: IptablesOperation, before: readonly string[] | undefined): string[] {
  if ('rule' in operation) {
    const { family, table, chain, text } = operation.rule;
    return [`${operation.do === 'deleteRule' ? '-' : '+'} rule IPv${family} ${table}/${chain} ${text}`];
  }
  if ('rules' in operation) {
    const { family, table, chain, before: deleted, after: inserted } = operation.rules;
    const line = (sign: string) => (text: string) => `${sign} rule IPv${family} ${table}/${chain} ${text}`;
    return [...deleted.map(line('-')), ...inserted.map(line('+'))];
  }
  const { family, table, name } = operation.chain;
  const chain = `IPv${family} ${table}/${name}`;
  if (operation.do === 'deleteChain') return [`- chain ${chain}`];
  const after = operation.chain.rules;
  const had = before ?? [];
  return [
    `${before ? '~' : '+'} chain ${chain}`,
    ...had.filter((rule) => !after.includes(rule)).map((rule) => `    - ${rule}`),
    ...after.filter((rule) => !had.includes(rule)).map((rule) => `    + ${rule}`),
  ];
}

/** Whether two chains have the same rules in the same order. */
export function equalTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}
