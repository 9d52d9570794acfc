// The sets of deploy/, each with its own command line and configuration: an edit of the ConfigMap ends no agent, and a pod is not ready
// while another program has its health port. The objects of the chart equal those of base, stock-config and canary (chart.test.ts).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { FollowedConfiguration } from '../../../src/command/agent/followConfiguration.js';
import { BindError } from '../../../src/command/agent/servers.js';
import { recheck } from '../../../src/command/cli/recheck.js';
import { run } from '../../../src/command/cli/run.js';
import { type KernelCommand, readFlags } from '../../../src/command/config/commandLine.js';
import { loadConfiguration } from '../../../src/command/config/load.js';
import { CONFIGURATION_UPDATED, readConfigurationFile } from '../../../src/command/config/reload.js';
import { MODES } from '../../../src/command/modes/select.js';
import { until } from '../../support/apiServer/cluster.js';
import { closeAfter } from '../../support/closeAfter.js';
import { mountConfigMap, updateConfigMap } from '../../support/deployment/configMapVolume.js';
import type { DaemonSet } from '../../support/deployment/daemonSet.js';
import { kubeadmConfiguration } from '../../support/deployment/kubeadm.js';
import { DAEMON_SETS } from '../../support/deployment/sets.js';
import { startAgent, startServer } from '../../support/fakes/startedAgent.js';
import type { TestKernel } from '../../support/fakes/testKernel.js';
import { TEST_MODES } from '../../support/fakes/testModes.js';
import { ROOT } from '../../support/paths.js';

const ownConfiguration = readFileSync(join(ROOT, 'deploy/base/config.conf'), 'utf8');
const kubeadms = kubeadmConfiguration('/var/lib/kube-proxy/kubeconfig.conf');

/** Set → its DaemonSet and the contents of `config.conf` in the ConfigMap that it mounts. */
const SETS: Readonly<Record<string, readonly [daemonSet: DaemonSet, text: string]>> = {
  base: [DAEMON_SETS.base, ownConfiguration],
  'stock-config': [DAEMON_SETS['stock-config'], kubeadms],
  canary: [DAEMON_SETS.canary, kubeadms],
  'replace-kubeadm': [DAEMON_SETS['replace-kubeadm'], kubeadms],
};

const containerOf = (daemonSet: DaemonSet) => daemonSet.spec.template.spec.containers[0];

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'knp-rollout-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  return folder;
}

/** The command of a container whose configuration file has another path. */
function commandOf(daemonSet: DaemonSet, path: string, ...more: string[]): KernelCommand {
  const args = containerOf(daemonSet).command.slice(1);
  const found = args.map((arg) => (arg.startsWith('--config=') ? `--config=${path}` : arg));
  return readFlags([...found.map((arg) => arg.replace('$(NODE_NAME)', 'node-a')), ...more]) as KernelCommand;
}

/** An agent of the set with its ConfigMap mounted. */
async function mountedAgent(name: string, ...more: string[]) {
  const [daemonSet, text] = SETS[name] as (typeof SETS)[string];
  const folder = temporary();
  const path = mountConfigMap(folder, text);
  const command = commandOf(daemonSet, path, ...more);
  const { configuration, file } = loadConfiguration(command, MODES);
  const former = file ?? readConfigurationFile(path);
  const configFile: FollowedConfiguration = {
    ...{ file: former, configuration, exitsOnChange: command.exitOnConfigChange },
    read: () => recheck({ command, former, mode: { probe: async () => {} }, node: undefined }),
    times: { still: 50, again: 100 },
  };
  const kernel = (TEST_MODES['ipvs'] as () => TestKernel)();
  const agent = await startAgent(await startServer('10.244.1.0/24'), { kernel, configFile });
  await until('it has programmed the kernel', () => agent.passes() > 0);
  const edit = () => updateConfigMap(folder, text.replace(/^mode: .*/m, 'mode: nftables'));
  return { agent, edit };
}

for (const name of Object.keys(SETS)) {
  describe(`an edit of the mode in the ConfigMap of ${name}`, () => {
    it('ends no agent, and is reported', async () => {
      const { agent, edit } = await mountedAgent(name);
      const before = agent.kernel.state();
      edit();
      await until('it is reported', () => agent.logged('wait for the next start').length > 0);
      const passes = agent.passes();
      await until('it works on', () => agent.passes() > passes + 1);
      assert.deepEqual(JSON.parse(agent.logged('wait for the next start')[0] ?? '').waiting, ['mode']);
      assert.deepEqual([agent.ended(), agent.kernel.state()], [undefined, before]);
      agent.stop();
      assert.equal(await agent.status, 0);
    });

    it('ends it with --exit-on-config-change', async () => {
      const { agent, edit } = await mountedAgent(name, '--exit-on-config-change');
      edit();
      assert.equal(await agent.status, 1);
      assert.equal(agent.logged(CONFIGURATION_UPDATED).length, 1);
    });
  });
}

// At the same time: each waits for a program that is ending.
describe('a pod is not ready while another program has its health port and answers 200:', {
  concurrency: true,
}, () => {
  for (const [name, [daemonSet, text]] of Object.entries(SETS)) {
    const { readinessProbe } = containerOf(daemonSet);
    // Without a probe, the DaemonSet has OnDelete, and nothing waits for its pods.
    if (name === 'replace-kubeadm') continue;
    it(name, async () => {
      // kube-proxy has no such path. The proxy ends long before the first probe: no other program can answer for it.
      assert.deepEqual(readinessProbe?.httpGet, { path: '/readyz', port: 'healthz' });
      assert.ok((readinessProbe?.initialDelaySeconds ?? 0) >= 5);
      const other = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');
      closeAfter(other);
      await once(other, 'listening');
      const path = join(temporary(), 'config.conf');
      const address = `127.0.0.1:${(other.address() as AddressInfo).port}`;
      writeFileSync(path, text.replace(/^healthzBindAddress: .*/m, `healthzBindAddress: ${address}`));
      await assert.rejects(run(commandOf(daemonSet, path), new AbortController().signal), (error) => {
        assert.ok(error instanceof BindError, String(error));
        assert.match(error.message, /^failed to start health server: .*EADDRINUSE.*kube-proxy/);
        return true;
      });
    });
  }
});
