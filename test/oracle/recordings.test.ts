// Every recorded cluster on a real kernel, each in its own network namespace: the state equals kube-proxy's, step by step and
// from an empty kernel; a second pass has no operations; a clean-up removes all our state and nothing else.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Scenario, scenarios } from '../support/oracle.js';
import { runInNamespace } from '../support/runInNamespace.js';
import { tool } from '../support/tools.js';
import type { ScenarioReport } from './runScenario.js';

/** The settings of a scenario's configuration; the test writes other values first. */
function expectedSettings({ configuration }: Scenario): Record<string, string> {
  const { strictARP } = configuration['ipvs'] as { strictARP: boolean };
  return {
    'net/ipv4/vs/conntrack': '1',
    'net/ipv4/vs/expire_nodest_conn': '1',
    'net/ipv4/vs/expire_quiescent_template': '1',
    'net/ipv4/ip_forward': '1',
    ...(strictARP ? { 'net/ipv4/conf/all/arp_ignore': '1', 'net/ipv4/conf/all/arp_announce': '2' } : {}),
  };
}

before(() => {
  for (const name of ['ip_vs', 'dummy', 'br_netfilter', 'nf_conntrack']) tool('modprobe', name);
});

// Two in parallel, because a namespace is idle during the kernel's grace periods.
describe('recordings of kube-proxy', { concurrency: 2 }, () => {
  for (const scenario of scenarios('ipvs')) judge(scenario);
});

function judge(scenario: Scenario): void {
  describe(scenario.name, () => {
    let report: ScenarioReport;
    before(async () => {
      const reports = await runInNamespace<Record<string, ScenarioReport>>(scenario.name, 'runScenario.js', {
        args: ['ipvs', scenario.name],
      });
      report = reports[scenario.name] as ScenarioReport;
    });

    it('reaches the recorded state at every step, and a second pass has no operations', () => {
      assert.deepEqual(report.failures, []);
      assert.equal(report.steps.length, scenario.steps.length);
      for (const { step, differences, again } of report.steps) {
        assert.deepEqual(differences, [], step);
        assert.equal(again, 0, step);
      }
    });

    it('reaches the last state from an empty kernel, and a restart has no operations', () => {
      assert.deepEqual(report.fromNothing, []);
      assert.equal(report.restarted, 0);
    });

    it('corrects the wrong settings, and changes no others', () => {
      const written = Object.fromEntries(Object.entries(report.settings).filter(([name]) => !byKernel(name)));
      assert.deepEqual(written, expectedSettings(scenario));
    });

    it('removes all its state in a clean-up, and no foreign state', () => {
      assert.deepEqual(report.cleanUp, { left: [], differences: [] });
    });

    if (scenario.name === 'config-timeouts') {
      it('sets the IPVS timeouts', () => {
        assert.equal(report.timeouts, 'Timeout (tcp tcpfin udp): 900 30 60');
      });
    }
  });
}

/** The kernel changes these with forwarding, because a router accepts no redirects. */
function byKernel(name: string): boolean {
  return /^net\/ipv4\/conf\/[^/]+\/(forwarding|accept_redirects)$/.test(name);
}
