// The types of set whose entries have networks, with every option: rows of the table.
import {
  ALL_TEXT,
  exception,
  extended,
  HASH,
  HASH_ALL,
  HASH_TEXT,
  ping,
  type SetRow,
  SIX,
  SIX_TEXT,
  tcp80,
} from './ipsetRows.js';

/** The rows of the types with networks. */
export const NETWORK_ROWS: readonly SetRow[] = [
  {
    set: { type: 'hash:net', ...HASH_ALL },
    text: `hash:net ${HASH_TEXT} ${ALL_TEXT}`,
    entries: [
      ...extended({ address: '10.0.0.0', prefix: 8 }, '10.0.0.0/8', { address: '11.0.0.1' }, '11.0.0.1'),
      exception({ address: '10.1.0.0', prefix: 16 }, '10.1.0.0/16'),
    ],
  },
  {
    set: { type: 'hash:net', ...HASH },
    text: `hash:net ${HASH_TEXT}`,
    entries: [
      [
        { address: '10.0.0.1', lastAddress: '10.0.0.4' },
        '10.0.0.1-10.0.0.4',
        ['10.0.0.1', '10.0.0.2/31', '10.0.0.4'],
      ],
    ],
  },
  {
    set: { type: 'hash:net', ...SIX },
    text: `hash:net ${SIX_TEXT}`,
    entries: [
      [{ address: 'fd00::', prefix: 16 }, 'fd00::/16'],
      [{ address: 'fd01::1' }, 'fd01::1'],
    ],
  },
  {
    set: { type: 'hash:net,net', ...HASH_ALL },
    text: `hash:net,net ${HASH_TEXT} ${ALL_TEXT}`,
    entries: [
      ...extended(
        { address: '10.0.0.0', prefix: 8, address2: '10.1.0.0', prefix2: 16 },
        '10.0.0.0/8,10.1.0.0/16',
        { address: '10.0.0.1', address2: '10.0.0.2' },
        '10.0.0.1,10.0.0.2',
      ),
      exception(
        { address: '10.2.0.0', prefix: 16, address2: '10.1.0.0', prefix2: 16 },
        '10.2.0.0/16,10.1.0.0/16',
      ),
    ],
  },
  {
    set: { type: 'hash:net,net', ...HASH },
    text: `hash:net,net ${HASH_TEXT}`,
    entries: [
      [
        { address: '10.0.0.0', lastAddress: '10.0.0.1', address2: '10.1.0.2', lastAddress2: '10.1.0.4' },
        '10.0.0.0-10.0.0.1,10.1.0.2-10.1.0.4',
        ['10.0.0.0/31,10.1.0.2/31', '10.0.0.0/31,10.1.0.4'],
      ],
    ],
  },
  {
    set: { type: 'hash:net,net', ...HASH, netmask: 24 },
    text: `hash:net,net ${HASH_TEXT} netmask 24`,
    revision: 4,
    entries: [[{ address: '10.0.1.9', address2: '10.0.2.9' }, '10.0.1.9,10.0.2.9', ['10.0.1.0,10.0.2.0']]],
  },
  {
    set: { type: 'hash:net,net', ...HASH, bitmask: '255.0.255.0' },
    text: `hash:net,net ${HASH_TEXT} bitmask 255.0.255.0`,
    revision: 4,
    entries: [[{ address: '10.1.1.9', address2: '10.1.2.9' }, '10.1.1.9,10.1.2.9', ['10.0.1.0,10.0.2.0']]],
  },
  {
    set: { type: 'hash:net,net', ...SIX },
    text: `hash:net,net ${SIX_TEXT}`,
    entries: [[{ address: 'fd00::', prefix: 16, address2: 'fd01::1' }, 'fd00::/16,fd01::1']],
  },
  {
    set: { type: 'hash:net,port', ...HASH_ALL },
    text: `hash:net,port ${HASH_TEXT} ${ALL_TEXT}`,
    entries: [
      ...extended(
        { address: '10.0.0.0', prefix: 8, ...tcp80 },
        '10.0.0.0/8,tcp:80',
        { address: '10.0.0.1', ...ping },
        '10.0.0.1,icmp:echo-request',
      ),
      exception({ address: '10.1.0.0', prefix: 16, ...tcp80 }, '10.1.0.0/16,tcp:80'),
    ],
  },
  {
    set: { type: 'hash:net,port', ...HASH },
    text: `hash:net,port ${HASH_TEXT}`,
    entries: [
      [
        { address: '10.0.0.0', lastAddress: '10.0.0.1', ...tcp80, lastPort: 81 },
        '10.0.0.0-10.0.0.1,tcp:80-81',
        ['10.0.0.0/31,tcp:80', '10.0.0.0/31,tcp:81'],
      ],
    ],
  },
  {
    set: { type: 'hash:net,port', ...SIX },
    text: `hash:net,port ${SIX_TEXT}`,
    entries: [[{ address: 'fd00::', prefix: 16, ...tcp80 }, 'fd00::/16,tcp:80']],
  },
  {
    set: { type: 'hash:ip,port,net', ...HASH_ALL },
    text: `hash:ip,port,net ${HASH_TEXT} ${ALL_TEXT}`,
    entries: [
      ...extended(
        { address: '10.0.0.1', ...tcp80, address2: '10.0.0.0', prefix2: 8 },
        '10.0.0.1,tcp:80,10.0.0.0/8',
        { address: '10.0.0.1', ...ping, address2: '10.0.0.2' },
        '10.0.0.1,icmp:echo-request,10.0.0.2',
      ),
      exception(
        { address: '10.0.0.1', ...tcp80, address2: '10.1.0.0', prefix2: 16 },
        '10.0.0.1,tcp:80,10.1.0.0/16',
      ),
    ],
  },
  {
    set: { type: 'hash:ip,port,net', ...HASH },
    text: `hash:ip,port,net ${HASH_TEXT}`,
    entries: [
      [
        { address: '10.0.0.0', prefix: 31, ...tcp80, address2: '10.1.0.2', lastAddress2: '10.1.0.4' },
        '10.0.0.0/31,tcp:80,10.1.0.2-10.1.0.4',
        [
          ...['10.0.0.0,tcp:80,10.1.0.2/31', '10.0.0.0,tcp:80,10.1.0.4'],
          ...['10.0.0.1,tcp:80,10.1.0.2/31', '10.0.0.1,tcp:80,10.1.0.4'],
        ],
      ],
    ],
  },
  {
    set: { type: 'hash:ip,port,net', ...SIX },
    text: `hash:ip,port,net ${SIX_TEXT}`,
    entries: [
      [{ address: 'fd00::1', ...tcp80, address2: 'fd00::', prefix2: 16 }, 'fd00::1,tcp:80,fd00::/16'],
    ],
  },
  {
    set: { type: 'hash:net,port,net', ...HASH_ALL },
    text: `hash:net,port,net ${HASH_TEXT} ${ALL_TEXT}`,
    entries: [
      ...extended(
        { address: '10.0.0.0', prefix: 8, ...tcp80, address2: '10.1.0.0', prefix2: 16 },
        '10.0.0.0/8,tcp:80,10.1.0.0/16',
        { address: '10.0.0.1', ...ping, address2: '10.0.0.2' },
        '10.0.0.1,icmp:echo-request,10.0.0.2',
      ),
      exception(
        { address: '10.2.0.0', prefix: 16, ...tcp80, address2: '10.1.0.0', prefix2: 16 },
        '10.2.0.0/16,tcp:80,10.1.0.0/16',
      ),
    ],
  },
  {
    set: { type: 'hash:net,port,net', ...HASH },
    text: `hash:net,port,net ${HASH_TEXT}`,
    entries: [
      [
        {
          address: '10.0.0.0',
          lastAddress: '10.0.0.1',
          ...tcp80,
          lastPort: 81,
          address2: '10.1.0.0',
          prefix2: 16,
        },
        '10.0.0.0-10.0.0.1,tcp:80-81,10.1.0.0/16',
        ['10.0.0.0/31,tcp:80,10.1.0.0/16', '10.0.0.0/31,tcp:81,10.1.0.0/16'],
      ],
      [{ address: '0.0.0.0', prefix: 0, ...tcp80, address2: '10.1.0.1' }, '0.0.0.0/0,tcp:80,10.1.0.1'],
    ],
  },
  {
    set: { type: 'hash:net,port,net', ...SIX },
    text: `hash:net,port,net ${SIX_TEXT}`,
    entries: [
      [
        { address: 'fd00::', prefix: 16, ...tcp80, address2: 'fd01::', prefix2: 16 },
        'fd00::/16,tcp:80,fd01::/16',
      ],
    ],
  },
  {
    set: { type: 'hash:net,iface', ...HASH_ALL },
    text: `hash:net,iface ${HASH_TEXT} ${ALL_TEXT}`,
    entries: [
      ...extended(
        { address: '10.0.0.0', prefix: 8, interface: 'eth0' },
        '10.0.0.0/8,eth0',
        { address: '10.0.0.1', interface: 'eth0', physdev: true },
        '10.0.0.1,physdev:eth0',
      ),
      exception({ address: '10.1.0.0', prefix: 16, interface: 'eth0' }, '10.1.0.0/16,eth0'),
    ],
  },
  {
    set: { type: 'hash:net,iface', ...HASH },
    text: `hash:net,iface ${HASH_TEXT}`,
    revision: 7,
    entries: [
      [{ address: '10.3.0.0', prefix: 16, interface: 'veth', wildcard: true }, '10.3.0.0/16,veth wildcard'],
      [
        { address: '10.0.0.0', lastAddress: '10.0.0.1', interface: 'eth0' },
        '10.0.0.0-10.0.0.1,eth0',
        ['10.0.0.0/31,eth0'],
      ],
      [{ address: '0.0.0.0', prefix: 0, interface: 'lo' }, '0.0.0.0/0,lo'],
    ],
  },
  {
    set: { type: 'hash:net,iface', ...SIX },
    text: `hash:net,iface ${SIX_TEXT}`,
    entries: [[{ address: 'fd00::', prefix: 16, interface: 'eth0' }, 'fd00::/16,eth0']],
  },
];
