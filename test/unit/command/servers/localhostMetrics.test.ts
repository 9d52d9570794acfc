// The metrics of node ports on localhost.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  localhostMetrics,
  ofFamily,
  rejectedMetric,
} from '../../../../src/command/servers/kubeProxyMetrics.js';
import { openMetrics } from '../../../../src/command/servers/metrics.js';
import { closeAfter } from '../../../support/closeAfter.js';

const open = () => closeAfter(openMetrics({ version: 'test', kubernetesVersion: 'v1.37.0', startedAt: 0 }));

it("the metrics of node ports on localhost have kube-proxy's names, labels and help once they are shown", async () => {
  const metrics = open();
  const lines = async () =>
    (await metrics.text()).split('\n').filter((line) => line.includes('nftables_localhost_nodeport'));
  assert.deepEqual(await lines(), []);
  const found = [{ family: 4 as const, protocol: 'UDP', packets: 7 }];
  const { listeners, failures } = localhostMetrics(metrics.registry, []);
  rejectedMetric(metrics.registry, async () => found);
  listeners.set(ofFamily(4), 2);
  failures.inc(ofFamily(6));
  const prefix = 'kubeproxy_nftables_localhost_nodeport';
  assert.deepEqual(
    (await lines()).filter((line) => !line.startsWith('# TYPE')),
    [
      `# HELP ${prefix}_listener_creation_failures_total [ALPHA] Number of localhost NodePort userspace proxy listener creation failures.`,
      `${prefix}_listener_creation_failures_total{ip_family="IPv6"} 1`,
      `# HELP ${prefix}_listeners [ALPHA] Number of active localhost NodePort userspace proxy listeners.`,
      `${prefix}_listeners{ip_family="IPv4"} 2`,
      `# HELP ${prefix}_rejected_packets_total [ALPHA] Number of packets rejected on localhost NodePorts. UDP and SCTP are always rejected; TCP is rejected when the localhost NodePort proxy is not running`,
      `${prefix}_rejected_packets_total{ip_family="IPv4",protocol="UDP"} 7`,
    ],
  );
  found.length = 0;
  assert.equal((await lines()).filter((line) => line.includes('rejected_packets_total{')).length, 0);
});
