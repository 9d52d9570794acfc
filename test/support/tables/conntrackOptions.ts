// Options of conntrack(8), with the operations of the library that have the same effect.
import type { FlowChanges, FlowSelection, NewFlow } from '../../../src/kernel/conntrack/index.js';

export const ENDS = '-s 10.0.0.9 -d 10.0.0.1';
export const UDP = `${ENDS} -p udp --orig-port-src 4000 --orig-port-dst 80`;
const TCP = `${ENDS} -p tcp --sport 4000 --dport 80 --state ESTABLISHED`;
export const original = {
  source: '10.0.0.9',
  destination: '10.0.0.1',
  sourcePort: 4000,
  destinationPort: 80,
};
export const udp: NewFlow = { protocol: 'udp', original, timeout: 100 };
export const tcp: NewFlow = { ...udp, protocol: 'tcp', tcpState: 'ESTABLISHED' };
const ends = { source: '10.0.0.9', destination: '10.0.0.1' };
const ends6 = { source: 'fd00::9', destination: 'fd00::1' };

/** Options that an added flow has, `conntrack -I` with them, and the same flow for the library. */
export const ADDED: readonly [options: string, words: string, flow: NewFlow][] = [
  [
    '-I -s --src --orig-src -d --dst --orig-dst -t --timeout',
    `--src 10.0.0.9 --dst 10.0.0.1 -p udp --sport 4000 --dport 80`,
    udp,
  ],
  ['-p --protonum --orig-port-src --orig-port-dst', UDP, udp],
  ['--state', TCP, tcp],
  [
    '-r --reply-src -q --reply-dst --reply-port-src --reply-port-dst',
    `${UDP} -r 10.0.0.2 -q 10.0.0.9 --reply-port-src 8080 --reply-port-dst 4000`,
    {
      ...udp,
      reply: { source: '10.0.0.2', destination: '10.0.0.9', sourcePort: 8080, destinationPort: 4000 },
    },
  ],
  [
    '-s of IPv6',
    '-s fd00::9 -d fd00::1 -p udp --sport 4000 --dport 80',
    { ...udp, original: { ...ends6, sourcePort: 4000, destinationPort: 80 } },
  ],
  ['-m --mark', `${UDP} -m 0x12345678`, { ...udp, mark: 0x12345678 }],
  ['-u --status', `${TCP} -u ASSURED,SEEN_REPLY`, { ...tcp, status: ['ASSURED', 'SEEN_REPLY'] }],
  ['-w --zone', `${UDP} -w 7`, { ...udp, zone: 7 }],
  ['--orig-zone', `${UDP} --orig-zone 7`, { ...udp, zone: 7, replyZone: 0 }],
  ['--reply-zone', `${UDP} --reply-zone 7`, { ...udp, zone: 0, replyZone: 7 }],
  ['-n --src-nat', `${UDP} -n 10.0.0.2:4444`, { ...udp, sourceNat: { address: '10.0.0.2', port: 4444 } }],
  [
    '-g --dst-nat',
    `${UDP} -g 10.0.0.2:8080`,
    { ...udp, destinationNat: { address: '10.0.0.2', port: 8080 } },
  ],
  [
    '--icmp-type --icmp-code --icmp-id',
    `${ENDS} -p icmp --icmp-type 8 --icmp-code 0 --icmp-id 513`,
    { protocol: 1, original: { ...ends, icmp: { type: 8, code: 0, id: 513 } }, timeout: 100 },
  ],
  [
    '--icmpv6-type --icmpv6-code --icmpv6-id',
    '-s fd00::9 -d fd00::1 -p icmpv6 --icmpv6-type 128 --icmpv6-code 0 --icmpv6-id 513',
    { protocol: 58, original: { ...ends6, icmp: { type: 128, code: 0, id: 513 } }, timeout: 100 },
  ],
  [
    '--orig-vtag --reply-vtag',
    // The tool writes the tags 1 and 2 in the order of bytes of its own machine.
    `${ENDS} -p sctp --sport 4000 --dport 80 --state ESTABLISHED --orig-vtag 1 --reply-vtag 2`,
    { ...udp, protocol: 'sctp', sctp: { state: 'ESTABLISHED', originalTag: 2 ** 24, replyTag: 2 ** 25 } },
  ],
  [
    '--orig-key-src --orig-key-dst --reply-key-src --reply-key-dst',
    `${ENDS} -p gre --orig-key-src 5 --orig-key-dst 6 --reply-key-src 6 --reply-key-dst 5`,
    { protocol: 47, original: { ...ends, sourcePort: 5, destinationPort: 6 }, timeout: 100 },
  ],
];

export const NAME = `${ENDS} -p tcp --sport 4000 --dport 80`;

/** Options that change a flow, `conntrack -U` with them, and the same change for the library. */
export const CHANGED: readonly [options: string, words: string, changes: FlowChanges][] = [
  ['-U -t', `${NAME} -t 500`, { timeout: 500 }],
  ['-m mark', `${NAME} -m 5`, { mark: 5 }],
  ['-m mark/mask', `${NAME} -m 0x1/0x3`, { mark: { value: 1, mask: 3 } }],
  ['-u', `${NAME} -u SEEN_REPLY,ASSURED`, { status: ['SEEN_REPLY', 'ASSURED'] }],
  ['--state of an update', `${NAME} --state TIME_WAIT`, { tcpState: 'TIME_WAIT' }],
  ['--label-add', `${NAME} --label-add two`, { addLabels: [2] }],
  ['--label-del', `${NAME} --label-del one`, { removeLabels: [1] }],
];

