// Changes during a pass, and failures to read: no change is lost, and no other change waits.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { FakeKernel, failNth } from '../../../../src/kernel/testing/index.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../../../src/proxy/modes/ipvs/index.js';
import { NodeState } from '../../../../src/proxy/reconcile/nodeState.js';
import { Reconciler } from '../../../../src/proxy/reconcile/reconciler.js';
import { ServiceCache } from '../../../../src/proxy/services/serviceCache.js';
import { readManifest } from '../../../../src/proxy/source/manifestFile.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { comparable } from '../../../support/clusters/randomCluster.js';
import { FakeIptablesNode, FakeNode } from '../../../support/oracle/testNode.js';

const WEB = service('web', '10.96.0.1') + slice('web', '10.0.0.1');
const EXTERNAL = service('ext', '10.96.0.3', '  externalIPs: [192.0.2.1]');

/** A Service with a node port. */
function withNodePort(name: string, ip: string, nodePort: number): string {
  return service(name, ip, '  type: NodePort').replace('port: 80}', `port: 80, nodePort: ${nodePort}}`);
}

describe('a change of the host during the planning of a pass', () => {
  it('is applied to the Services planned before it and after it', async () => {
    const kernel = new FakeKernel();
    const mode = createIpvsMode(kernel, { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' });
    const node = new NodeState(mode.host, 'node-a');
    const cache = new ServiceCache();
    let planned = 0;
    const planInput = (name: string) => {
      const input = cache.planInput(name, node.facts);
      node.planned(name, input);
      // Longer than a time slice: the next Service is planned in the next turn.
      for (const end = performance.now() + 5; performance.now() < end; );
      if (planned++ === 0) setImmediate(gainAddress);
      return input;
    };
    const order = (services: Iterable<string>) => cache.order(services);
    const inputs = { planInput, order, node: () => node.facts, serviceNames: () => [], taken: () => {} };
    const totalEndpoints = () => cache.totalEndpoints;
    const reconciler = new Reconciler(mode, { ...inputs, totalEndpoints, refresh: async () => {} }, () => 0);
    const gainAddress = () => {
      const address = { link: 'eth1', address: '192.0.2.9', prefix: 24, deleted: false };
      const change = { addresses: [address], links: [], lost: false };
      for (const name of node.hostChanged(change)) reconciler.touch(name);
    };
    const text = withNodePort('a', '10.96.0.1', 30_001) + withNodePort('b', '10.96.0.2', 30_002);
    for (const object of (await readManifest('objects.yaml', text)).objects.values()) {
      cache.apply({ type: 'set', object });
    }
    for (const name of ['demo/a', 'demo/b']) reconciler.touch(name);
    while (reconciler.pending) await reconciler.sync();
    assert.match(kernel.ipvs.dump(), /192\.0\.2\.9:30001/);
    assert.match(kernel.ipvs.dump(), /192\.0\.2\.9:30002/);
  });
});

describe('changes while the first pass reads the kernel', () => {
  const A = service('a', '10.96.0.1') + slice('a', '10.0.0.1');
  const B = service('b', '10.96.0.2') + slice('b', '10.0.0.2');
  /** After Services were planned, and before anything is programmed. */
  const cases = {
    'a deleted Service': B,
    'a deleted Service and a new one': B + service('c', '10.96.0.3') + slice('c', '10.0.0.3'),
    'a changed Service': service('a', '10.96.0.9') + slice('a', '10.0.0.1', '10.0.0.9') + B,
    'a changed scheduler':
      service('a', '10.96.0.1', '  sessionAffinity: ClientIP') + slice('a', '10.0.0.4') + B,
  };
  for (const [change, text] of Object.entries(cases)) {
    for (const Node of [FakeNode, FakeIptablesNode]) {
      for (const restart of [false, true]) {
        it(`${change}, ${Node.name}${restart ? ', on a kernel that has the former ones' : ''}`, async () => {
          const fresh = new Node(HOST);
          await fresh.loadText(text);
          await fresh.sync();
          const kernel = new FakeKernel();
          const node = new Node(HOST, kernel);
          if (restart) {
            const former = new Node(HOST, kernel);
            await former.loadText(A + B);
            await former.sync();
          }
          await node.loadText(A + B);
          const { save } = kernel.iptables;
          kernel.iptables.save = async (family) => {
            kernel.iptables.save = save;
            for (let i = 0; i < 50; i++) await turn();
            await node.loadText(text);
            return save.call(kernel.iptables, family);
          };
          while (node.reconciler.pending) assert.deepEqual((await node.sync()).failures, []);
          assert.deepEqual(comparable(node.output()), comparable(fresh.output()));
        });
      }
    }
  }
});

describe('an audit', () => {
  it('repairs an item that changed during the audit and was damaged after that', async () => {
    for (const Node of [FakeNode, FakeIptablesNode]) {
      const node = new Node(HOST);
      await node.loadText(WEB);
      await node.sync();
      node.reconciler.startAudit();
      await node.reconciler.auditSlice();
      const text = service('web', '10.96.0.1') + slice('web', '10.0.0.1', '10.0.0.2');
      await node.loadText(text);
      await node.sync();
      const wanted = node.output();
      const { ipvs, iptables } = node.kernel;
      if (node instanceof FakeNode) {
        const server = { address: '10.0.0.2', port: 8080 } as const;
        const id = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;
        await ipvs.apply([{ do: 'deleteRealServer', service: id, realServer: server }]);
      } else {
        const chain = /:(KUBE-SVC-\w+)/.exec(iptables.dump(4))?.[1] ?? assert.fail();
        iptables.load(4, `*nat\n:${chain} - [0:0]\nCOMMIT\n`);
      }
      assert.notDeepEqual(node.output(), wanted);
      let repaired = 0;
      while (node.reconciler.auditing) repaired += (await node.reconciler.auditSlice())?.repaired ?? 0;
      assert.deepEqual(comparable(node.output()), comparable(wanted), Node.name);
      assert.ok(repaired > 0);
    }
  });

  it('repairs nothing if nothing was damaged while Services came and went', async () => {
    for (const Node of [FakeNode, FakeIptablesNode]) {
      const node = new Node(HOST);
      await node.loadText(WEB);
      await node.sync();
      node.reconciler.startAudit();
      for (let i = 0, repaired = 0; node.reconciler.auditing; i++) {
        await node.loadText(i % 2 ? WEB : WEB + EXTERNAL + service(`s${i}`, `10.96.1.${i}`));
        await node.sync();
        repaired += (await node.reconciler.auditSlice())?.repaired ?? 0;
        assert.equal(repaired, 0, `${Node.name} ${i}`);
        assert.ok(i < 100);
      }
    }
  });
});

describe('an audit of a kernel with a mark', () => {
  /** A node whose rules have a mark, with the number of times that all rules of a family were read. */
  async function marked() {
    const node = new FakeIptablesNode(HOST);
    const { iptables } = node.kernel;
    const { chains } = iptables;
    const counts = { read: 0, audit };
    const mark = async () => iptables.dump(4) + iptables.dump(6);
    Object.assign(node.kernel, { mark });
    iptables.chains = (family) => {
      counts.read++;
      return chains.call(iptables, family);
    };
    /** Families that an audit reads, and what it repairs. */
    async function audit(): Promise<readonly [read: number, repaired: number]> {
      counts.read = 0;
      node.reconciler.startAudit();
      let repaired = 0;
      while (node.reconciler.auditing) {
        const done = await node.reconciler.auditSlice();
        assert.ok(!done || done.full);
        repaired += done?.repaired ?? 0;
      }
      return [counts.read, repaired];
    }
    await node.loadText(WEB);
    await node.sync();
    return { node, counts };
  }

  it('reads no rules while the mark is that of an audit that repaired nothing', async () => {
    const { counts } = await marked();
    assert.deepEqual(await counts.audit(), [2, 0]);
    assert.deepEqual(await counts.audit(), [0, 0]);
    assert.deepEqual(await counts.audit(), [0, 0]);
  });

  it('reads all rules after a change of this proxy, and of another program', async () => {
    const { node, counts } = await marked();
    await counts.audit();
    await node.loadText(WEB + EXTERNAL);
    await node.sync();
    assert.deepEqual(await counts.audit(), [2, 0]);
    assert.deepEqual(await counts.audit(), [0, 0]);
    const wanted = node.output();
    const chain = /:(KUBE-SVC-\w+)/.exec(node.kernel.iptables.dump(4))?.[1];
    node.kernel.iptables.load(4, `*nat\n:${chain} - [0:0]\nCOMMIT\n`);
    const [read, repaired] = await counts.audit();
    assert.ok(read >= 2 && repaired > 0);
    assert.deepEqual(comparable(node.output()), comparable(wanted));
    // That audit made the last change: what it left is read once more.
    assert.deepEqual(await counts.audit(), [2, 0]);
    assert.deepEqual(await counts.audit(), [0, 0]);
  });

  it('reads all rules without a mark, and if it changed during an audit or cannot be read', async () => {
    const { node, counts } = await marked();
    const marks: (string | undefined | Error)[] = [
      undefined,
      undefined,
      'a',
      'b',
      'b',
      new Error('no mark'),
      'b',
      'b',
      'b',
    ];
    const mark = async () => {
      const next = marks.shift();
      if (next instanceof Error) throw next;
      return next;
    };
    Object.assign(node.kernel, { mark });
    for (let audits = 0; audits < 4; audits++) assert.deepEqual(await counts.audit(), [2, 0], `${audits}`);
    assert.deepEqual([await counts.audit(), marks], [[0, 0], []]);
  });
});

describe('a full pass', () => {
  it('is followed by another if that is requested while the kernel is read', async () => {
    const node = new FakeNode(HOST);
    await node.loadText(WEB);
    const { listServices } = node.kernel.ipvs;
    node.kernel.ipvs.listServices = () => {
      node.reconciler.requestFullSync();
      node.kernel.ipvs.listServices = listServices;
      return node.kernel.ipvs.listServices();
    };
    assert.equal((await node.sync()).full, true);
    assert.equal((await node.sync()).full, true);
    assert.equal((await node.sync()).full, false);
  });
});

describe('failed items that cannot be read', () => {
  it('do not delay other changes', async () => {
    const node = new FakeNode(HOST);
    await node.loadText(WEB);
    await node.sync();
    const { ipvs, iptables } = node.kernel;
    iptables.fault = iptables.readFault = (operation, target) => failNth(1)(operation, target);
    await node.loadText(WEB + EXTERNAL);
    assert.ok((await node.sync()).unknown > 0);
    node.retryFailed();
    await node.loadText(WEB + EXTERNAL + service('b', '10.96.0.2'));
    const { failures, unknown } = await node.sync();
    assert.match(ipvs.dump(), /10\.96\.0\.2:80/);
    assert.equal(failures.length, unknown);
    assert.match(failures[0]?.error.operation ?? '', /iptables\.save/);
    iptables.fault = iptables.readFault = () => undefined;
    node.retryFailed();
    assert.deepEqual((await node.sync()).failures, []);
    assert.match(iptables.dump(4), /KUBE-EXTERNAL-IP/);
  });

  it('are still recorded as ours after their Service is deleted', async () => {
    const node = new FakeNode(HOST);
    await node.sync();
    const { ipvs } = node.kernel;
    ipvs.fault = (operation, target) =>
      operation.includes('RealServer') ? failNth(1)(operation, target) : undefined;
    await node.loadText(WEB);
    assert.equal((await node.sync()).unknown, 1);
    ipvs.fault = () => undefined;
    await node.loadText('');
    await node.sync();
    node.reconciler.requestFullSync();
    assert.deepEqual((await node.sync()).failures, []);
    assert.equal(ipvs.dump(), '');
    assert.doesNotMatch(node.kernel.ipset.dump(), /^add/m);
  });

  it('are ours if only the real servers of a new virtual service were refused, and its record', async () => {
    const node = new FakeNode(HOST);
    await node.sync();
    const { ipvs, ipset, rtnetlink } = node.kernel;
    const refuse = (operation: string, target: string) => failNth(1)(operation, target);
    ipvs.fault = (operation, target) =>
      operation.includes('RealServer') ? refuse(operation, target) : undefined;
    ipset.fault = rtnetlink.fault = refuse;
    await node.loadText(WEB);
    assert.ok((await node.sync()).unknown > 0);
    await node.loadText('');
    ipvs.fault = ipset.fault = rtnetlink.fault = () => undefined;
    node.reconciler.requestFullSync();
    assert.deepEqual((await node.sync()).failures, []);
    assert.equal(ipvs.dump(), '');
  });

  it('are added if their Service is created again in the pass that reads them', async () => {
    const node = new FakeNode(HOST);
    await node.sync();
    const { ipset } = node.kernel;
    ipset.fault = (operation, target) => failNth(1)(operation, target);
    await node.loadText(WEB);
    assert.ok((await node.sync()).unknown > 0);
    ipset.readFault = ipset.fault;
    await node.loadText('');
    assert.ok((await node.sync()).unknown > 0);
    ipset.readFault = ipset.fault = () => undefined;
    node.retryFailed();
    await node.loadText(WEB);
    assert.deepEqual((await node.sync()).failures, []);
    assert.match(ipset.dump(), /^add KUBE-CLUSTER-IP 10\.96\.0\.1,tcp:80$/m);
  });

  it('do not delay the retry of other failed items', async () => {
    const node = new FakeNode(HOST);
    await node.sync();
    const { ipvs } = node.kernel;
    ipvs.fault = (operation, target) => failNth(1)(operation, target);
    await node.loadText(WEB + service('b', '10.96.0.2'));
    assert.equal((await node.sync()).unknown, 2);
    ipvs.fault = () => undefined;
    ipvs.readFault = (operation, target) =>
      target.includes('10.96.0.1') ? failNth(1)(operation, target) : undefined;
    node.retryFailed();
    assert.equal((await node.sync()).unknown, 1);
    assert.equal(ipvs.dump(), '-A -t 10.96.0.2:80 -s rr\n');
  });
});

describe('while some objects are unreadable', () => {
  const DRAINED = { address: '10.0.0.9', port: 8080, weight: 0 } as const;
  const ID = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;

  /** A node that restarts while an object is unreadable; its kernel has a draining real server. */
  async function restarted(...endpoints: string[]): Promise<FakeNode> {
    const before = new FakeNode(HOST);
    await before.loadText(service('web', ID.address) + slice('web', ...endpoints));
    await before.sync();
    const node = new FakeNode(HOST, before.kernel);
    node.reconciler.hold();
    return node;
  }

  it('a draining real server stays, and is removed once every object is known', async () => {
    const node = await restarted('10.0.0.1');
    const { ipvs } = node.kernel;
    const settings = { forwarding: 'masquerade', upperThreshold: 0, lowerThreshold: 0 } as const;
    const realServer = { ...DRAINED, ...settings };
    await ipvs.apply([{ do: 'addRealServer', service: ID, realServer }]);
    await node.sync();
    await node.loadText(WEB);
    await node.sync();
    assert.match(ipvs.dump(), /10\.0\.0\.9:8080 -m -w 0/);
    node.reconciler.release();
    const { again } = await node.sync();
    node.now += again ?? 0;
    await node.sync();
    assert.doesNotMatch(ipvs.dump(), /10\.0\.0\.9/);
    assert.match(ipvs.dump(), /10\.0\.0\.1:8080 -m -w 1/);
  });

  it('a Service that is deleted and created again does not have the real servers that were found at the start', async () => {
    const node = await restarted('10.0.0.1', '10.0.0.2');
    const { ipvs } = node.kernel;
    await node.loadText(WEB);
    await node.sync();
    assert.match(ipvs.dump(), /10\.0\.0\.2/);
    await node.loadText('');
    await node.sync();
    assert.equal(ipvs.dump(), '');
    await node.loadText(WEB);
    await node.sync();
    assert.match(ipvs.dump(), /10\.0\.0\.1/);
    assert.doesNotMatch(ipvs.dump(), /10\.0\.0\.2/);
  });
});
