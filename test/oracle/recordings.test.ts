// Every recorded cluster on a real kernel, in a network namespace: the state equals kube-proxy's, step by step and from an
// empty kernel; a second pass has no operations; a clean-up removes all our state and nothing else.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { RULE_MODULES } from '../../bench/ruleModules.js';
import { sample } from '../support/extent.js';
import { runInNamespace } from '../support/namespaces/runInNamespace.js';
import { tool } from '../support/namespaces/tools.js';
import { type Scenario, scenarios } from '../support/oracle/oracle.js';
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
  tool('modprobe', '-a', 'ip_vs', 'dummy', ...RULE_MODULES);
});

/** Namespaces in parallel: one is idle during the kernel's grace periods. */
const NAMESPACES = 2;
/** In QEMU without KVM, half of the recordings take several minutes. In ms. */
const LIMIT = 1_500_000;

describe('recordings of kube-proxy', { concurrency: NAMESPACES }, () => {
  const all = sample(scenarios('ipvs'), 10);
  for (let first = 0; first < NAMESPACES; first++) {
    judgeAll(all.filter((_, i) => i % NAMESPACES === first));
  }
});

/** Judges these recordings, one after the other in one namespace. */
function judgeAll(recordings: readonly Scenario[]): void {
  const names = recordings.map(({ name }) => name);
  describe(`${names[0]} and ${names.length - 1} more`, () => {
    let reports: Readonly<Record<string, ScenarioReport>> = {};
    before(async () => {
      reports = await runInNamespace<typeof reports>(names[0] as string, 'runScenario.js', {
        args: ['ipvs', ...names],
        limit: LIMIT,
      });
    });
    for (const scenario of recordings) judge(scenario, () => reports[scenario.name] as ScenarioReport);
  });
}

function judge(scenario: Scenario, reported: () => ScenarioReport): void {
  describe(scenario.name, () => {
    let report: ScenarioReport;
    before(() => {
      report = reported();
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
