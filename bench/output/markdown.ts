// A document in Markdown with the figures of one or more reports. Pure.
import { METHODS, SCENARIOS } from '../scenarios.js';
import type { BenchReport, TargetResult } from '../types.js';
import { benchCommand } from './benchCommand.js';
import { machineFacts, machineLine } from './machine.js';
import { summaryText } from './summary.js';
import {
  estimateNote,
  FIGURE_LEGEND,
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
  /** A link to the explanation of a target; undefined if there is none. */
  readonly explanation: (id: string) => string | undefined;
}

/** The document. */
export function markdownDocument({ reports, targets, chart, explanation }: DocumentParts): string {
  const anchors = anchorsOf(reports);
  return `${[
    '# Benchmarks',
    `Written by \`npm run bench -- --folder docs\`; do not edit it.

kube-netlink-proxy programs the kernel of a Kubernetes node for its Services. This document compares it with other ways to
make the same changes, at several numbers of Services. Each run has a new network namespace, and the runs of all ways alternate,
so that other load of the machine concerns all of them. Times depend on the machine; the ratios in one table hold elsewhere
too. To repeat a measurement, run its command as root on your own node.`,
    reports
      .map((report, i) => `- [${machineLine(report.machine)}](#${anchors[i]}): ${scenarioNames(report)}.`)
      .join('\n'),
    '## Targets',
    'The limits that the project has set for itself.',
    markdownTable(linkedTargets(targets, explanation)),
    '## Ways',
    'The names in the column “by”. Each way makes the same changes in the same order.',
    METHODS.map(({ title, description }) => `- **${title}**: ${description}.`).join('\n'),
    '## Columns',
    'Columns without a value are left out. Times are wall-clock times.',
    FIGURE_LEGEND.map(([title, meaning]) => `- **${title}**: ${meaning}.`).join('\n'),
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
          SCENARIOS.find(({ name }) => name === 'memory')?.description ?? '',
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
  const { scenario, figures } = found;
  const picture = chart(report, found);
  const notes = [summaryText(figures), estimateNote(figures)].filter((note) => note !== undefined);
  return [
    `### ${scenario.title}`,
    `${scenario.description} One operation: ${scenario.operation}.`,
    ...(picture === undefined ? [] : [`![${scenario.title}: time by number of Services](${picture})`]),
    ...notes,
    markdownTable(figureTable(figures, true)),
  ];
}

function linkedTargets(targets: readonly TargetResult[], explanation: DocumentParts['explanation']): Table {
  const { columns, rows } = targetTable(targets);
  const linked = rows.map((row, i) => {
    const { id, met } = targets[i] as TargetResult;
    const link = met === false ? explanation(id) : undefined;
    return link === undefined ? row : [...row.slice(0, -1), `[${row.at(-1)}](${link})`];
  });
  return { columns, rows: linked };
}

function scenarioNames(report: BenchReport): string {
  return scenariosOf(report)
    .map(({ scenario }) => scenario.title)
    .join(', ');
}

/** The anchors that GitHub makes of the headings of the reports: equal headings are numbered from the second one on. */
function anchorsOf(reports: readonly BenchReport[]): string[] {
  const before = new Map<string, number>();
  return reports.map(({ machine }) => {
    const anchor = machineLine(machine)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const number = before.get(anchor) ?? 0;
    before.set(anchor, number + 1);
    return number === 0 ? anchor : `${anchor}-${number}`;
  });
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
