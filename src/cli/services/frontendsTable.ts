// The table of the frontends in rules: a line for each one and, below it, a line for each endpoint. Pure.
import type { RuleTraffic } from '../../explain/inventory.js';
import { joinHostPort } from '../../net/address.js';
import { namedTable } from '../output/namedTable.js';
import type { Column } from '../output/table.js';
import { count } from '../summary.js';
import { type FrontendReport, frontendName } from './frontendsReport.js';
import { serviceName } from './report.js';
import { shortNumber, type TableOptions } from './table.js';
import { type Order, TITLES } from './topScreen.js';

const COLUMNS: readonly Column[] = [
  { title: 'SERVICE' },
  { title: 'ADDRESS' },
  { title: 'SHARE', align: 'right' },
  { title: 'CONN', align: 'right' },
  { title: 'CONN/S', align: 'right' },
];

const MORE_COLUMNS: readonly Column[] = [
  { title: 'BYTES', align: 'right' },
  { title: 'B/S', align: 'right' },
  { title: 'KIND' },
  { title: 'PERSISTENCE', align: 'right' },
  { title: 'CHAIN' },
];

/** The lines of the table. */
export function frontendLines(frontends: readonly FrontendReport[], options: TableOptions): string[] {
  const { wide, realServers, style } = options;
  const columns = wide ? [...COLUMNS, ...MORE_COLUMNS] : COLUMNS;
  const rows = frontends.flatMap((frontend) => {
    const { kind, persistence, chain, refused, endpoints, counters, rates } = frontend;
    const none = refused === undefined ? 'none' : refused;
    const own = [
      serviceName(frontend) || '-',
      frontendName(frontend),
      endpoints.length === 0 ? style('warning', none) : '',
      ...trafficCells(counters, rates),
      kind ?? '-',
      persistence === 0 ? '-' : `${persistence}s`,
      chain ?? '-',
    ];
    const below = endpoints.map((endpoint) => [
      '',
      `  -> ${joinHostPort(endpoint.address, endpoint.port)}`,
      `${shortNumber(endpoint.share * 100)}%`,
      ...trafficCells(endpoint.counters, endpoint.rates),
      '',
      '',
      endpoint.chain,
    ]);
    return realServers ? [own, ...below] : [own];
  });
  return namedTable(columns, rows, options);
}

/** Connections and their rate, then bytes and theirs: the order of the columns. */
function trafficCells(counters: RuleTraffic, rates: RuleTraffic | undefined): string[] {
  return (['connections', 'bytes'] as const).flatMap((field) => [
    shortNumber(counters[field]),
    rates ? shortNumber(rates[field]) : '-',
  ]);
}

/** The frontends that have one of the texts in their name or address; all, if there is no text. */
export function matchingFrontends(
  frontends: readonly FrontendReport[],
  texts: readonly string[],
): readonly FrontendReport[] {
  if (texts.length === 0) return frontends;
  return frontends.filter((frontend) => {
    const shown = `${serviceName(frontend)} ${frontendName(frontend)}`;
    return texts.some((text) => shown.includes(text));
  });
}

/** The frontends in an order: the largest rate first, or by name. Equal ones keep their order, by name. */
export function sortedFrontends(frontends: readonly FrontendReport[], order: Order): FrontendReport[] {
  if (order === 'name') return [...frontends];
  const field = order === 'bytes' ? 'bytes' : 'connections';
  const weight = ({ rates, counters }: FrontendReport) => (rates ?? counters)[field];
  return [...frontends].sort((a, b) => weight(b) - weight(a));
}

/** The first line of top: sums of the list, and its order. */
export function titleOfFrontends(frontends: readonly FrontendReport[], order: Order): string {
  const sum = frontends.reduce((total, { rates }) => total + (rates?.connections ?? 0), 0);
  const names = new Set(frontends.map(serviceName).filter(Boolean)).size;
  const listed = `${count(frontends.length, 'frontend')} of ${count(names, 'Service port')}`;
  return `${listed}, ${shortNumber(sum)} new/s; by ${TITLES[order]}`;
}
