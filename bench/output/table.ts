// Tables of figures, for text and Markdown alike. Pure.
import { METHODS, SCENARIOS, type Scenario } from '../scenarios.js';
import type { BenchReport, Figure, MemoryFigure, Size, TargetResult } from '../types.js';
import { durationText, groupedText, megabytesText, numberText } from './units.js';

/** A table of text. */
export interface Table {
  readonly columns: readonly { readonly title: string; readonly align: 'left' | 'right' }[];
  /** A cell for each column. */
  readonly rows: readonly (readonly string[])[];
}

/** The figures of a scenario in a report. */
export interface ScenarioFigures {
  readonly scenario: Scenario;
  readonly figures: readonly Figure[];
}

/** The scenarios that a report has figures of, in the order of the scenarios. */
export function scenariosOf({ figures }: Pick<BenchReport, 'figures'>): ScenarioFigures[] {
  return SCENARIOS.map((scenario) => ({
    scenario,
    figures: figures.filter((figure) => figure.scenario === scenario.name),
  })).filter((found) => found.figures.length > 0);
}

/** A column of figures; `undefined` in every row removes it. */
interface FigureColumn {
  readonly title: string;
  readonly cell: (figure: Figure, all: readonly Figure[]) => string | undefined;
  /** Only in wide tables. */
  readonly wide?: true;
  readonly align?: 'left';
}

const COLUMNS: readonly FigureColumn[] = [
  { title: 'Services', cell: ({ size }) => groupedText(size.services) },
  { title: 'by', cell: ({ method }) => titleOf(method), align: 'left' },
  {
    title: 'n',
    // Number of measured times: runs, and repetitions in a run.
    cell: ({ wall }) => groupedText(wall.values.length),
  },
  { title: 'min', cell: (figure) => estimated(figure, durationText(figure.wall.min)) },
  {
    title: 'median',
    // Middle one of the times.
    cell: (figure) => estimated(figure, durationText(figure.wall.median)),
  },
  {
    title: 'max',
    // Greatest time.
    cell: (figure) => estimated(figure, durationText(figure.wall.max)),
  },
  {
    title: '÷ ours',
    // Median divided by that of kube-netlink-proxy with as many Services.
    cell: ratioToOurs,
  },
  {
    title: 'CPU',
    // CPU time of the process with all its threads and of its children, median.
    cell: (figure) => estimated(figure, durationText(figure.cpu.median)),
  },
  {
    title: 'operations',
    // Operations of the whole scenario.
    cell: ({ operations }) => groupedText(operations),
  },
  {
    title: 'processes',
    // Processes that were started.
    cell: ({ processes }) => groupedText(processes),
  },
  {
    title: 'first run',
    // Time of the warm-up, when nothing is compiled yet; only with the fewest Services.
    cell: (figure) => optional(figure.first, (first) => estimated(figure, durationText(first))),
    wide: true,
  },
  {
    title: 'input',
    // Bytes of input for iptables-restore, median.
    cell: ({ input }) => optional(input, (bytes) => (bytes === 0 ? undefined : `${groupedText(bytes)} B`)),
    wide: true,
  },
  {
    title: 'messages',
    // Messages to the kernel by netlink.
    cell: ({ messages }) => optional(messages, groupedText),
    wide: true,
  },
  {
    title: 'system calls',
    // System calls of the process and of its children.
    cell: ({ systemCalls }) => optional(systemCalls, groupedText),
    wide: true,
  },
  {
    title: 'memory before',
    // Resident memory of the process before the run: a fork costs more in a large process.
    cell: ({ parentMemory }) => megabytesText(parentMemory),
    wide: true,
  },
  {
    title: 'peak memory',
    // Highest resident memory of the process during the run.
    cell: ({ peakMemory }) => megabytesText(peakMemory),
    wide: true,
  },
  {
    title: 'heap per endpoint',
    // Heap that the process keeps, divided by the number of endpoints.
    cell: ({ heap, size }) => optional(heap, (bytes) => bytesEach(bytes, size)),
  },
  {
    title: 'longest block',
    // Longest time for which the event loop was blocked.
    cell: ({ longestBlock }) => optional(longestBlock, durationText),
    wide: true,
  },
  {
    title: 'first Service',
    // Time until the cluster's DNS and the API's own Service were complete in the kernel.
    cell: ({ firstService }) => optional(firstService?.median, durationText),
    wide: true,
  },
];

