// Every type of set with every option of `ipset help TYPE`: as values of the library, and as the tool reads and prints them.
import type { SetType } from '../../../src/kernel/ipset/types.js';
import { NETWORK_ROWS } from './ipsetNetworks.js';
import {
  ALL,
  ALL_TEXT,
  extended,
  FIXED_TEXT,
  HASH,
  HASH_ALL,
  HASH_TEXT,
  MAC,
  MAC_TEXT,
  ping,
  ping6,
  type SetRow,
  SIX,
  SIX_TEXT,
  SIZES,
  tcp80,
  WITH_ALL,
} from './ipsetRows.js';

/** The syntax of an entry in `ipset help TYPE`. Each notation in it is a row of {@link ROWS}. */
export const SYNTAX: Readonly<Record<SetType, string>> = {
  'bitmap:ip': 'IP|IP/CIDR|FROM-TO',
  'bitmap:ip,mac': 'IP[,MAC]',
  'bitmap:port': '[PROTO:]PORT|FROM-TO',
  'hash:ip': 'IP',
  'hash:mac': 'MAC',
  'hash:ip,mac': 'IP,MAC',
  'hash:net': 'IP[/CIDR]',
  'hash:net,net': 'IP[/CIDR]|FROM-TO,IP[/CIDR]|FROM-TO',
  'hash:ip,port': 'IP,[PROTO:]PORT',
  'hash:net,port': 'IP[/CIDR]|FROM-TO,[PROTO:]PORT',
  'hash:ip,port,ip': 'IP,[PROTO:]PORT,IP',
  'hash:ip,port,net': 'IP,[PROTO:]PORT,IP[/CIDR]',
  'hash:ip,mark': 'IP,MARK',
  'hash:net,port,net': 'IP[/CIDR],[PROTO:]PORT,IP[/CIDR]',
  'hash:net,iface': 'IP[/CIDR]|FROM-TO,[physdev:]IFACE',
  'list:set': 'NAME [before|after NAME]',
};

