// The table of virtual services: a line for each one and, below it, a line for each real server. Pure.
import { thresholdsText } from '../../../kernel/ipvs/values/settingsText.js';
import { joinHostPort } from '../../../kernel/net/address.js';
import type { Style } from '../output/colours.js';
import { type NamedTableLayout, namedTable } from '../output/namedTable.js';
import { numbers, texts } from '../output/table.js';
import { serviceName, virtualServiceName } from './names.js';
import type { Traffic, VirtualServiceReport } from './report.js';

const COLUMNS = [
  ...texts('SERVICE', 'ADDRESS', 'SCHEDULER'),
  ...numbers('WEIGHT', 'ACTIVE', 'INACTIVE', 'CONN/S'),
];

const MORE_COLUMNS = [
  ...numbers('IN PKT/S', 'OUT PKT/S', 'IN B/S', 'OUT B/S'),
  ...texts('KIND'),
  ...numbers('PERSISTENCE'),
  ...texts('FORWARDING'),
];

/** How the table is shown. */
export interface TableOptions extends NamedTableLayout {
  /** With packets, bytes, and settings. */
  readonly wide: boolean;
  /** With a line for each real server. */
  readonly realServers: boolean;
}

/** The lines of the table. It has a column of settings only if there are some that kube-proxy never sets. */
export function serviceLines(services: readonly VirtualServiceReport[], options: TableOptions): string[] {
  const { wide, realServers, style } = options;
  const hasSettings = services.some(
    (service) => service.settings.length > 0 || service.realServers.some((server) => thresholdsText(server)),
  );
  const more = hasSettings ? [...MORE_COLUMNS, ...texts('SETTINGS')] : MORE_COLUMNS;
  const columns = wide ? [...COLUMNS, ...more] : COLUMNS;
  const rows = services.flatMap((service) => [
    serviceRow(service, style),
    ...(realServers ? serverRows(service, style) : []),
  ]);
  return namedTable(columns, rows, options);
}

function serviceRow(service: VirtualServiceReport, style: Style): string[] {
  const { scheduler, activeConnections, inactiveConnections, rates, kind, persistence } = service;
  return [
    serviceName(service) || '-',
    virtualServiceName(service),
    scheduler,
    service.realServers.length === 0 ? style('warning', 'none') : '',
    String(activeConnections),
    String(inactiveConnections),
    ...rateCells(rates),
    kind ?? '-',
    persistence === 0 ? '-' : `${persistence}s`,
    '',
    service.settings.join(' '),
  ];
}

function serverRows({ realServers }: VirtualServiceReport, style: Style): string[][] {
  return realServers.map((server) => {
    const { address, port, weight, activeConnections, inactiveConnections, rates, forwarding } = server;
    const draining = weight === 0;
    return [
      '',
      `  -> ${joinHostPort(address, port)}`,
      '',
      draining ? style('warning', '0') : String(weight),
      String(activeConnections),
      String(inactiveConnections),
      ...rateCells(rates),
      '',
      '',
      forwarding,
      thresholdsText(server),
    ];
  });
}

function rateCells(rates: Traffic): string[] {
  const { connections, inPackets, outPackets, inBytes, outBytes } = rates;
  return [connections, inPackets, outPackets, inBytes, outBytes].map(shortNumber);
}

/** A number of at most five characters: `0`, `0.5`, `12.3`, `950`, `1.2k`, `45.6M`. */
export function shortNumber(value: number): string {
  let scaled = value;
  for (const unit of ['', 'k', 'M', 'G', 'T']) {
    if (scaled < 999.5 || unit === 'T') {
      const digits = scaled < 99.95 ? 1 : 0;
      return `${scaled.toFixed(digits).replace(/\.0$/, '')}${unit}`;
    }
    scaled /= 1000;
  }
  return String(value);
}
