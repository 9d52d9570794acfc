// The frontends in the rules of a mode as an inventory.

import { joinHostPort } from '../../../kernel/net/address.js';
import type { ProgrammedFrontend } from '../../explain/inventory.js';
import { namedTable } from '../output/namedTable.js';
import { numbers, texts } from '../output/table.js';
import { type FrontendReport, frontendName, frontendsReport } from './frontendsReport.js';
import { type Inventory, type InventoryKind, inventoryOf, sumOf } from './inventory.js';
import { type ServiceNames, serviceName } from './names.js';
import { shortNumber, type TableOptions } from './table.js';

/**
 * The frontends that rules serve.
 *
 * @param list reads the rules with their counters
 * @param names of the agent or of objects; without them, those of the comments of rules
 * @param texts show only frontends that have one of these texts; none: all
 * @param counts the numbers by which frontends can be sorted: counters of rules, connections of conntrack, or none
 */
export function frontendsInventory(
  list: () => Promise<readonly ProgrammedFrontend[]>,
  names: ServiceNames,
  texts: readonly string[],
  counts: 'rules' | 'conntrack' | 'none' = 'rules',
): Inventory<readonly ProgrammedFrontend[]> {
  return inventoryOf<readonly ProgrammedFrontend[], FrontendReport, 'frontends'>(
    {
      what: 'frontend',
      field: 'frontends',
      list,
      report: (sample) => frontendsReport(sample, names),
      addressOf: frontendName,
      ...ORDERS_OF[counts],
      lines: frontendLines,
    },
    texts,
  );
}

/** The orders and sums of each origin of numbers. */
const ORDERS_OF: Readonly<
  Record<
    'rules' | 'conntrack' | 'none',
    Pick<InventoryKind<unknown, FrontendReport, 'frontends'>, 'orders' | 'sums'>
  >
> = {
  rules: {
    orders: {
      rate: ({ rates, counters }) => (rates ?? counters)?.connections ?? 0,
      bytes: ({ rates, counters }) => (rates ?? counters)?.bytes ?? 0,
    },
    sums: (frontends) => [`${shortNumber(sumOf(frontends, ({ rates }) => rates?.connections ?? 0))} new/s`],
  },
  conntrack: {
    orders: {
      active: ({ connections }) => connections?.active ?? 0,
      inactive: ({ connections }) => connections?.inactive ?? 0,
    },
    sums: (frontends) => [
      `${sumOf(frontends, ({ connections }) => connections?.active ?? 0)} active`,
      `${sumOf(frontends, ({ connections }) => connections?.inactive ?? 0)} inactive`,
    ],
  },
  none: { orders: {}, sums: () => [] },
};

// The table of the frontends in rules: a line for each one and, below it, a line for each endpoint. Pure.

const MORE_COLUMNS = [...texts('KIND'), ...numbers('PERSISTENCE'), ...texts('CHAIN')];

/** The lines of the table. It has a column of settings only if there are some. */
function frontendLines(frontends: readonly FrontendReport[], options: TableOptions): string[] {
  const { wide, realServers, style } = options;
  const hasSettings = frontends.some(({ settings }) => settings !== undefined);
  const traffic = trafficOf(frontends);
  const shown = wide ? [...traffic.columns, ...traffic.wide] : traffic.columns;
  const more = [...MORE_COLUMNS, ...(hasSettings ? texts('SETTINGS') : [])];
  const columns = [...texts('SERVICE', 'ADDRESS'), ...numbers('SHARE', ...shown), ...(wide ? more : [])];
  const rows = frontends.flatMap((frontend) => {
    const { kind, persistence, chain, refused, endpoints, settings = [] } = frontend;
    const own = [
      serviceName(frontend) || '-',
      frontendName(frontend),
      endpoints.length === 0
        ? style('warning', refused ?? (realServers || chain === undefined ? 'none' : ''))
        : '',
      ...traffic.cells(frontend).slice(0, shown.length),
      kind ?? '-',
      persistence === 0 ? '-' : `${persistence}s`,
      chain ?? '-',
      settings.join(' '),
    ];
    const below = endpoints.map((endpoint) => [
      '',
      `  -> ${joinHostPort(endpoint.address, endpoint.port)}`,
      `${shortNumber(endpoint.share * 100)}%`,
      ...traffic.cells(endpoint).slice(0, shown.length),
      '',
      '',
      endpoint.chain,
    ]);
    return realServers ? [own, ...below] : [own];
  });
  return namedTable(columns, rows, options);
}

type Counted = Pick<FrontendReport, 'counters' | 'rates' | 'connections'>;

/** The columns of numbers that the rows have, in any row. */
interface TrafficColumns {
  readonly columns: readonly string[];
  /** In a wide table, behind the others. */
  readonly wide: readonly string[];
  cells(row: Counted): string[];
}

const CONNECTIONS: TrafficColumns = {
  columns: ['ACTIVE', 'INACTIVE'],
  wide: [],
  cells: ({ connections }) =>
    (['active', 'inactive'] as const).map((field) => (connections ? shortNumber(connections[field]) : '-')),
};

const COUNTERS: TrafficColumns = {
  columns: ['CONN', 'CONN/S'],
  wide: ['BYTES', 'B/S'],
  cells: ({ counters, rates }) =>
    (['connections', 'bytes'] as const).flatMap((field) => [
      counters ? shortNumber(counters[field]) : '-',
      rates ? shortNumber(rates[field]) : '-',
    ]),
};

const NOTHING: TrafficColumns = { columns: [], wide: [], cells: () => [] };

/** No column has dashes only: rules count, or conntrack does, or nothing. */
function trafficOf(frontends: readonly Counted[]): TrafficColumns {
  if (frontends.some(({ connections }) => connections)) return CONNECTIONS;
  return frontends.length === 0 || frontends.some(({ counters }) => counters) ? COUNTERS : NOTHING;
}
