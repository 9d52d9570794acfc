// Rules that another program changed: each is found, and repaired with the smallest operation.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { IptablesOperation } from '../../../../../src/kernel/iptables/types.js';
import { BLOCK_LOCALNET } from '../../../../../src/proxy/modes/iptables/plan/fixedChains.js';
import { cleanUp } from '../../../../../src/proxy/reconcile/cleanUp.js';
import { Runner } from '../../../../../src/proxy/reconcile/runner.js';
import { edit } from '../../../../support/fakes/tamperRules.js';
import { scenarios } from '../../../../support/oracle/oracle.js';
import { FakeIptablesNode } from '../../../../support/oracle/testNode.js';

const scenario = scenarios('iptables').find(({ name }) => name === 'node-port');
assert.ok(scenario);
const step = scenario.folder;

/** A node with all Services programmed. */
async function programmed(): Promise<FakeIptablesNode> {
  assert.ok(scenario);
  const node = new FakeIptablesNode(scenario);
  await node.load(step);
  assert.deepEqual((await node.sync()).failures, []);
  return node;
}

/** The operations of the node's next full pass, as text. */
async function repairsOf(node: FakeIptablesNode): Promise<string[]> {
  const { iptables } = node.kernel;
  const operations: string[] = [];
  const restore = iptables.restore.bind(iptables);
  iptables.restore = (family, changes) => {
    operations.push(...changes.map((operation) => `${family} ${textOf(operation)}`));
    return restore(family, changes);
  };
  node.reconciler.requestFullSync();
  assert.deepEqual((await node.sync()).failures, []);
  iptables.restore = restore;
  return operations;
}

function textOf(operation: IptablesOperation): string {
  if ('rule' in operation)
    return `${operation.do} ${operation.rule.table}/${operation.rule.chain} ${operation.rule.text}`;
  if ('rules' in operation) {
    const { table, chain, before, after } = operation.rules;
    return [`${operation.do} ${table}/${chain}`, ...before, '→', ...after].join(' | ');
  }
  const { table, name } = operation.chain;
  const rules = operation.do === 'setChain' ? operation.chain.rules : [];
  return [`${operation.do} ${table}/${name}`, ...rules].join(' | ');
}

const HTTP =
  '-d 10.96.20.1/32 -p tcp -m comment --comment "demo/np:http cluster IP" -m tcp --dport 80 -j KUBE-SVC-4IIC76BHGSQBKXMN';
const TAIL =
  '-m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain" -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS';
const PORTALS = '-m comment --comment "kubernetes service portals" -j KUBE-SERVICES';
const ENDPOINT = 'KUBE-SEP-FDT6ONAVXYSOUXCY';

/** Name → change of the lines of iptables-save, and the operations that repair it. */
const REPAIRS: Readonly<
  Record<string, { change: (line: string) => readonly string[]; repairs: readonly string[] }>
