// A page in Markdown with the results of one or more reports: a table for each mode. Pure.
import { lifeOf, METHODS, SCENARIOS } from '../scenarios.js';
import type { BenchReport, Figure, MemoryFigure, ScenarioName, TargetResult } from '../types.js';
import { benchCommand } from './benchCommand.js';
import { machineFacts } from './machine.js';
import { summaryTable } from './summary.js';
import { reasonLines, scenariosOf, sizeText, type Table, targetTable } from './table.js';
import { megabytesText, spanText } from './units.js';

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

/** The work of the process alone: only in the tables of `-o wide`. */
const isInMemory = (name: ScenarioName) => name.endsWith('InMemory');

/** A machine with its reports. */
interface MachineReports {
  readonly facts: string;
  readonly reports: readonly BenchReport[];
}

/** The page. */
export function markdownDocument({ reports, targets, pictures, explanation }: DocumentParts): string {
  const memory = reports.flatMap((report) => report.memory);
  const machines = machinesOf(reports);
  return `${[
    '# Benchmarks',
    `Written by \`npm run bench -- --folder docs\`; do not edit it.

Times in which kube-netlink-proxy programs the kernel of a node, with 10 endpoints for each Service: median of wall-clock time, and in parentheses
the CPU time of all threads and children. Other [ways](#ways) to make the same changes are multiples of the time with the most Services, or with the
number in parentheses: 2 is twice the time; ≈ was extrapolated. Times depend on the machine; the multiples hold elsewhere too. [bench.md](bench.md)
describes the scenarios. All sizes, spreads and columns: \`npm run bench -- docs/benchmarks/report.json -o wide\`.`,
    ...SECTIONS.flatMap(([title, has]) => section(title, has, machines)),
    ...(memory.length === 0
      ? []
      : [
          '## Memory of the agent',
          SCENARIOS.find(({ name }) => name === 'memory')?.description ?? '',
          markdownTable(residentTable(memory)),
        ]),
    ...pictures.map(({ title, path }) => `![${title}: time by number of Services](${path})`),
    '## Targets',
    ...targetSection(targets, explanation),
    '## Ways',
    METHODS.filter(({ name }) => name !== 'ours')
      .map(({ name, title, description }) => `- \`${name}\`, ${title}: ${description}.`)
      .join('\n'),
    '## Machines',
    ...machines.flatMap(machineSection),
  ].join('\n\n')}\n`;
}

/** The machines in the order of their first reports. */
function machinesOf(reports: readonly BenchReport[]): MachineReports[] {
  const byFacts = new Map<string, BenchReport[]>();
  for (const report of reports) {
    const facts = machineFacts(report.machine)
      .map(([name, value]) => `${name} ${value}`)
      .join('; ');
    byFacts.set(facts, [...(byFacts.get(facts) ?? []), report]);
  }
  return [...byFacts].map(([facts, found]) => ({ facts, reports: found }));
}

/** The table of a mode; nothing without figures. */
function section(
  title: string,
  has: (name: ScenarioName) => boolean,
  machines: readonly MachineReports[],
): string[] {
  const groups = SCENARIOS.filter(({ name }) => has(name) && !isInMemory(name)).flatMap(
    ({ name, title: ofScenario }) =>
      machines.map(({ reports }, i) => ({
        title: ofScenario.replace(/^[^:]*(mode|layout)[^:]*: /, ''),
        machine: i + 1,
        reports: reports.map((report) => figuresOf(report, name)),
      })),
  );
  const table = summaryTable(groups);
  return table === undefined ? [] : [`## ${title}`, markdownTable(table)];
}

function figuresOf(report: BenchReport, name: ScenarioName): readonly Figure[] {
  return scenariosOf(report).find(({ scenario }) => scenario.name === name)?.figures ?? [];
}

/** Resident memory: a row for each size, and a column for each mode. */
function residentTable(memory: readonly MemoryFigure[]): Table {
  const right = (title: string) => ({ title, align: 'right' as const });
  const modeOf = ({ mode, layout }: MemoryFigure) => [mode ?? 'ipvs', layout].filter(Boolean).join(', ');
  const modes = [...new Set(memory.map(modeOf))];
  const sizes = new Map(memory.map(({ size }) => [sizeText(size), size.services * size.endpoints]));
  const row = (title: string, bytesOf: (figure: MemoryFigure) => number | undefined) => [
    title,
    ...modes.map((mode) => {
      const value = memory
        .filter((figure) => modeOf(figure) === mode)
        .map(bytesOf)
        .find((found) => found !== undefined);
      return value === undefined ? '' : megabytesText(value);
    }),
  ];
  return {
    columns: [right('Services x endpoints'), ...modes.map(right)],
    rows: [
      row('none', ({ idleResident }) => idleResident),
      ...[...sizes]
        .sort(([, a], [, b]) => a - b)
        .map(([title]) =>
          row(title, ({ size, resident }) => (sizeText(size) === title ? resident : undefined)),
        ),
    ],
  };
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

/** A machine, and the command of each of its reports. */
function machineSection({ facts, reports }: MachineReports, index: number): string[] {
  const commands = reports.map(
    ({ options, started, duration }) =>
      `# ${started.slice(0, 10)}, ${spanText(duration * 1000)}\n${benchCommand(options)}`,
  );
  const reasons = reports.flatMap(reasonLines).map((line) => `- not measured: ${line}.`);
  return [
    `**${index + 1}**: ${facts}.`,
    `\`\`\`sh\n${commands.join('\n')}\n\`\`\``,
    ...(reasons.length === 0 ? [] : [reasons.join('\n')]),
  ];
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
