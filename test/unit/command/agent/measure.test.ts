// Every kernel operation is counted, and its result stays the same.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type KernelMetrics, measure, withTimedListing } from '../../../../src/command/agent/measure.js';
import { FAILURES } from '../../../../src/command/modes/nftables/open.js';
import { openMetrics } from '../../../../src/command/servers/metrics.js';
import type { NftablesOperation } from '../../../../src/kernel/nftables/types.js';
import { FakeKernel, failNth } from '../../../../src/kernel/testing/index.js';

/** A measured fake kernel, and the calls of the metrics as text. */
function setUp() {
  const kernel = new FakeKernel();
  const told: string[] = [];
  const metrics: KernelMetrics = {
    operations: (family, kind, result, count) => told.push(`${family} ${kind} ${result} ${count}`),
    batch: (family, operations, seconds) => {
      assert.ok(seconds >= 0);
      told.push(`${family} batch of ${operations}`);
    },
    countFailures: () => (counter, family) => told.push(`${counter} of IPv${family} failed`),
    restoreFailed: (family) => told.push(`restore of IPv${family} failed`),
    conntrackReconciled: (family) => told.push(`looked at flows of IPv${family}`),
    conntrackDeleted: (family, flows) => told.push(`deleted ${flows} of IPv${family}`),
  };
  const { failedRestores } = measure(kernel, { parts: { ipvs: kernel.ipvs, ipset: kernel.ipset } }, metrics);
  const conntrack = withTimedListing(kernel.conntrack, metrics);
  return { kernel, measuredKernel: { ...kernel, conntrack }, told, failedRestores };
}

const SERVICE = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;
const SETTINGS = { scheduler: 'rr', schedulerFlags: [], onePacket: false };

it('operations of a batch are counted by kind and result', async () => {
  const { measuredKernel, told } = setUp();
  const add = { do: 'addService', service: { ...SERVICE, ...SETTINGS } } as const;
  const results = await measuredKernel.ipvs.apply([add, add, { do: 'deleteService', service: SERVICE }]);
  assert.deepEqual(
    results.map((error) => error?.code),
    [undefined, 'EEXIST', undefined],
  );
  assert.deepEqual(told, [
    'ipvs addService ok 1',
    'ipvs addService EEXIST 1',
    'ipvs deleteService ok 1',
    'ipvs batch of 3',
  ]);
});

it('a batch that fails completely counts as a failure of each operation', async () => {
  const { kernel, measuredKernel, told } = setUp();
  kernel.ipset.close();
  const flush = { do: 'flush', name: 'a' } as const;
  await assert.rejects(measuredKernel.ipset.apply([flush, flush]), { code: 'ERR_CLOSED' });
  assert.deepEqual(told, ['ipset flush ERR_CLOSED 2', 'ipset batch of 2']);
});

it('a failed restore is counted', async () => {
  const { kernel, measuredKernel, told, failedRestores } = setUp();
  kernel.iptables.fault = failNth(1);
  const chain = { family: 6, table: 'nat', name: 'A', rules: [] } as const;
  const [error] = await measuredKernel.iptables.restore(6, [{ do: 'setChain', chain }]);
  assert.deepEqual([failedRestores(), failedRestores()], [new Map([[6, 1]]), new Map()]);
  assert.equal(error?.code, 'ENOMEM');
  assert.deepEqual(told, ['iptables restore ENOMEM 1', 'iptables batch of 1', 'restore of IPv6 failed']);
});

it('deletions of flows are counted, and listings are timed', async () => {
  const { kernel, measuredKernel, told } = setUp();
  const original = { source: 'fd00::9', destination: 'fd00:96::a', sourcePort: 4000, destinationPort: 53 };
  const flows = [4000, 4001].map((sourcePort) =>
    kernel.conntrack.track({ protocol: 'udp', original: { ...original, sourcePort }, reply: original }),
  );
  await measuredKernel.conntrack.list([{ family: 6 }, { family: 4 }, { family: 6 }]).toArray();
  kernel.conntrack.fault = failNth(1);
  await measuredKernel.conntrack.deleteFlows(flows);
  assert.deepEqual(told, [
    'looked at flows of IPv6',
    'looked at flows of IPv4',
    'conntrack deleteFlow ENOMEM 1',
    'conntrack deleteFlow ok 1',
    'conntrack batch of 2',
    'deleted 1 of IPv6',
  ]);
});

it('writes of settings are counted', async () => {
  const { kernel, measuredKernel, told } = setUp();
  await measuredKernel.sysctl.write('net/ipv4/ip_forward', '1');
  kernel.sysctl.fault = failNth(1);
  await assert.rejects(measuredKernel.sysctl.write('net/ipv4/ip_forward', '0'), { code: 'ENOMEM' });
  assert.deepEqual(
    told.filter((line) => !line.includes('batch')),
    ['sysctl write ok 1', 'sysctl write ENOMEM 1'],
  );
});

it('refused transactions of nftables mode are counted as kube-proxy counts failures', async () => {
  const kernel = new FakeKernel();
  const metrics = openMetrics({ version: '0.1.0', kubernetesVersion: 'v1.36.0', startedAt: 0, now: () => 0 });
  try {
    measure(kernel, { parts: { nftables: kernel.nftables }, failures: FAILURES }, metrics);
    const transaction = (family: 'ip' | 'ip6', ...operations: ((of: object) => object)[]) =>
      kernel.nftables.apply(
        operations.map((make) => make({ family, table: 'none', name: 'a' })) as NftablesOperation[],
      );
    const addChain = (chain: object) => ({ do: 'addChain', chain });
    const flush = (chain: object) => ({ do: 'flushChain', chain });
    const remove = (chain: object) => ({ do: 'deleteChain', chain });
    const removeSet = (set: object) => ({ do: 'deleteSet', set });
    await transaction('ip', addChain);
    await transaction('ip', addChain, remove);
    await transaction('ip6', flush, remove, removeSet);
    await kernel.nftables.apply([{ do: 'addTable', table: { family: 'ip', name: 'mine' } }]);
    const lines = (await metrics.text()).split('\n').filter((line) => /_nftables_/.test(line));
    assert.deepEqual(lines, [
      '# HELP kubeproxy_sync_proxy_rules_nftables_cleanup_failures_total [ALPHA] Cumulative proxy nftables cleanup failures',
      '# TYPE kubeproxy_sync_proxy_rules_nftables_cleanup_failures_total counter',
      'kubeproxy_sync_proxy_rules_nftables_cleanup_failures_total{ip_family="IPv6"} 1',
      '# HELP kubeproxy_sync_proxy_rules_nftables_sync_failures_total [ALPHA] Cumulative proxy nftables sync failures',
      '# TYPE kubeproxy_sync_proxy_rules_nftables_sync_failures_total counter',
      'kubeproxy_sync_proxy_rules_nftables_sync_failures_total{ip_family="IPv4"} 2',
    ]);
  } finally {
    metrics.close();
  }
});
