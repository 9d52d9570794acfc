// The backend of iptables is changed while the proxy runs: one audit moves the whole state to the new backend. On this machine's
// kernel, with the programs of both backends.
// Needs: nftables, iptables-legacy
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { loadBenchAddon } from '../../bench/addon.js';
import { openIptables } from '../../src/kernel/iptables/index.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { HOST, service, slice } from '../support/clusters/manifests.js';
import { type Backend, selectBackend } from '../support/namespaces/iptablesBackend.js';
import { IptablesNode } from '../support/oracle/testNode.js';

const folder = mkdtempSync(join(tmpdir(), 'knp-replaced-'));
after(() => rmSync(folder, { recursive: true }));
// This machine's lock belongs to its own rules.
process.env['XTABLES_LOCKFILE'] = join(folder, 'lock');

/** A Service with these endpoints, others, and one of IPv6. */
const objects = (...endpoints: string[]) =>
  service('web', '10.96.0.1', '  externalIPs: [203.0.113.1]') +
  slice('web', ...endpoints) +
  service('empty', '10.96.0.2') +
  service('six', 'fd00:96::6') +
  slice('six', 'fd00:244::6').replace('IPv4', 'IPv6');

/** The rules of both families in a backend, and our chains, as `iptables-save` of this backend prints them, sorted. */
function saved(backend: Backend): string[] {
  return ['iptables', 'ip6tables'].flatMap((program) => {
    // On standard error, iptables-nft names the tables of the other backend.
    const text = execFileSync(`/usr/sbin/xtables-${backend}-multi`, [`${program}-save`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let table = '';
    const lines: string[] = [];
    for (const line of text.split('\n')) {
      if (line.startsWith('*')) table = line.slice(1);
      else if (/^(-A|:KUBE-)/.test(line))
        lines.push(`${program} ${table} ${line.replace(/ \[\d+:\d+\]$/, '')}`);
    }
    return lines.sort();
  });
}

/** The lines that are there more than once. */
function repeatedIn(lines: readonly string[]): string[] {
  return lines.filter((line, i) => lines.indexOf(line) !== i);
}

/** The lines that a start in an empty namespace makes. */
async function expected(backend: Backend, text: string): Promise<string[]> {
  selectBackend(backend);
  loadBenchAddon().enterNewNetworkNamespace();
  const iptables = openIptables();
  try {
    const node = new IptablesNode(HOST, Object.assign(new FakeKernel(), { iptables }), false);
    await node.loadText(text);
    assert.deepEqual((await node.sync()).failures, []);
    return saved(backend);
  } finally {
    await iptables.close();
  }
}

for (const [before, now] of [
  ['legacy', 'nft'],
  ['nft', 'legacy'],
] as const) {
  describe(`from ${before} to ${now}`, () => {
    it('an audit writes the whole state, and no rule twice, also of a Service that changed in between', async (context) => {
      const later = objects('10.244.1.2', '10.244.1.3');
      const whole = await expected(now, later);
      selectBackend(before);
      loadBenchAddon().enterNewNetworkNamespace();
      const iptables = openIptables();
      context.after(() => iptables.close());
      const replaced: string[] = [];
      iptables.onReplaced = (program) => replaced.push(program);
      const node = new IptablesNode(HOST, Object.assign(new FakeKernel(), { iptables }), false);
      await node.loadText(objects('10.244.1.1', '10.244.1.2'));
      assert.deepEqual((await node.sync()).failures, []);

      selectBackend(now);
      await node.loadText(later);
      assert.deepEqual((await node.sync()).failures, []);
      const { failures, repaired } = await node.audit();
      assert.deepEqual(failures, []);
      assert.ok(repaired > 0);
      assert.deepEqual(replaced.sort(), ['ip6tables-restore', 'iptables-restore']);
      assert.deepEqual(saved(now), whole);
      assert.deepEqual([repeatedIn(saved(now)), repeatedIn(saved(before))], [[], []]);
      assert.equal((await node.audit()).operations, 0);

      // Later changes reach the new backend alone.
      const left = saved(before);
      await node.loadText(objects('10.244.1.4'));
      assert.deepEqual((await node.sync()).failures, []);
      assert.ok(saved(now).some((line) => line.includes('10.244.1.4:8080')));
      assert.deepEqual(saved(before), left);
    });
  });
}
