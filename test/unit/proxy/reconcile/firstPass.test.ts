// The first pass of a large cluster: the order of its operations, and its end at any moment.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { FakeKernel } from '../../../../src/kernel/testing/index.js';
import type { KubernetesObject } from '../../../../src/proxy/objects/types.js';
import { PIECE } from '../../../../src/proxy/reconcile/planner.js';
import { ageOf, cluster, ipOf, objectsOf, SERVICES, VITAL } from '../../../support/clusters/agedServices.js';
import { HOST } from '../../../support/clusters/manifests.js';
import { WHOLE } from '../../../support/extent.js';
import { FakeNode } from '../../../support/oracle/testNode.js';

/** Services whose planning takes longer than a time slice: the kernel has been read before they are planned. */
const SLOW = 12;

const EXTERNAL = '192.0.2.7';
/** The oldest Service. Its source ranges exclude the node: only a rule keeps the node from its load-balancer IP. */
const RESTRICTED = {
  name: 'restricted',
  ip: '10.96.200.1',
  age: 5000,
  spec: { type: 'LoadBalancer', loadBalancerSourceRanges: ['203.0.113.0/24'] },
};

/** Adds a load-balancer IP to a Service of the objects. */
function withAddress(objects: Map<string, KubernetesObject>, name: string, ip: string) {
  const service = objects.get(`Service demo/${name}`);
  assert.ok(service?.kind === 'Service');
  return objects.set(`Service demo/${name}`, { ...service, loadBalancerIPs: [ip] });
}

function restricted(): Map<string, KubernetesObject> {
  return withAddress(cluster(RESTRICTED), RESTRICTED.name, EXTERNAL);
}

/** A node whose kernel records its operations, in order: `ipvs.addService tcp 10.96.0.1:80`. */
function recorded(objects: ReadonlyMap<string, KubernetesObject>, kernel = new FakeKernel()) {
  const log: string[] = [];
  const node = new FakeNode(HOST, kernel);
  for (const part of [kernel.ipvs, kernel.ipset, kernel.rtnetlink]) {
    part.fault = (operation, target) => {
      log.push(`${operation} ${target}`);
      return undefined;
    };
  }
  const { iptables } = kernel;
  const restore = iptables.restore.bind(iptables);
  iptables.restore = (family, operations) => {
    const rules = operations.flatMap((operation) =>
      operation.do === 'setChain' ? operation.chain.rules : [],
    );
    log.push(`restore ${family} ${rules.join('\n')}`);
    return restore(family, operations);
  };
  let planned = 0;
  const { planService } = node.mode;
  node.mode.planService = (...args) => {
    if (planned++ < SLOW) for (const end = performance.now() + 3; performance.now() < end; );
    return planService(...args);
  };
  node.set(objects);
  return { node, kernel, log, planned: () => planned };
}

const about = (ip: string) => new RegExp(`\\b${ip.replaceAll('.', '\\.')}\\b`);
const positions = (log: readonly string[], pattern: RegExp) =>
  log.flatMap((line, i) => (pattern.test(line) ? [i] : []));
const first = (log: readonly string[], pattern: RegExp) => positions(log, pattern)[0] ?? Number.NaN;
const last = (log: readonly string[], pattern: RegExp) => positions(log, pattern).at(-1) ?? Number.NaN;

