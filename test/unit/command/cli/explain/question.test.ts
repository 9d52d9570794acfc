// The arguments of explain.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readQuestion } from '../../../../../src/command/cli/explain/explain.js';

it('reads an address, port and protocol', () => {
  assert.deepEqual(readQuestion('10.96.0.10:53/udp', undefined), {
    address: '10.96.0.10',
    port: 53,
    protocol: 'udp',
  });
  assert.deepEqual(readQuestion('[FD00::0:1]:80', 'node'), {
    address: 'fd00::1',
    port: 80,
    protocol: 'tcp',
    from: 'node',
  });
  assert.deepEqual(readQuestion('10.96.0.10:80/SCTP', '010.1.2.3').from, '10.1.2.3');
});

for (const [target, from, error] of [
  ['10.96.0.10', undefined, /"10.96.0.10" is not IP:PORT\[\/PROTO\], .*: .*missing port/],
  ['10.96.0.300:80', undefined, /"10.96.0.300" is not an IP address/],
  ['web:80', undefined, /"web" is not an IP address/],
  ['10.96.0.10:0', undefined, /the port must be a number from 1 to 65535; found "0"/],
  ['10.96.0.10:65536', undefined, /found "65536"/],
  ['10.96.0.10:80/icmp', undefined, /the protocol must be tcp, udp or sctp; found "icmp"/],
  ['10.96.0.10:80/', undefined, /found ""/],
  ['10.96.0.10:80', 'here', /--from must be an IP address, pod, node or outside; found "here"/],
  ['10.96.0.10:80', 'fd00::1', /--from must be an IPv4 address, like the destination; found "fd00::1"/],
] as const) {
  it(`refuses ${target}${from === undefined ? '' : ` --from ${from}`}`, () => {
    assert.throws(() => readQuestion(target, from), error);
  });
}
