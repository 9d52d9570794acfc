// Node ports on localhost in an agent: listeners follow the passes, with their log lines and metrics.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { serveLocalhostNodePorts, sharesOf } from '../../../../src/command/agent/localhostNodePorts.js';
import { defaultConfiguration } from '../../../../src/command/config/configuration.js';
import { LocalhostPorts } from '../../../../src/command/localhostPorts/localhostPorts.js';
import type { LocalhostNodePorts } from '../../../../src/command/modes/shared/definition.js';
import { openMetrics } from '../../../../src/command/servers/metrics.js';
import type { SyncSummary } from '../../../../src/proxy/reconcile/summary.js';
import { closeAfter } from '../../../support/closeAfter.js';
import { freePort } from '../../../support/freePort.js';
import {
  dial,
  eventually,
  inputOf,
  isRefused,
  received,
  serve,
} from '../../../support/localhostPorts/ports.js';

const SUMMARY = {} as SyncSummary;

function setUp(more: Partial<LocalhostNodePorts> = {}, openFiles = 1_048_576) {
  const lines: string[] = [];
  const metrics = closeAfter(openMetrics({ version: 'test', kubernetesVersion: 'v1.37.0', startedAt: 0 }));
  const localhost: LocalhostNodePorts = {
    families: [4],
    hasMetrics: true,
    readRejected: async () => [{ family: 4, protocol: 'UDP', packets: 3 }],
    ...more,
  };
  const served = serveLocalhostNodePorts({
    localhost,
    expected: [],
    open: (...given) => new LocalhostPorts(...given),
    configuration: defaultConfiguration(),
    openFiles,
    log: pino({ base: null, level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    metrics,
  });
  closeAfter(served);
  const shown = async () =>
    (await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith('kubeproxy_nftables_localhost'))
      .map((line) => line.replace('kubeproxy_nftables_localhost_nodeport_', ''));
  return { served, lines, shown };
}

describe('node ports on localhost', () => {
  it('are opened after the pass that planned them, and closed with the agent', async () => {
    const { served, lines, shown } = setUp();
    const server = await serve((socket) => socket.end('a'));
    const nodePort = await freePort();
    served.listener.planned?.('default/web', inputOf({ nodePort, endpoints: [`127.0.0.1:${server.port}`] }));
    assert.equal(await isRefused(nodePort), true);
    served.listener.synced?.(SUMMARY, 0);
    await eventually('it is open', () =>
      lines.some((line) => line.includes('Created localhost nodeport proxy')),
    );
    assert.equal(await received(await dial(nodePort)), 'a');
    assert.deepEqual(await shown(), [
      'listeners{ip_family="IPv4"} 1',
      'rejected_packets_total{ip_family="IPv4",protocol="UDP"} 3',
    ]);
    await served.close();
    assert.equal(await isRefused(nodePort), true);
    assert.ok(lines.some((line) => line.includes('Removing localhost nodeport proxy')));
  });

  it('leave open files for health and metrics: those beyond are one error, until others are gone', async () => {
    const { served, lines, shown } = setUp({}, 8);
    const [warning] = lines.splice(0).map((line) => JSON.parse(line));
    assert.deepEqual(
      [warning.level, warning.limit, warning.value, warning.mostListeners],
      [40, 'RLIMIT_NOFILE', 8, 3],
    );
    const server = await serve((socket) => socket.end('a'));
    const endpoints = [`127.0.0.1:${server.port}`];
    const ports = await Promise.all(Array.from({ length: 9 }, () => freePort()));
    const want = async (wanted: readonly number[], message: string) => {
      for (const nodePort of ports) {
        const input = wanted.includes(nodePort) ? inputOf({ nodePort, endpoints }) : undefined;
        served.listener.planned?.(`default/web-${nodePort}`, input);
      }
      served.listener.synced?.(SUMMARY, 0);
      await eventually(message, () => lines.some((line) => line.includes(message)));
    };
    await want(ports, 'RLIMIT_NOFILE is too low');
    const errors = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 50);
    assert.deepEqual(
      errors.map(({ nodePorts, mostListeners }) => [nodePorts, mostListeners]),
      [[6, 3]],
    );
    assert.ok((await shown()).includes('listeners{ip_family="IPv4"} 3'));
    const last = ports.slice(-3);
    await want(last, 'served on localhost again');
    for (const nodePort of last) assert.equal(await received(await dial(nodePort)), 'a');
  });

  it('have most of the open files, and no warning, where there are many', () => {
    assert.deepEqual(sharesOf(1024), { mostListeners: 384, mostConnections: 128 });
    assert.deepEqual(sharesOf(4096), { mostListeners: 2560, mostConnections: 256 });
    assert.deepEqual(sharesOf(1_048_576), { mostListeners: 1_047_040, mostConnections: 256 });
    assert.deepEqual(sharesOf(), { mostListeners: Number.POSITIVE_INFINITY, mostConnections: 256 });
    assert.deepEqual(setUp({ families: [4, 6] }).lines, []);
  });

  it('whose port is taken are an error in the log and a metric', async () => {
    const { served, lines, shown } = setUp();
    const taken = await serve(() => {});
    served.listener.planned?.('default/web', inputOf({ nodePort: taken.port, endpoints: ['127.0.0.1:1'] }));
    served.listener.synced?.(SUMMARY, 0);
    await eventually('it is logged', () => lines.length > 0);
    const { level, port, err, hint, msg } = JSON.parse(lines[0] ?? '');
    assert.deepEqual([level, port, msg], [50, taken.port, 'Failed to create localhost nodeport proxy']);
    assert.match(err, /EADDRINUSE/);
    assert.match(hint, /another process uses the port/);
    const found = await shown();
    assert.ok(found.includes('listener_creation_failures_total{ip_family="IPv4"} 1'), found.join());
    assert.ok(found.includes('listeners{ip_family="IPv4"} 0'), found.join());
  });

  it('that no family has listen to nothing; the metrics are shown', async () => {
    const { served, shown } = setUp({ families: [] });
    assert.deepEqual(served.listener, {});
    assert.deepEqual(await shown(), ['rejected_packets_total{ip_family="IPv4",protocol="UDP"} 3']);
  });

  it('have no metrics in kube-proxy 1.36', async () => {
    assert.deepEqual(await setUp({ families: [], hasMetrics: false }).shown(), []);
  });

  it('whose counters cannot be read have a line in the log, and the other metrics are shown', async () => {
    const readRejected = async () => {
      throw new Error('EPERM');
    };
    const { shown, lines } = setUp({ readRejected });
    assert.deepEqual(await shown(), ['listeners{ip_family="IPv4"} 0']);
    assert.ok(lines.some((line) => line.includes('failed to list nftables counters')));
  });
});