describe('the first pass of a large cluster', () => {
  it('programs the API and the DNS Service completely, then the others by age', async () => {
    const { node, log } = recorded(cluster());
    assert.deepEqual((await node.sync()).failures, []);
    const others = /\b10\.(96|128|129)\.[0-9]{1,2}\.\d+\b/;
    for (const { ip } of VITAL) {
      const usable = last(log, about(ip));
      assert.ok(usable < 120, `after ${usable} operations`);
      for (const operation of [
        'ipvs.addService',
        'ipvs.addRealServer',
        'ipset.add',
        'rtnetlink.addAddress',
      ]) {
        const done = last(log, new RegExp(`^${operation} .*${about(ip).source}`));
        assert.ok(done < first(log, others), `${operation} of ${ip}`);
      }
    }
    const added = log.flatMap(
      (line) => /^ipvs\.addService .*10\.96\.(\d{1,2})\.(\d+):/.exec(line)?.slice(1) ?? [],
    );
    const ages: number[] = [];
    for (let i = 0; i < added.length; i += 2) {
      ages.push(ageOf(Number(added[i]) * 256 + Number(added[i + 1])));
    }
    assert.equal(ages.length, SERVICES);
    assert.deepEqual(
      ages,
      [...ages].sort((a, b) => b - a),
    );
  });

  it('adds an address after all rules, and after the entries and real servers of its Service', async () => {
    const { node, log } = recorded(cluster());
    await node.sync();
    const rules = [4, 6].map((family) => first(log, new RegExp(`^restore ${family} `)));
    for (const ip of [...VITAL.map(({ ip }) => ip), ipOf(0), ipOf(PIECE), ipOf(SERVICES - 1)]) {
      const address = first(log, new RegExp(`^rtnetlink.addAddress .*${about(ip).source}`));
      const before = [...positions(log, about(ip)), ...positions(log, about(ip.replace('10.96', '10.128')))];
      assert.equal(Math.max(...before), address, ip);
      assert.ok(before.length >= 5, ip);
      assert.ok(Math.max(...rules) < Math.min(...before), 'rules exist first');
    }
  });

  it('restores the rules of both families at the same time', async () => {
    const { node, kernel } = recorded(cluster());
    const restore = kernel.iptables.restore.bind(kernel.iptables);
    let underWay = 0;
    let most = 0;
    kernel.iptables.restore = async (family, operations) => {
      most = Math.max(most, ++underWay);
      await turn();
      underWay--;
      return restore(family, operations);
    };
    assert.deepEqual((await node.sync()).failures, []);
    assert.equal(most, 2);
  });

  it('has the same result as several passes of few Services', async () => {
    const { node } = recorded(restricted());
    await node.sync();
    const few = new FakeNode(HOST);
    for (let some = 0; some <= restricted().size; some += PIECE) {
      few.set(new Map([...restricted()].slice(0, some)));
      await few.sync();
    }
    few.set(restricted());
    await few.sync();
    assert.deepEqual(sorted(node), sorted(few));
  });
});

/** The rules cannot be read until the returned function is called. */
function gateRules({ iptables }: FakeKernel): () => void {
  const save = iptables.save.bind(iptables);
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  iptables.save = async (family) => {
    await gate;
    return save(family);
  };
  return open;
}

/** Lets the event loop run until a condition holds; fails after 10 s. */
async function until(condition: () => boolean): Promise<void> {
  for (const end = performance.now() + 10_000; !condition(); await turn()) assert.ok(performance.now() < end);
}

/** The state of the kernel, without the initial size of sets. */
function sorted(node: FakeNode) {
  const { ipset, ...others } = node.output();
  const texts = { ...others, ipset: ipset.replaceAll(/ hashsize \d+/g, '') };
  return Object.entries(texts).map(([part, text]) => [part, text.split('\n').sort()]);
}

describe('a Service that its source ranges close to the node', () => {
  it('is reachable only after its rule', async () => {
    const { node, log } = recorded(restricted());
    assert.deepEqual((await node.sync()).failures, []);
    const rule = first(log, new RegExp(`^restore 4 .*-s ${EXTERNAL}/32 -m ipvs .* -j DROP`, 's'));
    assert.ok(rule < first(log, new RegExp(`^ipvs.addService .*${about(EXTERNAL).source}`)));
    assert.ok(rule < first(log, new RegExp(`^rtnetlink.addAddress .*${about(EXTERNAL).source}`)));
  });

  it('keeps its rule after a restart, while a new one gets its own before it is reachable', async () => {
    const before = recorded(restricted());
    await before.node.sync();
    const added = objectsOf({ name: 'added', ip: '10.96.201.1', age: 6000, spec: RESTRICTED.spec });
    const objects = withAddress(new Map([...restricted(), ...added]), 'added', '192.0.2.8');
    const { node, log } = recorded(objects, before.kernel);
    assert.deepEqual((await node.sync()).failures, []);
    const [restore, ...more] = log.filter((line) => line.startsWith('restore'));
    assert.deepEqual(more, []);
    assert.match(restore ?? '', /-s 192\.0\.2\.7\/32 .*\n.*-s 192\.0\.2\.8\/32 /);
    assert.ok(first(log, /^restore/) < first(log, /addService .*192\.0\.2\.8/));
  });
});

