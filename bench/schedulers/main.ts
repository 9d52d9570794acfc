// The load figures as a program of a checkout. `npm run task -- schedulers` builds and starts it.
import { writeReport } from '../../src/command/cli/output/output.js';
import { type ProgramInvocation, runProgram } from '../cli/program.js';
import { plainTable } from '../cli/text.js';
import { LOAD } from './definition.js';
import { loadFigures, loadOptions } from './figures.js';
import { loadMarkdown, loadTables } from './text.js';

await runProgram(LOAD, run, 'npm run task --');

function run({ options, output }: ProgramInvocation): number {
  const wanted = loadOptions(options);
  const figures = loadFigures(wanted);
  const { variants, ...rest } = wanted;
  const report = { options: { schedulers: variants.map(({ name }) => name), ...rest }, figures };
  writeReport(output, report, ({ columns, style }) =>
    output.format === 'markdown'
      ? loadMarkdown(figures).split('\n')
      : loadTables(figures).flatMap(({ title, table }) => [
          style('heading', title),
          // The columns that identify a figure: the speeds, and the number of nodes.
          ...plainTable(table, { width: columns, keys: 2 }),
          '',
        ]),
  );
  return 0;
}
