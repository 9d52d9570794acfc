// Rules that the kernel refuses, several at once: only their Services are left out, and each failure names them. On this machine's
// kernel, with both backends.
// Needs: nftables, iptables-legacy
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { loadBenchAddon } from '../../bench/addon.js';
import { NetlinkError } from '../../src/kernel/errors.js';
import { openIptables } from '../../src/kernel/iptables/index.js';
import type { Iptables, IptablesOperation } from '../../src/kernel/iptables/types.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import type { SyncSummary } from '../../src/proxy/reconcile/summary.js';
import { HOST, service, slice } from '../support/clusters/manifests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';
import { IptablesNode } from '../support/oracle/testNode.js';

const folder = mkdtempSync(join(tmpdir(), 'knp-refused-'));
after(() => rmSync(folder, { recursive: true }));
// This machine's lock belongs to its own rules.
process.env['XTABLES_LOCKFILE'] = join(folder, 'lock');

/** A match that iptables accepts, and the kernel refuses: there is no such set. */
const REFUSED = '-m set --match-set KNP-NONE src';

/** Whether a rule of a chain is made one that is refused. */
type Spoils = (chain: string, rule: string) => boolean;

/** A refused rule. The kernel itself refuses to masquerade in table filter, for which legacy iptables names no rule. */
function spoilt(text: string): string {
  if (text.includes('-j REJECT')) return text.replace(/-j REJECT.*/, '-j MASQUERADE');
  return text.replace(/(^| )-j /, `$1${REFUSED} -j `);
}

/** The error of a refused rule, as if the planned rule had been refused. An error that names no spoilt rule is the same object. */
function withPlannedRule(error: NetlinkError): NetlinkError {
  const { code, operation, target = '', kernelMessage } = error;
  if (!target.includes(REFUSED)) return error;
  return new NetlinkError({ code, operation, target: target.replace(`${REFUSED} `, ''), kernelMessage });
}

/** Iptables whose rules are spoilt while there is a condition. */
function spoiling(iptables: Iptables, spoils: () => Spoils | undefined): Iptables {
  const change = (operation: IptablesOperation): IptablesOperation => {
    const isBad = spoils() ?? (() => false);
    if (operation.do === 'setChain') {
      const { family, table, name, rules } = operation.chain;
      const spoiltRules = rules.map((rule) => (isBad(name, rule) ? spoilt(rule) : rule));
      return { do: 'setChain', chain: { family, table, name, rules: spoiltRules } };
    }
    if (operation.do !== 'insertRule' && operation.do !== 'appendRule') return operation;
    const { chain, text } = operation.rule;
    return isBad(chain, text) ? { ...operation, rule: { ...operation.rule, text: spoilt(text) } } : operation;
  };
  return {
    chains: (family) => iptables.chains(family),
    save: (family) => iptables.save(family),
    saveTables: (family) => iptables.saveTables(family),
    listRules: (family, table, chain) => iptables.listRules(family, table, chain),
    restore: async (family, operations) =>
      (await iptables.restore(family, operations.map(change))).map(
        (error) => error && withPlannedRule(error),
      ),
  };
}

const GOOD = Array.from({ length: 20 }, (_, i) => `good${i}`);
const BAD = ['chain', 'endpoints', 'portal', 'reject', 'external'] as const;

const MANIFEST = [
  ...GOOD.map((name, i) => service(name, `10.96.0.${i + 1}`) + slice(name, `10.244.1.${i + 1}`)),
  ...BAD.map((name, i) => {
    const text = service(name, `10.96.1.${i + 1}`, `  externalIPs: [203.0.113.${i + 1}]`);
    return name === 'reject' ? text : text + slice(name, `10.244.2.${i + 1}`, '10.244.2.99');
  }),
].join('');