describe('a restart', () => {
  it('first adds the rules that a new Service needs', async () => {
    const before = recorded(cluster());
    await before.node.sync();
    const spec = { type: 'LoadBalancer', loadBalancerSourceRanges: ['127.0.0.1/32'] };
    const objects = cluster({ name: 'added', ip: '10.96.201.1', age: 6000, spec });
    const { node, log } = recorded(withAddress(objects, 'added', EXTERNAL), before.kernel);
    assert.deepEqual((await node.sync()).failures, []);
    const rule = first(log, /^restore 4 .*--match-set KUBE-LOAD-BALANCER-FW /s);
    assert.ok(rule < first(log, new RegExp(`^ipvs.addService .*${about(EXTERNAL).source}`)));
    assert.ok(rule < first(log, new RegExp(`^rtnetlink.addAddress .*${about(EXTERNAL).source}`)));
    assert.equal(positions(log, /^restore 4/).length, 1, 'the rules change once');
  });

  it('plans all Services while it reads the state of an earlier proxy', async () => {
    const before = recorded(cluster());
    await before.node.sync();
    const { node, planned } = recorded(cluster(), before.kernel);
    const open = gateRules(before.kernel);
    const pass = node.sync();
    await until(() => planned() === SERVICES + VITAL.length);
    open();
    assert.equal((await pass).operations, 0);
  });

  it('on the state of a complete pass makes no operation', async () => {
    const before = recorded(restricted());
    await before.node.sync();
    const { node, log } = recorded(restricted(), before.kernel);
    const { operations, services } = await node.sync();
    assert.deepEqual([operations, services, log], [0, SERVICES + 3, []]);
  });

  it('after an end at any moment of the first pass completes it', async () => {
    const expected = recorded(restricted());
    await expected.node.sync();
    let moments = 0;
    for (let calls = 0, ended = true; ended; calls += WHOLE ? 1 : 7) {
      const kernel = new FakeKernel();
      const { seen, ended: end } = endingKernel(kernel, calls);
      const { node } = recorded(restricted(), seen);
      ended = await Promise.race([end, node.sync().then(() => false)]);
      const next = recorded(restricted(), kernel);
      assert.deepEqual((await next.node.sync()).failures, []);
      assert.deepEqual(sorted(next.node), sorted(expected.node), `after ${calls} calls`);
      if (ended) moments++;
    }
    assert.ok(moments > (WHOLE ? 15 : 2), `only ${moments} moments`);
  });
});

/** A kernel as a process sees it that ends after this number of calls that change it: further ones never end. */
function endingKernel(kernel: FakeKernel, calls: number) {
  let made = 0;
  let end = () => {};
  const ended = new Promise<boolean>((resolve) => {
    end = () => resolve(true);
  });
  const ending = <Part extends object>(part: Part): Part => {
    let recorder: unknown;
    return new Proxy(part, {
      get(target, name) {
        if (name === 'restore' && recorder) return recorder;
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        if (name !== 'apply' && name !== 'applyChanges' && name !== 'restore') return value.bind(target);
        return (...args: unknown[]) => {
          if (made++ < calls) return value.apply(target, args);
          end();
          return new Promise(() => {});
        };
      },
      // The recorder of this process alone; faults belong to the kernel.
      set(target, name, value) {
        if (name !== 'restore') return Reflect.set(target, name, value, target);
        recorder = value;
        return true;
      },
    });
  };
  const parts = (['ipvs', 'ipset', 'rtnetlink', 'iptables'] as const).map((name) => [
    name,
    ending(kernel[name]),
  ]);
  return { seen: Object.assign(Object.create(kernel) as FakeKernel, Object.fromEntries(parts)), ended };
}
