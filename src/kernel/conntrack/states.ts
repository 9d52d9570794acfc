// Names of the numbers in flows: flags of the status, states of TCP and SCTP.

/** `IPS_` flags of include/uapi/linux/netfilter/nf_conntrack_common.h, bit 0 first. */
export const FLOW_STATUSES = [
  'EXPECTED',
  'SEEN_REPLY',
  'ASSURED',
  'CONFIRMED',
  'SRC_NAT',
  'DST_NAT',
  'SEQ_ADJUST',
  'SRC_NAT_DONE',
  'DST_NAT_DONE',
  'DYING',
  'FIXED_TIMEOUT',
  'TEMPLATE',
  'UNTRACKED',
  'HELPER',
  'OFFLOAD',
  'HW_OFFLOAD',
] as const;

/** A flag of a flow's status; a flag of a later kernel has the number of its bit. */
export type FlowStatus = (typeof FLOW_STATUSES)[number] | `BIT_${number}`;

/** `enum tcp_conntrack` of include/uapi/linux/netfilter/nf_conntrack_tcp.h, 0 first. */
export const TCP_STATES = [
  'NONE',
  'SYN_SENT',
  'SYN_RECV',
  'ESTABLISHED',
  'FIN_WAIT',
  'CLOSE_WAIT',
  'LAST_ACK',
  'TIME_WAIT',
  'CLOSE',
  'SYN_SENT2',
] as const;

/** State of a TCP connection, as the kernel tracks it. */
export type TcpState = (typeof TCP_STATES)[number] | `STATE_${number}`;

/** `enum sctp_conntrack` of include/uapi/linux/netfilter/nf_conntrack_sctp.h, 0 first. */
export const SCTP_STATES = [
  'NONE',
  'CLOSED',
  'COOKIE_WAIT',
  'COOKIE_ECHOED',
  'ESTABLISHED',
  'SHUTDOWN_SENT',
  'SHUTDOWN_RECD',
  'SHUTDOWN_ACK_SENT',
  'HEARTBEAT_SENT',
  'HEARTBEAT_ACKED',
] as const;

/** State of an SCTP association, as the kernel tracks it. */
export type SctpState = (typeof SCTP_STATES)[number] | `STATE_${number}`;

/** The bit of each flag that has a name. */
export const STATUS_BITS: Readonly<Record<string, number>> = Object.fromEntries(
  FLOW_STATUSES.map((name, bit) => [name, 2 ** bit]),
);

const named = new Map<number, readonly FlowStatus[]>();
const MOST_STATUSES = 1024;

/** The flags of a status. Flows have few different ones: equal ones share an array. */
export function statusNames(status: number): readonly FlowStatus[] {
  let names = named.get(status);
  if (!names) {
    names = bitsOf(status).map((bit) => FLOW_STATUSES[bit] ?? (`BIT_${bit}` as const));
    if (named.size < MOST_STATUSES) named.set(status, names);
  }
  return names;
}

function bitsOf(number: number): number[] {
  const bits: number[] = [];
  for (let bit = 0; bit < 32; bit++) if ((number >>> bit) & 1) bits.push(bit);
  return bits;
}

/** The state of TCP with this number. */
export function tcpStateOf(number: number): TcpState {
  return TCP_STATES[number] ?? `STATE_${number}`;
}

/** The state of SCTP with this number. */
export function sctpStateOf(number: number): SctpState {
  return SCTP_STATES[number] ?? `STATE_${number}`;
}