> = {
  'a deleted rule of a Service': {
    change: (line) => (line.endsWith(HTTP) ? [] : [line]),
    repairs: [`4 insertRule nat/KUBE-SERVICES ${HTTP}`],
  },
  'a rule of a Service that is there three times': {
    change: (line) => (line.endsWith(HTTP) ? [line, line, line] : [line]),
    repairs: [`4 deleteRule nat/KUBE-SERVICES ${HTTP}`, `4 deleteRule nat/KUBE-SERVICES ${HTTP}`],
  },
  'a rule of nobody in a shared chain': {
    change: (line) => (line.endsWith(HTTP) ? ['-A KUBE-SERVICES -j DROP', line] : [line]),
    repairs: ['4 deleteRule nat/KUBE-SERVICES -j DROP'],
  },
  'a tail that is not last': {
    change: (line) => (line.endsWith(TAIL) ? [line, '-A KUBE-SERVICES -j DROP'] : [line]),
    repairs: [
      `4 appendRule nat/KUBE-SERVICES ${TAIL}`,
      `4 deleteRule nat/KUBE-SERVICES ${TAIL}`,
      '4 deleteRule nat/KUBE-SERVICES -j DROP',
    ],
  },
  'a tail that is there twice': {
    change: (line) => (line.endsWith(TAIL) ? [line, line] : [line]),
    repairs: [`4 deleteRule nat/KUBE-SERVICES ${TAIL}`],
  },
  'a deleted tail': {
    change: (line) => (line.endsWith(TAIL) ? [] : [line]),
    repairs: [`4 appendRule nat/KUBE-SERVICES ${TAIL}`],
  },
  'a changed rule of an endpoint': {
    change: (line) => [line.replace(`${ENDPOINT} -s 10.244.1.71/32`, `${ENDPOINT} -s 10.244.1.99/32`)],
    repairs: [
      `4 setChain nat/${ENDPOINT} | -s 10.244.1.71/32 -m comment --comment "demo/np:http" -j KUBE-MARK-MASQ | ` +
        '-p tcp -m comment --comment "demo/np:http" -m tcp -j DNAT --to-destination 10.244.1.71:8080',
    ],
  },
  'a deleted jump': {
    change: (line) => (line === `-A PREROUTING ${PORTALS}` ? [] : [line]),
    repairs: [`4 insertRule nat/PREROUTING ${PORTALS}`],
  },
  'chains of a Service that no longer exists, one of an old version': {
    change: (line) =>
      line.startsWith(':KUBE-SVC-NPX')
        ? [line, ':KUBE-SVC-AAAAAAAAAAAAAAAA - [0:0]', ':KUBE-XLB-AAAAAAAAAAAAAAAA - [0:0]']
        : line.endsWith(HTTP)
          ? [line, '-A KUBE-XLB-AAAAAAAAAAAAAAAA -j KUBE-SVC-AAAAAAAAAAAAAAAA']
          : [line],
    // In any order: one restore empties both before it deletes them.
    repairs: ['4 deleteChain nat/KUBE-SVC-AAAAAAAAAAAAAAAA', '4 deleteChain nat/KUBE-XLB-AAAAAAAAAAAAAAAA'],
  },
};

describe('repairs with the smallest operation', () => {
  for (const [name, { change, repairs }] of Object.entries(REPAIRS)) {
    it(name, async () => {
      const node = await programmed();
      const { iptables } = node.kernel;
      edit(iptables, 4, change);
      assert.deepEqual(await repairsOf(node), repairs);
      assert.deepEqual(await repairsOf(node), []);
    });
  }

  it('an audit finds them too, in slices', async () => {
    const node = await programmed();
    const before = node.output();
    edit(node.kernel.iptables, 4, (line) => (line.endsWith(HTTP) ? [line, line] : [line]));
    node.reconciler.startAudit();
    let repaired = 0;
    while (node.reconciler.auditing) repaired += (await node.reconciler.auditSlice())?.repaired ?? 0;
    assert.equal(repaired, 1);
    assert.deepEqual(node.output(), before);
  });

  it('all rules, after a flush of all tables', async () => {
    const node = await programmed();
    const before = node.output();
    for (const family of [4, 6] as const) node.kernel.iptables.load(family, '');
    const { restores } = node.kernel.iptables;
    await repairsOf(node);
    assert.equal(node.kernel.iptables.restores - restores, 2);
    assert.deepEqual(sorted(node.output().iptables), sorted(before.iptables));
  });
});

