// The table of the frontends in rules: a line for each one and, below it, a line for each endpoint. Pure.
import type { RuleTraffic } from '../../explain/inventory.js';
import { joinHostPort } from '../../net/address.js';
import { namedTable } from '../output/namedTable.js';
import { numbers, texts } from '../output/table.js';
import { type FrontendReport, frontendName } from './frontendsReport.js';
import { serviceName } from './names.js';
import { shortNumber, type TableOptions } from './table.js';

const COLUMNS = [...texts('SERVICE', 'ADDRESS'), ...numbers('SHARE', 'CONN', 'CONN/S')];

const MORE_COLUMNS = [
  ...numbers('BYTES', 'B/S'),
  ...texts('KIND'),
  ...numbers('PERSISTENCE'),
  ...texts('CHAIN'),
];

/** The lines of the table. It has a column of settings only if there are some. */
export function frontendLines(frontends: readonly FrontendReport[], options: TableOptions): string[] {
  const { wide, realServers, style } = options;
  const hasSettings = frontends.some(({ settings }) => settings !== undefined);
  const more = hasSettings ? [...MORE_COLUMNS, ...texts('SETTINGS')] : MORE_COLUMNS;
  const columns = wide ? [...COLUMNS, ...more] : COLUMNS;
  const rows = frontends.flatMap((frontend) => {
    const { kind, persistence, chain, refused, endpoints, counters, rates, settings = [] } = frontend;
    const own = [
      serviceName(frontend) || '-',
      frontendName(frontend),
      endpoints.length === 0 ? style('warning', refused ?? 'none') : '',
      ...trafficCells(counters, rates),
      kind ?? '-',
      persistence === 0 ? '-' : `${persistence}s`,
      chain ?? '-',
      settings.join(' '),
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
function trafficCells(counters: RuleTraffic | undefined, rates: RuleTraffic | undefined): string[] {
  return (['connections', 'bytes'] as const).flatMap((field) => [
    counters ? shortNumber(counters[field]) : '-',
    rates ? shortNumber(rates[field]) : '-',
  ]);
}
