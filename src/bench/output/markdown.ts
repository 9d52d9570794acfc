// A document in Markdown with the figures of one or more reports. Pure.
import { OPPONENTS } from '../scenarios.js';
import type { BenchReport, TargetResult } from '../types.js';
import { benchCommand } from './benchCommand.js';
import { machineFacts, machineLine } from './machine.js';
import {
  estimateNote,
  figureTable,
  memoryTable,
  reasonLines,
  type ScenarioFigures,
  scenariosOf,
  type Table,
  targetTable,
} from './table.js';
import { spanText } from './units.js';

/** What a document needs beside the reports. */
export interface DocumentParts {
  readonly reports: readonly BenchReport[];
  readonly targets: readonly TargetResult[];
  /** The path of the chart of a scenario, relative to the document; undefined if it has none. */
  readonly chart: (report: BenchReport, scenario: ScenarioFigures) => string | undefined;
}

/** The document. */
export function markdownDocument({ reports, targets, chart }: DocumentParts): string {
  return `${[
    '# Benchmarks',
    `Written by \`kube-netlink-proxy bench\`; do not edit it. Each time is a wall-clock time: the median of all runs, with the least and the
greatest. Figures of another machine are of little use, but the ratios of one table hold elsewhere too: run the command on your
own node.`,
    '## Targets',
    markdownTable(targetTable(targets)),
    '## Ways to do the same',
    'Each way does the same operations, in the same order, in a new network namespace for each run.',
    OPPONENTS.map(({ title, description }) => `- **${title}**: ${description}.`).join('\n'),
    ...reports.flatMap((report) => reportSection(report, chart)),
  ].join('\n\n')}\n`;
}

function reportSection(report: BenchReport, chart: DocumentParts['chart']): string[] {
  const { machine, options, memory, started, duration } = report;
  const facts = { columns: [left('machine'), left('')], rows: machineFacts(machine) };
  const reasons = reasonLines(report).map((line) => `- ${line}.`);
  return [
    `## ${machineLine(machine)}`,
    `Measured at ${started} in ${spanText(duration * 1000)}, by this command:`,
    `\`\`\`sh\n${benchCommand(options)}\n\`\`\``,
    markdownTable(facts),
    ...scenariosOf(report).flatMap((found) => scenarioSection(report, found, chart)),
    ...(memory.length === 0
      ? []
      : [
          '### Memory of the agent',
          'Of the command as an agent, with the objects of an API server in another process.',
          markdownTable(memoryTable(memory)),
        ]),
    ...(reasons.length === 0 ? [] : ['### Not measured here', reasons.join('\n')]),
  ];
}

function scenarioSection(
  report: BenchReport,
  found: ScenarioFigures,
  chart: DocumentParts['chart'],
): string[] {
  const picture = chart(report, found);
  const note = estimateNote(found.figures);
  return [
    `### ${found.scenario.title}`,
    ...(picture === undefined ? [] : [`![${found.scenario.title}: time by number of Services](${picture})`]),
    markdownTable(figureTable(found.figures, true)),
    ...(note === undefined ? [] : [note]),
  ];
}

function left(title: string): Table['columns'][number] {
  return { title, align: 'left' };
}

/** A table in the syntax of GitHub Flavored Markdown (4.10). */
export function markdownTable({ columns, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escapeCell).join(' | ')} |`;
  return [
    line(columns.map(({ title }) => title)),
    `|${columns.map(({ align }) => (align === 'right' ? '---:' : '---')).join('|')}|`,
    ...rows.map(line),
  ].join('\n');
}

function escapeCell(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('|', '\\|')
    .replace(/\s*\n\s*/g, ' ');
}
