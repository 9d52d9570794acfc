// Reports of benchmarks as lines of text. Pure.

import type { Style } from '../../src/command/cli/output/colours.js';
import { wrapped } from '../../src/command/config/wrap.js';
import { machineFacts, machineLine } from '../output/machine.js';
import {
  estimateNote,
  figureTable,
  memoryTable,
  reasonLines,
  scenariosOf,
  type Table,
  targetTable,
} from '../output/table.js';
import { runsText, spanText } from '../output/units.js';
import type { BenchReport, TargetResult } from '../types.js';
import { type Fit, fittedTable } from './fittedTable.js';

/**
 * The lines of a report: machine, a table for each scenario, memory, and figures that were not measured.
 *
 * @param columns of the longest line, unless one cell or word is longer
 */
export function reportLines(report: BenchReport, wide: boolean, style: Style, columns: number): string[] {
  const { machine, memory, duration, options } = report;
  const titled = (title: string, lines: readonly string[]) => [
    ...wrapped(title, columns, 2).map((line) => style('heading', line)),
    ...lines,
    '',
  ];
  const facts = wide ? machineFacts(machine).map(([name, value]) => `  ${name}: ${value}`) : [];
  return [
    ...titled(
      `${machineLine(machine)}; ${runsText(options.repetitions)}, ${spanText(duration * 1000)}`,
      facts.flatMap((line) => wrapped(line, columns, 4)),
    ),
    ...scenariosOf(report).flatMap(({ scenario, figures }) => {
      const note = estimateNote(figures);
      const table = plainTable(figureTable(figures, wide), { width: columns, keys: FIGURE_KEYS });
      return titled(scenario.title, [...table, ...(note === undefined ? [] : wrapped(note, columns))]);
    }),
    ...(memory.length === 0
      ? []
      : titled('Memory of the agent', plainTable(memoryTable(memory), { width: columns }))),
    ...reasonLines(report)
      .flatMap((line) => wrapped(`not measured: ${line}`, columns, 2))
      .map((line) => style('warning', line)),
  ];
}

/** The columns that identify a figure: the number of Services, and the method. */
const FIGURE_KEYS = 2;

/**
 * The lines of the targets.
 *
 * @param columns of the longest line, unless one cell or word is longer
 */
export function targetLines(targets: readonly TargetResult[], style: Style, columns: number): string[] {
  const table = targetTable(targets);
  const last = table.columns.length - 1;
  const paint = (row: number, column: number, text: string) => {
    if (column !== last || text === '') return text;
    const met = targets[row]?.met;
    return style(met === undefined ? 'faint' : met ? 'good' : 'bad', text);
  };
  return plainTable(table, { width: columns, paint });
}

/** The lines of a table with headings in capital letters, as in kubectl. */
export function plainTable({ columns, rows }: Table, fit: Fit): string[] {
  const headed = columns.map(({ title, align }) => ({ title: title.toUpperCase(), align }));
  return fittedTable(headed, rows, fit);
}
