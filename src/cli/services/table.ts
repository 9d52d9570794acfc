// The table of virtual services: a line for each one and, below it, a line for each real server. Pure.
import { joinHostPort } from '../../net/address.js';
import type { Style } from '../output/colours.js';
import { type NamedTableLayout, namedTable } from '../output/namedTable.js';
import type { Column } from '../output/table.js';
import { virtualServiceName } from './names.js';
import { serviceName, type Traffic, type VirtualServiceReport } from './report.js';

const COLUMNS: readonly Column[] = [
  { title: 'SERVICE' },
  { title: 'ADDRESS' },
  { title: 'SCHEDULER' },
  { title: 'WEIGHT', align: 'right' },
  { title: 'ACTIVE', align: 'right' },
  { title: 'INACTIVE', align: 'right' },
  { title: 'CONN/S', align: 'right' },
];

const MORE_COLUMNS: readonly Column[] = [
  { title: 'IN PKT/S', align: 'right' },
  { title: 'OUT PKT/S', align: 'right' },
  { title: 'IN B/S', align: 'right' },
  { title: 'OUT B/S', align: 'right' },
  { title: 'KIND' },
  { title: 'PERSISTENCE', align: 'right' },
  { title: 'FORWARDING' },
];

/** How the table is shown. */
export interface TableOptions extends NamedTableLayout {
  /** With packets, bytes, and settings. */
  readonly wide: boolean;
  /** With a line for each real server. */
  readonly realServers: boolean;
}

/** The lines of the table. */
export function serviceLines(services: readonly VirtualServiceReport[], options: TableOptions): string[] {
  const { wide, realServers, style } = options;
  const columns = wide ? [...COLUMNS, ...MORE_COLUMNS] : COLUMNS;
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

/** The virtual services that have one of the texts in their name or address; all, if there is no text. */
export function matching(
  services: readonly VirtualServiceReport[],
  texts: readonly string[],
): readonly VirtualServiceReport[] {
  if (texts.length === 0) return services;
  return services.filter((service) => {
    const shown = `${serviceName(service)} ${virtualServiceName(service)}`;
    return texts.some((text) => shown.includes(text));
  });
}
