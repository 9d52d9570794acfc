// The comparison of two proxies as a table. Pure.
import { sizeText, type Table } from '../output/table.js';
import { durationText, groupedText, megabytesText, numberText } from '../output/units.js';
import type { Spread } from '../types.js';
import type { AgainstReport, ProxyFigure, ProxyName } from './types.js';

/** The proxies, for people. */
export const TITLES: Readonly<Record<ProxyName, string>> = { ours: 'kube-netlink-proxy', other: 'other' };

interface Column {
  readonly title: string;
  readonly cell: (figure: ProxyFigure) => string;
}

/** The values of a figure, each by its median. */
const COLUMNS: readonly Column[] = [
  { title: 'Services x endpoints', cell: ({ size }) => sizeText(size) },
  { title: 'first sync', cell: ({ firstSync }) => durationText(firstSync.median) },
  { title: 'endpoint changed', cell: ({ endpointChange }) => orNoPass(endpointChange, durationText) },
  { title: 'node changed', cell: ({ nodeChange }) => orNoPass(nodeChange, durationText) },
  { title: 'CPU', cell: ({ cpu }) => durationText(cpu.median) },
  { title: 'resident', cell: ({ resident }) => megabytesText(resident.median) },
  { title: 'peak', cell: ({ peak }) => megabytesText(peak.median) },
  { title: 'started', cell: ({ started }) => groupedText(started.median) },
  { title: 'by a change', cell: ({ startedByChange }) => orNoPass(startedByChange, groupedText) },
];

/** A row for each proxy and size. `started` are processes and threads. */
export function againstTable({ figures }: Pick<AgainstReport, 'figures'>): Table {
  return tableOf(COLUMNS, figures);
}

function tableOf(columns: readonly Column[], figures: readonly ProxyFigure[]): Table {
  return {
    columns: [
      { title: 'proxy', align: 'left' },
      ...columns.map(({ title }) => ({ title, align: 'right' as const })),
    ],
    rows: figures.map((figure) => [TITLES[figure.proxy], ...columns.map(({ cell }) => cell(figure))]),
  };
}

/** The same with the least and the greatest value beside each median. */
export function spreadTable({ figures }: Pick<AgainstReport, 'figures'>): Table {
  const column = (
    title: string,
    value: (figure: ProxyFigure) => Spread | undefined,
    text: (value: number) => string,
  ) => ({
    title,
    cell: (figure: ProxyFigure) => {
      const spread = value(figure);
      if (spread === undefined) return 'no pass';
      return `${text(spread.median)} (${text(spread.min)} to ${text(spread.max)})`;
    },
  });
  const columns = [
    { title: 'Services x endpoints', cell: ({ size }: ProxyFigure) => sizeText(size) },
    column('first sync', ({ firstSync }) => firstSync, durationText),
    column('endpoint changed', ({ endpointChange }) => endpointChange, durationText),
    column('node changed', ({ nodeChange }) => nodeChange, durationText),
    column('CPU', ({ cpu }) => cpu, durationText),
    column('peak memory', ({ peak }) => peak, megabytesText),
  ];
  return tableOf(columns, figures);
}

/** A row for each stream of changes. */
export function streamTable({ figures }: Pick<AgainstReport, 'figures'>): Table {
  const titles = [
    'Services x endpoints',
    'changes/s',
    'missed',
    'p50',
    'p90',
    'p99',
    'max',
    'CPUs',
    'resident',
  ];
  return {
    columns: [
      { title: 'proxy', align: 'left' },
      ...titles.map((title) => ({ title, align: 'right' as const })),
    ],
    rows: figures.flatMap(({ proxy, size, streams }) =>
      streams.map(({ rate, missed, p50, p90, p99, max, cpus, resident }) => [
        ...[TITLES[proxy], sizeText(size), groupedText(rate), groupedText(missed)],
        ...[p50, p90, p99, max].map((time) => durationText(time)),
        ...[numberText(cpus), megabytesText(resident)],
      ]),
    ),
  };
}

/** Sentences on proxies that could not be measured. */
export function failureLines({ failed }: Pick<AgainstReport, 'failed'>): string[] {
  return failed.map(
    ({ proxy, size, reason }) => `not measured: ${TITLES[proxy]}, ${sizeText(size)}: ${reason}`,
  );
}

function orNoPass(spread: ProxyFigure['endpointChange'], text: (value: number) => string): string {
  return spread === undefined ? 'no pass' : text(spread.median);
}
