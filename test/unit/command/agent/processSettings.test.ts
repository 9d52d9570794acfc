// Limits and timeouts of connection tracking.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conntrackMax, conntrackSysctls, isWritten } from '../../../../src/command/agent/processSettings.js';

const HOUR = 3_600_000;

describe('the limit of flows', () => {
  const cases = [
    { maxPerCore: 32_768, min: 131_072, cores: 2, max: 131_072 },
    { maxPerCore: 32_768, min: 131_072, cores: 32, max: 1_048_576 },
    { maxPerCore: 32_768, min: 131_072, cores: 33, max: 1_048_576 },
    { maxPerCore: 32_768, min: 131_072, cores: 256, max: 1_048_576 },
    { maxPerCore: 32_768, min: 2_000_000, cores: 64, max: 2_000_000 },
    { maxPerCore: 2_000_000, min: 0, cores: 1, max: 1_048_576 },
    { maxPerCore: 0, min: 131_072, cores: 64, max: undefined },
    { maxPerCore: 1000, min: 0, cores: 3, max: 3000 },
  ];
  for (const { cores, max, ...settings } of cases) {
    it(`is ${max} with ${settings.maxPerCore} for each of ${cores} CPUs, and at least ${settings.min}`, () => {
      assert.equal(conntrackMax(settings, cores), max);
    });
  }
});

it('the limit of flows is never lowered; other settings are written if they differ', () => {
  const max = 'net/netfilter/nf_conntrack_max';
  const timeout = 'net/netfilter/nf_conntrack_udp_timeout';
  const cases: [name: string, current: string | undefined, wanted: string, written: boolean][] = [
    [max, '131072', '262144', true],
    [max, '262144', '262144', false],
    [max, '1048576', '262144', false],
    [max, '99999', '131072', true],
    [max, undefined, '262144', true],
    [max, '', '262144', true],
    [timeout, '30', '2', true],
    [timeout, '2', '30', true],
    [timeout, '30', '30', false],
  ];
  for (const [name, current, wanted, written] of cases)
    assert.equal(isWritten(name, current, wanted), written, `${name} ${current} ${wanted}`);
});

it('timeouts are in whole seconds, and 0 keeps the value of the kernel', () => {
  const settings = {
    maxPerCore: 0,
    min: 0,
    tcpEstablishedTimeout: 24 * HOUR,
    tcpCloseWaitTimeout: HOUR,
    tcpBeLiberal: true,
    udpTimeout: 2500,
    udpStreamTimeout: 0,
  };
  assert.deepEqual(conntrackSysctls(settings), [
    ['net/netfilter/nf_conntrack_tcp_timeout_established', '86400'],
    ['net/netfilter/nf_conntrack_tcp_timeout_close_wait', '3600'],
    ['net/netfilter/nf_conntrack_tcp_be_liberal', '1'],
    ['net/netfilter/nf_conntrack_udp_timeout', '2'],
  ]);
});