/** The figures of one scenario, by size and method; `≈` marks figures that were extrapolated. */
export function figureTable(figures: readonly Figure[], wide: boolean): Table {
  const shown = COLUMNS.filter((column) => wide || !column.wide);
  const cells = shown.map(({ cell }) => figures.map((figure) => cell(figure, figures)));
  const kept = shown.flatMap((column, i) => {
    const values = cells[i] as readonly (string | undefined)[];
    return values.every((value) => value === undefined) ? [] : [{ column, values }];
  });
  return {
    columns: kept.map(({ column }) => ({ title: column.title, align: column.align ?? 'right' })),
    rows: figures.map((_, row) => kept.map(({ values }) => values[row] ?? '')),
  };
}

/** The note of a table with extrapolated figures; undefined if it has none. */
export function estimateNote(figures: readonly Figure[]): string | undefined {
  const samples = figures.flatMap(({ sample }) => sample ?? []);
  if (samples.length === 0) return undefined;
  const [least, most] = [Math.min(...samples), Math.max(...samples)].map(groupedText);
  return `≈ was extrapolated from ${least === most ? most : `${least} to ${most}`} measured operations.`;
}

/** Memory of the agent, with its mode if any is not ipvs, and the layout if it is not kube-proxy's. */
export function memoryTable(memory: readonly MemoryFigure[]): Table {
  const right = (title: string) => ({ title, align: 'right' as const });
  const withMode = memory.some(({ mode }) => mode !== undefined);
  return {
    columns: [
      right('Services x endpoints'),
      ...(withMode ? [right('mode')] : []),
      right('idle'),
      right('resident'),
      right('resident per endpoint'),
    ],
    rows: memory.map(({ size, mode = 'ipvs', layout, idleResident, resident }) => [
      sizeText(size),
      ...(withMode ? [layout ? `${mode}, ${layout}` : mode] : []),
      megabytesText(idleResident),
      megabytesText(resident),
      bytesEach(resident - idleResident, size),
    ]),
  };
}

/** The requested figures that could not be measured: a line for each reason, with the scenarios and methods that it concerns. */
export function reasonLines({
  unavailable,
  options,
}: Pick<BenchReport, 'unavailable' | 'options'>): string[] {
  const byReason = new Map<string, string[]>();
  for (const { scenario, method, reason } of unavailable) {
    if (!options.scenarios.includes(scenario)) continue;
    const names = byReason.get(reason) ?? [];
    names.push(method === undefined ? scenario : `${scenario} by ${method}`);
    byReason.set(reason, names);
  }
  return [...byReason].map(([reason, names]) => `${names.join(', ')}: ${reason}`);
}

/** The targets with their values. */
export function targetTable(targets: readonly TargetResult[]): Table {
  const left = (title: string) => ({ title, align: 'left' as const });
  return {
    columns: [left('target'), left('limit'), { title: 'value', align: 'right' }, left('met')],
    rows: targets.map(({ name, target, value, met, reason }) => [
      name,
      target,
      value === undefined ? '' : numberText(value),
      value === undefined ? `not measured: ${reason ?? 'no figure'}` : met ? 'yes' : 'no',
    ]),
  };
}

/** `10 000 x 10`. */
export function sizeText({ services, endpoints }: Size): string {
  return `${groupedText(services)} x ${endpoints}`;
}

/** The title of a method. */
export function titleOf(name: Figure['method']): string {
  return METHODS.find((method) => method.name === name)?.title ?? name;
}

function estimated({ sample }: Figure, text: string): string {
  return sample === undefined ? text : `≈ ${text}`;
}

function ratioToOurs(figure: Figure, all: readonly Figure[]): string | undefined {
  const ours = all.find(({ method, size }) => method === 'ours' && isSame(size, figure.size));
  if (!ours || all.length === 1 || ours.wall.median === 0) return undefined;
  return numberText(figure.wall.median / ours.wall.median);
}

function isSame(a: Size, b: Size): boolean {
  return a.services === b.services && a.endpoints === b.endpoints;
}

function optional(
  value: number | undefined,
  text: (value: number) => string | undefined,
): string | undefined {
  return value === undefined ? undefined : text(value);
}

function bytesEach(bytes: number, { services, endpoints }: Size): string {
  return `${groupedText(bytes / (services * endpoints))} B`;
}