/** The rows of all types; the name of a set is `s` and its place in the list. */
export const ROWS: readonly SetRow[] = [
  {
    set: { type: 'bitmap:ip', range: ['10.0.0.0', '10.0.0.255'], ...WITH_ALL },
    text: `bitmap:ip range 10.0.0.0-10.0.0.255 ${FIXED_TEXT}`,
    asked: `bitmap:ip range 10.0.0.0/24 ${FIXED_TEXT}`,
    entries: extended({ address: '10.0.0.1' }, '10.0.0.1', { address: '10.0.0.2' }, '10.0.0.2'),
  },
  {
    set: { type: 'bitmap:ip', range: ['10.0.0.0', '10.0.255.255'], netmask: 24 },
    text: 'bitmap:ip range 10.0.0.0-10.0.255.255 netmask 24',
    entries: [
      [{ address: '10.0.1.0' }, '10.0.1.0'],
      [{ address: '10.0.4.0', prefix: 23 }, '10.0.4.0/23', ['10.0.4.0', '10.0.5.0']],
      [{ address: '10.0.8.0', lastAddress: '10.0.9.0' }, '10.0.8.0-10.0.9.0', ['10.0.8.0', '10.0.9.0']],
    ],
  },
  {
    set: { type: 'bitmap:ip,mac', range: ['10.0.0.0', '10.0.0.255'], ...WITH_ALL },
    text: `bitmap:ip,mac range 10.0.0.0-10.0.0.255 ${FIXED_TEXT}`,
    entries: [
      ...extended(
        { address: '10.0.0.1', mac: MAC },
        `10.0.0.1,${MAC_TEXT}`,
        { address: '10.0.0.2', mac: 'ff:02:03:04:05:06' },
        '10.0.0.2,FF:02:03:04:05:06',
      ),
    ],
  },
  {
    set: { type: 'bitmap:ip,mac', range: ['10.0.0.0', '10.0.0.3'] },
    text: 'bitmap:ip,mac range 10.0.0.0-10.0.0.3',
    entries: [[{ address: '10.0.0.3' }, '10.0.0.3']],
  },
  {
    set: { type: 'bitmap:port', range: [1, 1000], ...WITH_ALL },
    text: `bitmap:port range 1-1000 ${FIXED_TEXT}`,
    asked: `bitmap:port range tcp:1-1000 ${FIXED_TEXT}`,
    entries: extended({ port: 80 }, '80', { port: 81 }, '81'),
  },
  {
    set: { type: 'bitmap:port', range: [0, 65535] },
    text: 'bitmap:port range 0-65535',
    entries: [
      [{ port: 100, lastPort: 102 }, '100-102', ['100', '101', '102']],
      [{ port: 53 }, 'udp:53', ['53']],
    ],
  },
  {
    set: { type: 'hash:ip', ...HASH_ALL },
    text: `hash:ip ${HASH_TEXT} ${ALL_TEXT}`,
    entries: extended({ address: '10.0.0.1' }, '10.0.0.1', { address: '10.0.0.2' }, '10.0.0.2'),
  },
  {
    set: { type: 'hash:ip', ...HASH, netmask: 24 },
    text: `hash:ip ${HASH_TEXT} netmask 24`,
    entries: [
      [{ address: '10.0.1.9' }, '10.0.1.9', ['10.0.1.0']],
      [{ address: '10.0.4.0', lastAddress: '10.0.5.0' }, '10.0.4.0-10.0.5.0', ['10.0.4.0', '10.0.5.0']],
    ],
  },
  {
    set: { type: 'hash:ip', ...HASH },
    text: `hash:ip ${HASH_TEXT}`,
    asked: 'hash:ip -4 hashsize 64 maxelem 1000',
    entries: [[{ address: '10.0.0.4', prefix: 31 }, '10.0.0.4/31', ['10.0.0.4', '10.0.0.5']]],
  },
  {
    set: { type: 'hash:ip', ...HASH, bitmask: '255.0.255.0' },
    text: `hash:ip ${HASH_TEXT} bitmask 255.0.255.0`,
    revision: 6,
    entries: [[{ address: '10.1.2.3' }, '10.1.2.3', ['10.0.2.0']]],
  },
  {
    set: { type: 'hash:ip', ...SIX, netmask: 64 },
    text: `hash:ip ${SIX_TEXT} netmask 64`,
    asked: 'hash:ip -6 netmask 64',
    entries: [[{ address: 'fd00::1' }, 'fd00::1', ['fd00::']]],
  },
  {
    set: { type: 'hash:mac', ...SIZES, ...ALL },
    text: `hash:mac hashsize 64 maxelem 1000 ${ALL_TEXT}`,
    entries: extended({ mac: MAC }, MAC_TEXT, { mac: 'ff:02:03:04:05:06' }, 'FF:02:03:04:05:06'),
  },
  {
    set: { type: 'hash:ip,mac', ...HASH_ALL },
    text: `hash:ip,mac ${HASH_TEXT} ${ALL_TEXT}`,
    entries: extended(
      { address: '10.0.0.1', mac: MAC },
      `10.0.0.1,${MAC_TEXT}`,
      { address: '10.0.0.2', mac: MAC },
      `10.0.0.2,${MAC_TEXT}`,
    ),
  },
  {
    set: { type: 'hash:ip,mac', ...SIX },
    text: `hash:ip,mac ${SIX_TEXT}`,
    entries: [[{ address: 'fd00::1', mac: MAC }, `fd00::1,${MAC_TEXT}`]],
  },
  {
    set: { type: 'hash:ip,port', ...HASH_ALL },
    text: `hash:ip,port ${HASH_TEXT} ${ALL_TEXT}`,
    entries: extended(
      { address: '10.0.0.1', ...tcp80 },
      '10.0.0.1,tcp:80',
      { address: '10.0.0.1', ...ping },
      '10.0.0.1,icmp:echo-request',
    ),
  },
  {
    set: { type: 'hash:ip,port', ...HASH },
    text: `hash:ip,port ${HASH_TEXT}`,
    entries: [
      [{ address: '10.0.0.1', protocol: 'udp', port: 53 }, '10.0.0.1,udp:53'],
      [{ address: '10.0.0.1', protocol: 'sctp', port: 9 }, '10.0.0.1,sctp:9'],
      [{ address: '10.0.0.1', protocol: 136, port: 9 }, '10.0.0.1,udplite:9'],
      [{ address: '10.0.0.1', protocol: 47 }, '10.0.0.1,gre:0'],
      [{ address: '10.0.0.1', protocol: 1, icmp: { type: 8, code: 7 } }, '10.0.0.1,icmp:8/7'],
      [
        { address: '10.0.0.2', lastAddress: '10.0.0.3', ...tcp80, lastPort: 81 },
        '10.0.0.2-10.0.0.3,80-81',
        ['10.0.0.2,tcp:80', '10.0.0.2,tcp:81', '10.0.0.3,tcp:80', '10.0.0.3,tcp:81'],
      ],
      [
        { address: '10.0.0.4', prefix: 31, ...tcp80 },
        '10.0.0.4/31,tcp:80',
        ['10.0.0.4,tcp:80', '10.0.0.5,tcp:80'],
      ],
    ],
  },
  {
    set: { type: 'hash:ip,port', ...HASH, netmask: 24 },
    text: `hash:ip,port ${HASH_TEXT} netmask 24`,
    revision: 7,
    entries: [[{ address: '10.0.1.9', ...tcp80 }, '10.0.1.9,tcp:80', ['10.0.1.0,tcp:80']]],
  },
  {
    set: { type: 'hash:ip,port', ...HASH, bitmask: '255.0.255.0' },
    text: `hash:ip,port ${HASH_TEXT} bitmask 255.0.255.0`,
    revision: 7,
    entries: [[{ address: '10.1.1.9', ...tcp80 }, '10.1.1.9,tcp:80', ['10.0.1.0,tcp:80']]],
  },
  {
    set: { type: 'hash:ip,port', ...SIX },
    text: `hash:ip,port ${SIX_TEXT}`,
    entries: [
      [
        { address: 'fd00::1', ...tcp80, lastPort: 81 },
        'fd00::1,tcp:80-81',
        ['fd00::1,tcp:80', 'fd00::1,tcp:81'],
      ],
      [{ address: 'fd00::1', ...ping6 }, 'fd00::1,icmpv6:ping', ['fd00::1,ipv6-icmp:echo-request']],
    ],
  },
  {
    set: { type: 'hash:ip,port,ip', ...HASH_ALL },
    text: `hash:ip,port,ip ${HASH_TEXT} ${ALL_TEXT}`,
    entries: extended(
      { address: '10.0.0.1', ...tcp80, address2: '10.0.0.2' },
      '10.0.0.1,tcp:80,10.0.0.2',
      { address: '10.0.0.1', ...ping, address2: '10.0.0.2' },
      '10.0.0.1,icmp:echo-request,10.0.0.2',
    ),
  },
  {
    set: { type: 'hash:ip,port,ip', ...HASH },
    text: `hash:ip,port,ip ${HASH_TEXT}`,
    entries: [
      [
        { address: '10.0.0.0', prefix: 31, ...tcp80, lastPort: 81, address2: '10.0.0.9' },
        '10.0.0.0/31,80-81,10.0.0.9',
        [
          ...['10.0.0.0,tcp:80,10.0.0.9', '10.0.0.0,tcp:81,10.0.0.9'],
          ...['10.0.0.1,tcp:80,10.0.0.9', '10.0.0.1,tcp:81,10.0.0.9'],
        ],
      ],
    ],
  },
  {
    set: { type: 'hash:ip,port,ip', ...SIX },
    text: `hash:ip,port,ip ${SIX_TEXT}`,
    entries: [[{ address: 'fd00::1', ...tcp80, address2: 'fd00::2' }, 'fd00::1,tcp:80,fd00::2']],
  },
  {
    set: { type: 'hash:ip,mark', ...HASH_ALL, markMask: 0xffff },
    text: `hash:ip,mark family inet markmask 0x0000ffff hashsize 64 maxelem 1000 ${ALL_TEXT}`,
    entries: extended(
      { address: '10.0.0.1', mark: 0x63 },
      '10.0.0.1,0x00000063',
      { address: '10.0.0.2', mark: 0 },
      '10.0.0.2,0x00000000',
    ),
  },
  {
    set: { type: 'hash:ip,mark', ...SIX, markMask: 0xffff_ffff },
    text: 'hash:ip,mark family inet6 markmask 0xffffffff hashsize 1024 maxelem 65536',
    entries: [[{ address: 'fd00::1', mark: 0xffff_ffff }, 'fd00::1,0xffffffff']],
  },
  {
    set: { type: 'hash:ip,mark', ...HASH, markMask: 0xff00 },
    text: 'hash:ip,mark family inet markmask 0x0000ff00 hashsize 64 maxelem 1000',
    entries: [
      [
        { address: '10.0.0.2', lastAddress: '10.0.0.3', mark: 0x1234 },
        '10.0.0.2-10.0.0.3,0x1234',
        ['10.0.0.2,0x00001200', '10.0.0.3,0x00001200'],
      ],
    ],
  },
  {
    set: { type: 'list:set', size: 16, ...WITH_ALL },
    text: `list:set size 16 ${FIXED_TEXT}`,
    entries: extended({ set: 's0' }, 's0', { set: 's1' }, 's1'),
  },
  {
    set: { type: 'list:set', size: 8 },
    text: 'list:set size 8',
    entries: [
      [{ set: 's0' }, 's0'],
      [{ set: 's1', before: 's0' }, 's1 before s0', ['s1']],
      [{ set: 's2', after: 's1' }, 's2 after s1', ['s2']],
    ],
  },
  ...NETWORK_ROWS,
];
