// The modes of the packet tests, with the results that each expects.
import { BROKEN_ROWS, type BrokenRow } from './brokenRows.js';
import { IPTABLES_BROKEN_ROWS } from './iptablesBrokenRows.js';
import { IPTABLES_ADMISSIONS, IPTABLES_TABLE } from './iptablesPacketTable.js';
import { ADMISSIONS, type Admission, type Client, type Frontend, type Kind, TABLE } from './packetTable.js';

/** A mode with its expected results. */
export interface PacketMode {
  readonly name: 'ipvs' | 'iptables';
  /** Each connection selects its endpoint at random; otherwise two connections select two endpoints. */
  readonly random: boolean;
  readonly table: readonly Frontend[];
  readonly admissions: Readonly<Record<'lan' | 'strangers', readonly Admission[]>>;
  readonly broken: readonly BrokenRow[];
  /** The clients that are rejected by a frontend of a Service without endpoints. */
  rejected(kind: Kind): readonly Client[];
}

const EVERYBODY = ['pod here', 'node', 'outside'] as const;

/** ipvs mode. */
export const IPVS: PacketMode = {
  name: 'ipvs',
  random: false,
  table: TABLE,
  admissions: ADMISSIONS,
  broken: BROKEN_ROWS,
  rejected: () => EVERYBODY,
};

/** iptables mode. */
export const IPTABLES: PacketMode = {
  name: 'iptables',
  random: true,
  table: IPTABLES_TABLE,
  admissions: IPTABLES_ADMISSIONS,
  broken: IPTABLES_BROKEN_ROWS,
  // No rule of chain OUTPUT rejects packets of the node to external addresses.
  rejected: (kind) =>
    kind === 'external IP' || kind === 'load-balancer IP' ? ['pod here', 'outside'] : EVERYBODY,
};
