// Flows in the notation of `conntrack -L -o id`.

import { hasPorts } from '../conntrack/tuples.js';
import type { Flow, FlowTuple } from '../conntrack/types.js';
import { PROTOCOL_NUMBERS } from '../net/protocol.js';

const GRE = 47;
const NAMES: Readonly<Record<number, string>> = {
  1: 'icmp',
  6: 'tcp',
  17: 'udp',
  [GRE]: 'gre',
  58: 'icmpv6',
  132: 'sctp',
  136: 'udplite',
};

/** The line of a flow, without the values that change by themselves: time left, counters and references. */
export function lineOf(flow: Flow): string {
  const number = typeof flow.protocol === 'number' ? flow.protocol : PROTOCOL_NUMBERS[flow.protocol];
  const { zone, replyZone } = flow;
  return [
    NAMES[number] ?? 'unknown',
    number,
    ...(flow.tcpState === undefined ? [] : [flow.tcpState]),
    ...(flow.sctp === undefined ? [] : [flow.sctp.state]),
    ...tupleWords(flow.original, number),
    ...(zone !== 0 && zone !== replyZone ? [`zone-orig=${zone}`] : []),
    ...(flow.status.includes('SEEN_REPLY') ? [] : ['[UNREPLIED]']),
    ...tupleWords(flow.reply, number),
    ...(replyZone !== 0 && zone !== replyZone ? [`zone-reply=${replyZone}`] : []),
    ...(flow.status.includes('ASSURED') ? ['[ASSURED]'] : []),
    `mark=${flow.mark}`,
    ...(zone !== 0 && zone === replyZone ? [`zone=${zone}`] : []),
    ...(flow.helper === undefined ? [] : [`helper=${flow.helper}`]),
    `id=${flow.id}`,
  ].join(' ');
}

function tupleWords(tuple: FlowTuple, protocol: number): string[] {
  const { source, destination, sourcePort, destinationPort, icmp } = tuple;
  const ends = [`src=${source}`, `dst=${destination}`];
  if (icmp) return [...ends, `type=${icmp.type}`, `code=${icmp.code}`, `id=${icmp.id}`];
  if (protocol === GRE) {
    return [...ends, `srckey=0x${sourcePort.toString(16)}`, `dstkey=0x${destinationPort.toString(16)}`];
  }
  return hasPorts(protocol) ? [...ends, `sport=${sourcePort}`, `dport=${destinationPort}`] : ends;
}
