// How much of the tests runs. Where the rows of a long table test one rule, `npm test` runs a sample of them, and `npm run test:all` all.
import { randomFrom } from './random.js';

/** Whether all rows run. */
export const WHOLE = process.env['KNP_TEST_EXTENT'] === 'whole';

/** Selects the rows; `npm test -- --seed NUMBER` selects others. */
const SEED = Number(process.env['KNP_TEST_SEED'] ?? 1);

/** The rows of a long table that run, in their order: all, or `count` of them. */
export function sample<Row>(rows: readonly Row[], count: number): readonly Row[] {
  if (WHOLE || rows.length <= count) return rows;
  const random = randomFrom(SEED);
  const drawn = rows.map((row, index) => ({ row, index, order: random() }));
  const first = drawn.sort((one, other) => one.order - other.order).slice(0, count);
  return first.sort((one, other) => one.index - other.index).map(({ row }) => row);
}
