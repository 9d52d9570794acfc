// The comparison of two proxies as a page in Markdown with three pictures. Pure.
import { servicesAxis, TIME } from '../output/chart.js';
import { type Chart, type Line, lineChart } from '../output/lineChart.js';
import { machineFacts, machineLine } from '../output/machine.js';
import { markdownTable } from '../output/markdown.js';
import { megabytesText, numberText } from '../output/units.js';
import { quantile } from '../statistics.js';
import type { Spread } from '../types.js';
import { failureLines, spreadTable, streamTable, TITLES } from './table.js';
import type { AgainstReport, ProxyFigure, ProxyName } from './types.js';

/** The folder of the pictures and of the report, beside the page. */
const PARTS = 'against';

/** The lines of the proxies, so that the pictures are read without colours. */
const STYLES: Readonly<Record<ProxyName, string>> = { ours: 'c0 ours', other: 'c3' };

/** The parts of changes that took less than a time. The last one is all of them. */
const PARTS_OF_CHANGES = [0.5, 0.9, 0.99, 1] as const;

/** The files of a comparison, by their paths relative to a folder. */
export function againstFiles(report: AgainstReport): { readonly path: string; readonly text: string }[] {
  const pictures = picturesOf(report).map(({ name, chart }) => ({
    path: `${PARTS}/${name}.svg`,
    text: lineChart(chart),
    title: chart.title,
  }));
  const { machine, started, load, versions, commands } = report;
  const facts = machineFacts(machine).map(([name, value]) => `${name} ${value}`);
  const streams = streamTable(report);
  const page = [
    '# Two proxies on one machine',
    'Written by `npm run bench -- --against … --folder …`. Both proxies got the same objects from the same API server, one after the other, each in a new network namespace.',
    ...pictures.map(({ title, path }) => `![${title}](${path})`),
    'Medians, and least to greatest of all runs:',
    markdownTable(spreadTable(report)),
    ...(streams.rows.length > 0
      ? [
          'Endpoints that change steadily, each until a client reaches the new one; a row for each run:',
          markdownTable(streams),
        ]
      : []),
    ...failureLines(report).map((line) => `${line}.`),
    `${machineLine(machine)}, on ${started.slice(0, 10)}; load ${load.map(numberText).join(' before and ')} after (${facts.join('; ')}).`,
    ...(['ours', 'other'] as const).map(
      (name) =>
        `${TITLES[name]}, ${versions[name] ?? 'version unknown'}:\n\n\`\`\`sh\n${commands[name]}\n\`\`\``,
    ),
  ].join('\n\n');
  return [
    { path: 'against.md', text: `${page}\n` },
    { path: `${PARTS}/report.json`, text: `${JSON.stringify(report)}\n` },
    ...pictures.map(({ path, text }) => ({ path, text })),
  ];
}

interface NamedChart {
  readonly name: string;
  readonly chart: Chart;
}

function picturesOf(report: AgainstReport): NamedChart[] {
  const { figures, machine } = report;
  const sizes = [...new Set(figures.map(({ size }) => size.services))].sort((a, b) => a - b);
  const endpoints = [...new Set(figures.map(({ size }) => size.endpoints))].join(' or ');
  const subtitle = machineLine(machine);
  const bySize = (value: (figure: ProxyFigure) => Spread) =>
    linesOf(figures, (own) => own.map((figure) => [figure.size.services, value(figure).median] as const));
  const x = servicesAxis(sizes, endpoints);
  const chart = (name: string, title: string, y: Chart['y'], lines: Line[]): NamedChart[] =>
    sizes.length > 1 ? [{ name, chart: { title, subtitle, x, y, lines } }] : [];
  const bytes = { scale: 'linear', mark: megabytesText, value: megabytesText } as const;
  const times = linesOf(
    figures.filter(({ size }) => size.services === sizes.at(-1)),
    (own) => own.flatMap(latenciesOf),
  );
  return [
    ...chart(
      'firstSync',
      'First sync',
      TIME,
      bySize(({ firstSync }) => firstSync),
    ),
    ...(times.length > 0 ? [{ name: 'change', chart: changeChart(figures, subtitle, times) }] : []),
    ...chart(
      'memory',
      'Peak memory',
      bytes,
      bySize(({ peak }) => peak),
    ),
  ];
}

/** The distribution of the time of a change: its axis has more room the fewer changes take longer. */
function changeChart(figures: readonly ProxyFigure[], subtitle: string, lines: Line[]): Chart {
  const rate = figures.flatMap(({ streams }) => streams).at(0)?.rate;
  const what =
    rate === undefined ? 'one at a time, to the end of the pass' : `${rate} a second, to a client's answer`;
  return {
    title: `Time of a changed endpoint: ${what}`,
    subtitle,
    x: {
      title: 'of the changes took less time',
      marks: PARTS_OF_CHANGES.map((part) => [placeOf(part), part === 1 ? 'all' : `${part * 100} %`] as const),
    },
    y: TIME,
    lines,
  };
}

const placeOf = (part: number) => (part === 1 ? 1000 : 1 / (1 - part));

/** The times of the first stream, or else of the single changes. */
function latenciesOf({ streams: [stream], endpointChange }: ProxyFigure): Line['points'] {
  const sorted = [...(endpointChange?.values ?? [])].sort((a, b) => a - b);
  const times = stream
    ? [stream.p50, stream.p90, stream.p99, stream.max]
    : PARTS_OF_CHANGES.map((part) => quantile(sorted, part));
  return PARTS_OF_CHANGES.flatMap((part, i) => {
    const time = times[i] ?? Number.NaN;
    return Number.isNaN(time) ? [] : [[placeOf(part), time] as const];
  });
}

function linesOf(
  figures: readonly ProxyFigure[],
  points: (own: readonly ProxyFigure[]) => Line['points'],
): Line[] {
  return (['ours', 'other'] as const)
    .map((name) => ({
      name: TITLES[name],
      style: STYLES[name],
      points: points(figures.filter(({ proxy }) => proxy === name)),
    }))
    .filter((line) => line.points.length > 0);
}