/** Flows, of which each selection below selects some. */
export const POPULATION: readonly NewFlow[] = [
  udp,
  { ...udp, protocol: 'tcp', tcpState: 'ESTABLISHED', mark: 5, status: ['ASSURED', 'SEEN_REPLY'] },
  { ...udp, zone: 7 },
  { ...udp, original: { ...original, sourcePort: 4001 }, sourceNat: { address: '10.0.0.2', port: 4444 } },
  {
    ...udp,
    original: { ...original, sourcePort: 4002 },
    destinationNat: { address: '10.0.0.2', port: 8080 },
  },
  { ...udp, original: { ...original, destinationPort: 81 }, zone: 8, replyZone: 0 },
  { ...udp, original: { ...original, destinationPort: 82 }, zone: 0, replyZone: 9 },
  { ...udp, original: { ...original, source: '10.1.2.3' }, labels: [1, 2], mark: 4 },
  { protocol: 1, original: { ...ends, icmp: { type: 8, code: 0, id: 513 } }, timeout: 100 },
  { ...udp, original: { ...ends6, sourcePort: 4000, destinationPort: 80 } },
  { protocol: 58, original: { ...ends6, icmp: { type: 128, code: 0, id: 513 } }, timeout: 100 },
];

/** Options that select flows, `conntrack -L` with them, and the same selection for the library. */
export const SELECTED: readonly [
  options: string,
  words: string,
  selection: FlowSelection | FlowSelection[],
][] = [
  ['-L', '-f ipv4', { family: 4 }],
  ['-f --family', '-f ipv6', { family: 6 }],
  ['-p', '-p tcp', { family: 4, protocol: 'tcp' }],
  ['-s', '-s 10.0.0.9', { family: 4, original: { source: '10.0.0.9' } }],
  [
    '-s network, --mask-src',
    '-s 10.1.0.0 --mask-src 255.255.0.0',
    { family: 4, original: { source: '10.1.0.0/16' } },
  ],
  [
    '-d network, --mask-dst',
    '-d 10.0.0.0 --mask-dst 255.0.0.0',
    { family: 4, original: { destination: '10.0.0.0/8' } },
  ],
  ['-d network of IPv6', '-f ipv6 -d fd00::/16', { family: 6, original: { destination: 'fd00::/16' } }],
  ['-r', '-r 10.0.0.2', { family: 4, reply: { source: '10.0.0.2' } }],
  ['-q', '-q 10.0.0.2', { family: 4, reply: { destination: '10.0.0.2' } }],
  ['--sport', '-p udp --sport 4001', { family: 4, protocol: 'udp', original: { sourcePort: 4001 } }],
  ['--dport', '-p udp --dport 81', { family: 4, protocol: 'udp', original: { destinationPort: 81 } }],
  [
    '--reply-port-src',
    '-p udp --reply-port-src 8080',
    { family: 4, protocol: 'udp', reply: { sourcePort: 8080 } },
  ],
  [
    '--reply-port-dst',
    '-p udp --reply-port-dst 4444',
    { family: 4, protocol: 'udp', reply: { destinationPort: 4444 } },
  ],
  ['-m', '-m 5', { family: 4, mark: 5 }],
  ['-m mark/mask', '-m 0x4/0x4', { family: 4, mark: { value: 4, mask: 4 } }],
  ['-u', '-u ASSURED', { family: 4, status: ['ASSURED'] }],
  ['-u of two', '-u SEEN_REPLY,ASSURED', { family: 4, status: ['SEEN_REPLY', 'ASSURED'] }],
  ['-w', '-w 7', { family: 4, zone: 7, replyZone: 7 }],
  ['--orig-zone', '--orig-zone 8', { family: 4, zone: 8 }],
  ['--reply-zone', '--reply-zone 9', { family: 4, replyZone: 9 }],
  ['-n without an address', '-n', { family: 4, status: ['SRC_NAT'] }],
  ['-n', '-n 10.0.0.2', { family: 4, status: ['SRC_NAT'], reply: { destination: '10.0.0.2' } }],
  ['-g', '-g 10.0.0.2', { family: 4, status: ['DST_NAT'], reply: { source: '10.0.0.2' } }],
  [
    '-j --any-nat',
    '-j 10.0.0.2',
    [
      { family: 4, status: ['SRC_NAT'], reply: { destination: '10.0.0.2' } },
      { family: 4, status: ['DST_NAT'], reply: { source: '10.0.0.2' } },
    ],
  ],
  ['-l --label', '-l one,two', { family: 4, labels: [1, 2] }],
  ['--icmp-type', '-p icmp --icmp-type 8', { family: 4, protocol: 1, original: { icmp: { type: 8 } } }],
  [
    '--icmpv6-id',
    '-f ipv6 -p icmpv6 --icmpv6-id 513',
    { family: 6, protocol: 58, original: { icmp: { id: 513 } } },
  ],
];
