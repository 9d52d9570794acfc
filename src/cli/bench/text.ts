// Reports of benchmarks as lines of text. Pure.
import { machineFacts, machineLine } from '../../bench/output/machine.js';
import {
  estimateNote,
  figureTable,
  memoryTable,
  reasonLines,
  scenariosOf,
  type Table,
  targetTable,
} from '../../bench/output/table.js';
import { runsText, spanText } from '../../bench/output/units.js';
import type { BenchReport, TargetResult } from '../../bench/types.js';
import type { Style } from '../output/colours.js';
import { tableLines } from '../output/table.js';

/** The lines of a report: machine, a table for each scenario, memory, and figures that were not measured. */
export function reportLines(report: BenchReport, wide: boolean, style: Style): string[] {
  const { machine, memory, duration, options } = report;
  return [
    ...titled(
      `${machineLine(machine)}; ${runsText(options.repetitions)}, ${spanText(duration * 1000)}`,
      style,
      [...(wide ? machineFacts(machine).map(([name, value]) => `  ${name}: ${value}`) : [])],
    ),
    ...scenariosOf(report).flatMap(({ scenario, figures }) => {
      const note = estimateNote(figures);
      const lines = [...plainTable(figureTable(figures, wide)), ...(note === undefined ? [] : [note])];
      return titled(scenario.title, style, lines);
    }),
    ...(memory.length === 0 ? [] : titled('Memory of the agent', style, plainTable(memoryTable(memory)))),
    ...reasonLines(report).map((line) => style('warning', `not measured: ${line}`)),
  ];
}

/** The lines of the targets. */
export function targetLines(targets: readonly TargetResult[], style: Style): string[] {
  const { columns, rows } = targetTable(targets);
  const coloured = rows.map((row, i) => {
    const met = targets[i]?.met;
    const name = met === undefined ? 'faint' : met ? 'good' : 'bad';
    return [...row.slice(0, -1), style(name, row[row.length - 1] ?? '')];
  });
  return plainTable({ columns, rows: coloured });
}

function titled(title: string, style: Style, lines: readonly string[]): string[] {
  return [style('heading', title), ...lines, ''];
}

/** The lines of a table with headings in capital letters, as in kubectl. */
export function plainTable({ columns, rows }: Table): string[] {
  return tableLines(
    columns.map(({ title, align }) => ({ title: title.toUpperCase(), align })),
    rows,
  );
}
