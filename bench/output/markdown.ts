// A page in Markdown with the results of one or more reports: a table for each mode. Pure.
import { lifeOf, METHODS, SCENARIOS } from '../scenarios.js';
import type { BenchReport, ScenarioName, TargetResult } from '../types.js';
import { benchCommand } from './benchCommand.js';
import { machineFacts, machineLine } from './machine.js';
import { summaryRows } from './summary.js';
import { memoryTable, reasonLines, scenariosOf, type Table, targetTable } from './table.js';
import { spanText } from './units.js';

/** A picture of a scenario. */
export interface Picture {
  /** Relative to the page. */
  readonly path: string;
  readonly title: string;
}

/** What a page needs beside the reports. */
export interface DocumentParts {
  readonly reports: readonly BenchReport[];
  readonly targets: readonly TargetResult[];
  readonly pictures: readonly Picture[];
  /** A link to the explanation of a target; undefined if there is none. */
  readonly explanation: (id: string) => string | undefined;
}

/** The tables of the page: the scenarios of each are those for which the function is true. */
const SECTIONS: readonly (readonly [title: string, has: (name: ScenarioName) => boolean])[] = [
  ['ipvs mode', (name) => !isPart(name) && lifeOf(name) === 'ipvs'],
  ['iptables mode', (name) => lifeOf(name) === 'iptables'],
  ['nftables mode', (name) => lifeOf(name) === 'nftables'],
  ['nftables mode, layout scalable', (name) => lifeOf(name) === 'scalable'],
  ['Families of netlink, and the library', isPart],
];

/** Scenarios of one family of netlink, or of the library, and not of a proxy. */
const PARTS: ReadonlySet<ScenarioName> = new Set<ScenarioName>([
  ...(['ipvs', 'ipset', 'addresses', 'conntrack', 'rules', 'rulesAgain', 'oneOperation', 'batch'] as const),
]);

function isPart(name: ScenarioName): boolean {
  return PARTS.has(name);
}

/** The page. */
export function markdownDocument({ reports, targets, pictures, explanation }: DocumentParts): string {
  const memory = reports.flatMap((report) => report.memory);
  return `${[
    '# Benchmarks',
    `Written by \`npm run bench -- --folder docs\`; do not edit it.

Times in which kube-netlink-proxy programs the kernel of a node, with 10 endpoints for each Service, and of other [ways](#ways) to make the same
changes, as multiples of them: 2 is twice the time. Medians of wall-clock time; CPU time has all threads and children; ≈ was extrapolated.
Times depend on the machine; the multiples hold elsewhere too. [bench.md](bench.md) describes the scenarios. All sizes, spreads and columns:
\`npm run bench -- docs/benchmarks/report.json -o wide\`.`,
    ...SECTIONS.flatMap(([title, has]) => section(title, has, reports)),
    ...(memory.length === 0
      ? []
      : [
          '## Memory of the agent',
          SCENARIOS.find(({ name }) => name === 'memory')?.description ?? '',
          markdownTable(memoryTable(memory)),
        ]),
    ...pictures.map(({ title, path }) => `![${title}: time by number of Services](${path})`),
    '## Targets',
    ...targetSection(targets, explanation),
    '## Ways',
    METHODS.map(({ name, title, description }) => `- \`${name}\`, ${title}: ${description}.`).join('\n'),
    '## Machines',
    ...reports.flatMap((_, i) => machineSection(reports, i)),
  ].join('\n\n')}\n`;
}

/** The table of a mode; nothing without figures. */
function section(
  title: string,
  has: (name: ScenarioName) => boolean,
  reports: readonly BenchReport[],
): string[] {
  const rows = SCENARIOS.filter(({ name }) => has(name)).flatMap(({ name, title: ofScenario }) =>
    reports.flatMap((report, i) => {
      const found = scenariosOf(report).find(({ scenario }) => scenario.name === name);
      const shown = ofScenario.replace(/^[^:]*(mode|layout)[^:]*: /, '');
      return summaryRows(found?.figures ?? []).map((cells) => [shown, String(i + 1), ...cells]);
    }),
  );
  if (rows.length === 0) return [];
  const right = (name: string) => ({ title: name, align: 'right' as const });
  const columns = [
    left(''),
    right('machine'),
    right('Services'),
    right('time'),
    right('CPU'),
    left('other ways'),
  ];
  return [`## ${title}`, markdownTable({ columns, rows })];
}

/** How many targets are met, and those that are not. */
function targetSection(
  targets: readonly TargetResult[],
  explanation: DocumentParts['explanation'],
): string[] {
  const missed = targets.filter(({ met }) => met !== true);
  const met = targets.length - missed.length;
  const line = `Limits that the project has set for itself: ${met} of ${targets.length} are met. The others:`;
  return missed.length === 0 ? [line.replace(/ The others:$/, '')] : [line, markdownTable(linked(missed))];

  function linked(results: readonly TargetResult[]): Table {
    const { columns, rows } = targetTable(results);
    return {
      columns,
      rows: rows.map((row, i) => {
        const { id, met: isMet } = results[i] as TargetResult;
        const link = isMet === false ? explanation(id) : undefined;
        return link === undefined ? row : [...row.slice(0, -1), `[${row.at(-1)}](${link})`];
      }),
    };
  }
}

/** The facts of a machine are beside the first of its reports. */
function machineSection(reports: readonly BenchReport[], index: number): string[] {
  const report = reports[index] as BenchReport;
  const { options, started, duration } = report;
  const first = reports.findIndex(({ machine }) => factsText(machine) === factsText(report.machine));
  const facts = first < index ? `machine ${first + 1}` : factsText(report.machine);
  const reasons = reasonLines(report).map((line) => `- not measured: ${line}.`);
  return [
    `**${index + 1}. ${machineLine(report.machine)}**, on ${started.slice(0, 10)} in ${spanText(duration * 1000)} (${facts}):`,
    `\`\`\`sh\n${benchCommand(options)}\n\`\`\``,
    ...(reasons.length === 0 ? [] : [reasons.join('\n')]),
  ];
}

function factsText(machine: BenchReport['machine']): string {
  return machineFacts(machine)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');
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
