// Every recorded cluster of iptables mode on a real kernel, with one backend of iptables, in a network namespace: the rules
// equal kube-proxy's, step by step and from an empty kernel; a second pass and a restart have no operations; a clean-up
// removes all our state and nothing else.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ScenarioReport } from '../../oracle/runScenario.js';
import { runInNamespace } from '../namespaces/runInNamespace.js';
import { scenarios } from './oracle.js';

const PROGRAMS = ['iptables', 'ip6tables'].flatMap((name) =>
  ['', '-save', '-restore'].map((verb) => name + verb),
);

/** In QEMU without KVM, the recordings take several minutes. In ms. */
const LIMIT = 1_500_000;

/** Tests one backend: `nft` or `legacy`. */
export function judgeIptables(backend: string): void {
  describe(`recordings of iptables mode, iptables-${backend}`, () => {
    const folder = mkdtempSync(join(tmpdir(), `knp-${backend}-`));
    let reports: Readonly<Record<string, ScenarioReport>>;

    before(async () => {
      // The programs select the backend by the name of their file.
      for (const name of PROGRAMS) {
        symlinkSync(`/usr/sbin/xtables-${backend}-multi`, join(folder, name));
      }
      const path = `${folder}:${process.env['PATH']}`;
      reports = await runInNamespace<typeof reports>(`iptables-${backend}`, 'runScenario.js', {
        args: ['iptables'],
        env: { PATH: path },
        limit: LIMIT,
      });
    });
    after(() => rmSync(folder, { recursive: true }));

    for (const { name, steps } of scenarios('iptables')) {
      it(name, () => {
        const report = reports[name];
        assert.ok(report);
        assert.deepEqual(report.failures, []);
        assert.equal(report.steps.length, steps.length);
        for (const { step, differences, again } of report.steps) {
          assert.deepEqual(differences, [], step);
          assert.equal(again, 0, `${step}: a second pass`);
        }
        assert.deepEqual(report.fromNothing, []);
        assert.equal(report.restarted, 0, 'a restart');
        // KUBE-FIREWALL protects loopback addresses, which stay reachable.
        const differences = report.cleanUp.differences.filter((line) => !line.includes('KUBE-FIREWALL'));
        assert.deepEqual([report.cleanUp.left, differences], [[], []]);
        const written = Object.keys(report.settings);
        assert.ok(
          written.every((setting) => setting === 'net/ipv4/conf/all/route_localnet'),
          written.join(),
        );
      });
    }
  });
}
