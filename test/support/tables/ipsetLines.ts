// The lines of `ipset save` and of `ipset restore` for the table of types and options.
import type { SetDefinition } from '../../../src/kernel/ipset/types.js';
import type { SetRow } from './ipsetRows.js';
import { ROWS } from './ipsetTable.js';

/** A row whose set has a name. */
export interface NamedRow extends SetRow {
  readonly definition: SetDefinition;
}

/** The rows of the table. */
export const NAMED: readonly NamedRow[] = ROWS.map((row, i) => ({
  ...row,
  definition: { name: `s${i}`, ...row.set } as SetDefinition,
}));

/** Lines without the values that the kernel chooses and the tool forgets, and with timeouts as they were; sorted. */
export function comparable(saved: string): string[] {
  return saved
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      // The kernel counts timeouts down. libipset does not print forceadd.
      const text = line
        .replace(/ forceadd/, '')
        .replace(/ timeout (\d+)/, (_, left) => ` timeout ${Math.ceil(Number(left) / 10) * 10}`);
      return / initval 0x00001234/.test(text) ? text : text.replace(/ bucketsize \d+ initval 0x\w+/, '');
    })
    .sort();
}

/** The comparable lines of `ipset save` for the rows. */
export function expected(rows: readonly NamedRow[]): string[] {
  const lines = rows.flatMap(({ definition: { name }, text, entries }) => [
    `create ${name} ${text}`,
    ...entries.flatMap(([, asked, saved = [asked]]) => saved.map((entry) => `add ${name} ${entry}`)),
  ]);
  return comparable(lines.join('\n'));
}

/** The lines of `ipset restore` for the rows. */
export function asked(rows: readonly NamedRow[]): string {
  return rows
    .flatMap(({ definition: { name }, text, asked: other = text, entries }) => [
      `create ${name} ${other}\n`,
      ...entries.map(([, entry]) => `add ${name} ${entry}\n`),
    ])
    .join('');
}
