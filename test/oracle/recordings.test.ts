// Every recorded cluster on a real kernel, each in a network namespace of its own: the state kube-proxy left, step by
// step and from nothing; nothing to do the second time; every trace gone after cleaning up, and nothing of others.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Scenario, scenarios } from '../support/oracle.js';
import { runInNamespace } from '../support/runInNamespace.js';
import { tool } from '../support/tools.js';
import type { ScenarioReport } from './runScenario.js';

/** The settings that a scenario's configuration asks for, each spoiled beforehand. */
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

// Two at a time: a namespace is idle while the kernel waits for its own grace periods.
describe('recordings of kube-proxy', { concurrency: 2 }, () => {
  for (const scenario of scenarios('ipvs')) judge(scenario);
});

function judge(scenario: Scenario): void {
  describe(scenario.name, () => {
    let report: ScenarioReport;
    before(async () => {
      report = await runInNamespace<ScenarioReport>(scenario.name, 'runScenario.js', scenario.name);
    });

    it('reaches the recorded state at every step, and does nothing the second time', () => {
      assert.deepEqual(report.failures, []);
      assert.equal(report.steps.length, scenario.steps.length);
      for (const { step, differences, again } of report.steps) {
        assert.deepEqual(differences, [], step);
        assert.equal(again, 0, step);
      }
    });

    it('reaches the last state from nothing too, and a process started after it does nothing', () => {
      assert.deepEqual(report.fromNothing, []);
      assert.equal(report.restarted, 0);
    });

    it('sets right what was set wrong, and no other setting', () => {
      const written = Object.fromEntries(Object.entries(report.settings).filter(([name]) => !byKernel(name)));
      assert.deepEqual(written, expectedSettings(scenario));
    });

    it('leaves no trace after cleaning up, and what others made', () => {
      assert.deepEqual(report.cleanUp, { left: [], differences: [] });
    });

    if (scenario.name === 'config-timeouts') {
      it('sets the time-outs', () => {
        assert.equal(report.timeouts, 'Timeout (tcp tcpfin udp): 900 30 60');
      });
    }
  });
}

/** Forwarding changes these by the kernel's own rule (a router accepts no redirects). */
function byKernel(name: string): boolean {
  return /^net\/ipv4\/conf\/[^/]+\/(forwarding|accept_redirects)$/.test(name);
}