/** A Service whose first endpoint stays, and whose second one changes. */
function manifest(changing: string): string {
  const metadata = { namespace: 'demo', name: 'web', labels: { 'kubernetes.io/service-name': 'web' } };
  const items = [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata,
      addressType: 'IPv4',
      ports: [{ port: 80 }],
      endpoints: ['10.244.2.1', changing].map((address) => ({ addresses: [address] })),
    },
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

it('a deleted chain of an endpoint, by the retry of its Service', async () => {
  assert.ok(scenario);
  const node = new FakeIptablesNode(scenario);
  const { iptables } = node.kernel;
  await node.loadText(manifest('10.244.2.2'));
  assert.deepEqual((await node.sync()).failures, []);
  const chain = /-A (KUBE-SEP-\w+) .*--to-destination 10\.244\.2\.1:80/.exec(iptables.dump(4))?.[1] ?? '';
  edit(iptables, 4, (line) => (line.includes(chain) ? [] : [line]));
  await node.loadText(manifest('10.244.2.3'));
  const runner = new Runner(
    node.reconciler,
    {
      synced({ failures, repaired: operations }) {
        failed.push(failures.length > 0);
        repaired.push(operations);
      },
      failed: assert.fail,
      retrying: () => {},
    },
    {
      now: () => node.now,
      set: (run, milliseconds) =>
        setTimeout(() => {
          node.now += milliseconds;
          run();
        }, milliseconds / 10),
      clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
    },
    { audit: 1e9 },
  );
  const failed: boolean[] = [];
  const repaired: number[] = [];
  runner.request();
  for (let waited = 0; failed.at(-1) !== false; waited++) {
    assert.ok(waited < 200, `passes that failed: ${failed}`);
    await delay(10);
  }
  await runner.stop();
  // The change, and its retry, which reads the chains of the endpoints too.
  assert.deepEqual(failed, [true, false]);
  assert.deepEqual(repaired, [0, 1], 'the chain of the endpoint, and not the change');
  const fresh = new FakeIptablesNode(scenario);
  await fresh.loadText(manifest('10.244.2.3'));
  await fresh.sync();
  assert.deepEqual(sorted(iptables.dump(4)), sorted(fresh.kernel.iptables.dump(4)));
});

describe('state of other programs', () => {
  it('rules of kubelet in KUBE-FIREWALL stay, at the start and in a clean-up', async () => {
    assert.ok(scenario);
    const node = new FakeIptablesNode(scenario);
    const { iptables } = node.kernel;
    const kubelet = '-m mark --mark 0x8000/0x8000 -j DROP';
    const rules = `*filter\n:INPUT ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:KUBE-FIREWALL - [0:0]\n-A INPUT -j KUBE-FIREWALL\n-A OUTPUT -j KUBE-FIREWALL\n-A KUBE-FIREWALL ${kubelet}\nCOMMIT\n`;
    iptables.load(4, rules);
    const before = sorted(iptables.dump(4));
    await node.load(step);
    assert.deepEqual((await node.sync()).failures, []);
    const { rules: programmedRules } = await iptables.saveTables(4);
    assert.deepEqual(
      programmedRules.get('filter/KUBE-FIREWALL')?.filter((rule) => rule === kubelet),
      [kubelet],
    );
    assert.deepEqual(
      programmedRules.get('filter/INPUT')?.filter((rule) => rule === '-j KUBE-FIREWALL').length,
      1,
    );
    const { failures, left } = await cleanUp(node.mode);
    assert.deepEqual([failures, left], [[], []]);
    // The rule stays that protects loopback addresses: the setting that makes them reachable stays too.
    const localnet = `-A KUBE-FIREWALL ${BLOCK_LOCALNET.text}`;
    assert.deepEqual(sorted(iptables.dump(4)), [...before, localnet].sort());
  });

  it('the rule that protects loopback addresses stays when node ports are no longer served there', async () => {
    const node = await programmed();
    assert.ok(scenario);
    const configuration = { ...scenario.configuration, iptables: { localhostNodePorts: false } };
    const restarted = new FakeIptablesNode({ ...scenario, configuration }, node.kernel);
    await restarted.load(step);
    assert.deepEqual((await restarted.sync()).failures, []);
    const { rules } = await node.kernel.iptables.saveTables(4);
    assert.deepEqual(rules.get('filter/KUBE-FIREWALL'), [BLOCK_LOCALNET.text]);
    assert.match(rules.get('nat/KUBE-SERVICES')?.at(-1) ?? '', /^! -d 127/);
  });

  it('a chain to which a rule of another program jumps stays in a clean-up', async () => {
    const node = await programmed();
    const { iptables } = node.kernel;
    const rule = { family: 4, table: 'nat', chain: 'POSTROUTING', text: '-j KUBE-MARK-MASQ' } as const;
    assert.deepEqual(await iptables.restore(4, [{ do: 'insertRule', rule }]), [undefined]);
    const { failures, left: removable, used } = await cleanUp(node.mode);
    assert.deepEqual([failures, removable, used], [[], [], ['chain IPv4 nat/KUBE-MARK-MASQ']]);
    const { rules } = await iptables.saveTables(4);
    const left = [...rules.keys()].filter((id) => id.includes('KUBE-'));
    assert.deepEqual(left.sort(), ['filter/KUBE-FIREWALL', 'nat/KUBE-MARK-MASQ']);
  });
});

/** Lines without those of an empty table mangle. */
function sorted(dump: string): string[] {
  return dump
    .replace(/^\*mangle\n(:\w+ ACCEPT \[0:0\]\n)*COMMIT\n/, '')
    .split('\n')
    .sort();
}
