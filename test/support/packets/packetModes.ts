// The modes of the packet tests, with the differences between them.
import { BROKEN_ROWS, type BrokenRow, IPVS_TABLE_BROKEN_ROWS } from './brokenRows.js';
import type { AskExplain } from './explainProcess.js';
import { IPTABLES_BROKEN_ROWS } from './iptablesBrokenRows.js';
import { NFTABLES_BROKEN_ROWS } from './nftablesBrokenRows.js';
import type { Client, Kind, TableMode } from './packetTable.js';

/** A mode of the packet tests. */
export interface PacketMode {
  readonly name: TableMode;
  /** Flags of the proxy beside its mode. */
  readonly flags?: readonly string[];
  /** Each connection selects its endpoint at random; otherwise two connections select two endpoints. */
  readonly random: boolean;
  /**
   * Whether datagrams over IPv6 may be longer than a packet. IPVS answers them with "packet too big" (`ensure_mtu_is_adequate`), also after
   * the client has learned the MTU.
   */
  readonly largeDatagrams6: boolean;
  readonly broken: readonly BrokenRow[];
  readonly explained: AskExplain['mode'];
  /** docs/explain.md has examples of it. */
  readonly documented: boolean;
  /** The clients that are rejected by a frontend of a Service without endpoints. */
  rejected(kind: Kind): readonly Client[];
}

const EVERYBODY = ['pod here', 'node', 'outside'] as const;

/** ipvs mode. */
export const IPVS: PacketMode = {
  name: 'ipvs',
  largeDatagrams6: false,
  random: false,
  broken: BROKEN_ROWS,
  explained: 'ipvs',
  documented: true,
  rejected: () => EVERYBODY,
};

/** ipvs mode with rules of nf_tables: the same table of packets. */
export const IPVS_TABLES: PacketMode = {
  ...IPVS,
  flags: ['--ipvs-rules', 'nftables'],
  broken: IPVS_TABLE_BROKEN_ROWS,
  explained: 'ipvs tables',
  documented: false,
};

/** iptables mode. */
export const IPTABLES: PacketMode = {
  name: 'iptables',
  largeDatagrams6: true,
  random: true,
  broken: IPTABLES_BROKEN_ROWS,
  explained: 'iptables',
  documented: true,
  // No rule of chain OUTPUT rejects packets of the node to external addresses.
  rejected: (kind) =>
    kind === 'external IP' || kind === 'load-balancer IP' ? ['pod here', 'outside'] : EVERYBODY,
};

/** nftables mode. Packets to Services without endpoints are rejected wherever they come from. */
export const NFTABLES: PacketMode = {
  name: 'nftables',
  largeDatagrams6: true,
  random: true,
  broken: NFTABLES_BROKEN_ROWS,
  explained: 'nftables',
  documented: true,
  rejected: () => EVERYBODY,
};