/** The rules that are refused: of Services in their chains and in shared chains, two of one Service, and one of the node. */
const SPOILS: Spoils = (chain, rule) =>
  (chain.startsWith('KUBE-SVC-') && rule.includes('"demo/chain ->')) ||
  (chain.startsWith('KUBE-SEP-') && rule.includes('"demo/endpoints"')) ||
  (chain === 'KUBE-SERVICES' && rule.includes('"demo/portal cluster IP"')) ||
  (chain === 'KUBE-SERVICES' && rule.includes('"demo/reject has no endpoints"')) ||
  (chain === 'KUBE-SERVICES' && rule.includes('"demo/external external IP"')) ||
  (chain === 'KUBE-FORWARD' && rule.includes('INVALID'));

/** The Services that a summary names, sorted; `node` for items without one. */
function named({ failures }: SyncSummary): string[] {
  return [...new Set(failures.flatMap(({ services }) => services ?? 'node'))].sort();
}

/** The fields of the refused rules that name them. The balancing rules of two endpoints follow from no single one. */
const FIELDS = [
  'EndpointSlices of Service demo/endpoints: endpoint 10.244.2.2:8080',
  'Service demo/external: spec.externalIPs: 203.0.113.5',
  'Service demo/portal: spec.clusterIPs: 10.96.1.3',
];

/** The fields of all failures, sorted. */
function fieldsOf({ failures }: SyncSummary): string[] {
  return [...new Set(failures.flatMap(({ fields = [] }) => fields))].sort();
}

for (const backend of ['nft', 'legacy'] as const) {
  describe(backend, () => {
    it('refused rules of Services, of shared chains and of the node leave out only what has them', async (context) => {
      selectBackend(backend);
      loadBenchAddon().enterNewNetworkNamespace();
      const real = openIptables();
      context.after(() => real.close());
      let spoils: Spoils | undefined = SPOILS;
      const kernel = Object.assign(new FakeKernel(), { iptables: spoiling(real, () => spoils) });
      const node = new IptablesNode(HOST, kernel, false);
      await node.loadText(MANIFEST);
      const summary = await node.sync();
      assert.deepEqual(named(summary), [...BAD.map((name) => `demo/${name}`).sort(), 'node']);
      for (const { error, services } of summary.failures) {
        assert.equal(error.code, 'ERR_PROCESS');
        const [owner] = services ?? [];
        if (backend === 'nft' && owner)
          assert.match(error.message, new RegExp(`"${owner}[ "].*-j (KUBE-|DNAT|MASQUERADE)`));
      }
      if (backend === 'nft') assert.deepEqual(fieldsOf(summary), FIELDS);
      const rules = await real.save(4);
      const portals = (rules.get('nat/KUBE-SERVICES') ?? []).join();
      for (const name of GOOD) assert.ok(portals.includes(`"demo/${name} cluster IP"`), name);
      for (const name of BAD) assert.ok(!portals.includes(`"demo/${name} `), name);
      assert.ok(rules.get('filter/FORWARD')?.some((rule) => rule.endsWith('-j KUBE-SERVICES')));

      // The failures stay those of the same Services, and end when the kernel accepts the rules.
      node.retryFailed();
      assert.deepEqual(named(await node.sync()), named(summary));
      spoils = undefined;
      node.retryFailed();
      assert.deepEqual((await node.sync()).failures, []);
      node.reconciler.requestFullSync();
      assert.equal((await node.sync()).operations, 0);
    });

    it('a clusterCIDR with all addresses refuses nothing', async (context) => {
      selectBackend(backend);
      loadBenchAddon().enterNewNetworkNamespace();
      const iptables = openIptables();
      context.after(() => iptables.close());
      const configuration = { clusterCIDR: '0.0.0.0/0,::/0' };
      const node = new IptablesNode(
        { ...HOST, configuration },
        Object.assign(new FakeKernel(), { iptables }),
        false,
      );
      await node.loadText(
        service(
          'web',
          '10.96.0.1',
          '  type: LoadBalancer\n  externalTrafficPolicy: Local\n  externalIPs: [203.0.113.1]',
        ) + slice('web', '10.244.1.1'),
      );
      assert.deepEqual((await node.sync()).failures, []);
      node.reconciler.requestFullSync();
      assert.equal((await node.sync()).operations, 0);
    });
  });
}
