import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SetEntry } from '../../../../src/kernel/ipset/types.js';
import { formatEntry } from '../../../../src/kernel/ipset/values/entry.js';

const cases: readonly (readonly [type: string, entry: SetEntry, text: string])[] = [
  ['hash:ip', { address: '10.0.0.1' }, '10.0.0.1'],
  ['hash:ip', { address: 'fd00::1' }, 'fd00::1'],
  ['hash:net', { address: '10.0.0.0', prefix: 8 }, '10.0.0.0/8'],
  ['hash:net', { address: '10.0.0.1', prefix: 32 }, '10.0.0.1'],
  ['hash:net', { address: 'fd00::', prefix: 32 }, 'fd00::/32'],
  ['hash:net', { address: 'fd00::1', prefix: 128 }, 'fd00::1'],
  ['hash:ip,port', { address: '10.96.0.10', protocol: 'udp', port: 53 }, '10.96.0.10,udp:53'],
  ['hash:ip,port', { address: 'fd00::1', protocol: 'sctp', port: 0 }, 'fd00::1,sctp:0'],
  [
    'hash:ip,port,ip',
    { address: '10.0.0.1', protocol: 'tcp', port: 80, address2: '10.0.0.1' },
    '10.0.0.1,tcp:80,10.0.0.1',
  ],
  [
    'hash:ip,port,net',
    { address: '10.0.0.1', protocol: 'tcp', port: 80, address2: '10.0.0.0', prefix2: 8 },
    '10.0.0.1,tcp:80,10.0.0.0/8',
  ],
  [
    'hash:ip,port,net',
    { address: '10.0.0.1', protocol: 'tcp', port: 80, address2: '10.1.2.3', prefix2: 32 },
    '10.0.0.1,tcp:80,10.1.2.3',
  ],
  ['hash:net', { address: '10.1.0.0', prefix: 16, noMatch: true }, '10.1.0.0/16 nomatch'],
  ['bitmap:port', { port: 30080 }, '30080'],
];

for (const [type, entry, text] of cases) {
  test(`an entry of ${type} is written ${text}`, () => {
    assert.equal(formatEntry(entry), text);
  });
}
