// Every kernel operation is counted, and its result stays the same.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { measure, withTimedListing } from '../../../../src/command/agent/measure.js';
import { FAILURES } from '../../../../src/command/modes/nftablesRules/failures.js';
import { openMetrics } from '../../../../src/command/servers/metrics.js';
import type { NftablesOperation } from '../../../../src/kernel/nftables/types.js';
import { FakeKernel, failNth } from '../../../../src/kernel/testing/index.js';
import { closeAfter } from '../../../support/closeAfter.js';

/** A measured fake kernel, and the metrics of operations, restores and flows that are not 0. */
function setUp() {
  const kernel = new FakeKernel();
  const metrics = closeAfter(openMetrics({ version: '0', kubernetesVersion: 'v1.36.0', startedAt: 0 }));
  const mode = { families: [4, 6], metrics: { parts: { ipvs: kernel.ipvs, ipset: kernel.ipset } } } as const;
  const { failedRestores } = measure(kernel, mode, metrics);
  const conntrack = withTimedListing(kernel.conntrack, metrics);
  const told = async () =>
    (await metrics.text())
      .split('\n')
      .flatMap((line) => TOLD.exec(line)?.[1] ?? [])
      .sort();
  return { kernel, measuredKernel: { ...kernel, conntrack }, told, failedRestores };
}

const TOLD =
  /^\w+?_((?:operations_total|batch_operations_sum|restore_failures_total|sync_duration_seconds_count|deleted_entries_total)\{.*)$/;

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
  assert.deepEqual(
    await told(),
    [
      'batch_operations_sum{family="ipvs"} 3',
      'operations_total{family="ipvs",kind="addService",result="ok"} 1',
      'operations_total{family="ipvs",kind="addService",result="EEXIST"} 1',
      'operations_total{family="ipvs",kind="deleteService",result="ok"} 1',
    ].sort(),
  );
});

it('a batch that fails completely counts as a failure of each operation', async () => {
  const { kernel, measuredKernel, told } = setUp();
  kernel.ipset.close();
  const flush = { do: 'flush', name: 'a' } as const;
  await assert.rejects(measuredKernel.ipset.apply([flush, flush]), { code: 'ERR_CLOSED' });
  assert.deepEqual(
    await told(),
    [
      'batch_operations_sum{family="ipset"} 2',
      'operations_total{family="ipset",kind="flush",result="ERR_CLOSED"} 2',
    ].sort(),
  );
});

it('a failed restore is counted', async () => {
  const { kernel, measuredKernel, told, failedRestores } = setUp();
  kernel.iptables.fault = failNth(1);
  const chain = { family: 6, table: 'nat', name: 'A', rules: [] } as const;
  const [error] = await measuredKernel.iptables.restore(6, [{ do: 'setChain', chain }]);
  assert.deepEqual([failedRestores(), failedRestores()], [new Map([[6, 1]]), new Map()]);
  assert.equal(error?.code, 'ENOMEM');
  assert.deepEqual(
    await told(),
    [
      'operations_total{family="iptables",kind="restore",result="ENOMEM"} 1',
      'batch_operations_sum{family="iptables"} 1',
      'restore_failures_total{ip_family="IPv6"} 1',
    ].sort(),
  );
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
  assert.deepEqual(
    await told(),
    [
      'operations_total{family="conntrack",kind="deleteFlow",result="ENOMEM"} 1',
      'operations_total{family="conntrack",kind="deleteFlow",result="ok"} 1',
      'batch_operations_sum{family="conntrack"} 2',
      'sync_duration_seconds_count{ip_family="IPv6"} 1',
      'sync_duration_seconds_count{ip_family="IPv4"} 1',
      'deleted_entries_total{ip_family="IPv6"} 1',
    ].sort(),
  );
});

it('writes of settings are counted', async () => {
  const { kernel, measuredKernel, told } = setUp();
  await measuredKernel.sysctl.write('net/ipv4/ip_forward', '1');
  kernel.sysctl.fault = failNth(1);
  await assert.rejects(measuredKernel.sysctl.write('net/ipv4/ip_forward', '0'), { code: 'ENOMEM' });
  assert.deepEqual(
    (await told()).filter((line) => line.startsWith('operations')),
    ['ENOMEM', 'ok'].map((result) => `operations_total{family="sysctl",kind="write",result="${result}"} 1`),
  );
});

it('refused transactions of nftables mode are counted as kube-proxy counts failures', async () => {
  const kernel = new FakeKernel();
  const metrics = openMetrics({ version: '0.1.0', kubernetesVersion: 'v1.36.0', startedAt: 0 });
  try {
    // Those of IPVS, with rules of nf_tables, are counted apart.
    const parts = { nftables: kernel.nftables, ipvs: kernel.ipvs };
    measure(kernel, { families: [], metrics: { parts, failures: FAILURES } }, metrics);
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
    const service = { protocol: 'tcp', address: '10.96.0.1', port: 80 } as const;
    const [refused] = await kernel.ipvs.apply([{ do: 'deleteService', service }]);
    assert.ok(refused);
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
