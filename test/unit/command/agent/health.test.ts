// The situations of docs/health.md: the answers of /healthz, /readyz and /livez, and the result of `status`, in ipvs and iptables mode.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AgentState } from '../../../../src/command/agent/agentReport.js';
import { inOrder } from '../../../../src/command/agent/listeners.js';
import { followOwnNode } from '../../../../src/command/agent/ownNode.js';
import { telemetry } from '../../../../src/command/agent/telemetry.js';
import { decodeHealth, statusReport } from '../../../../src/command/cli/status/report.js';
import { healthHandler } from '../../../../src/command/health/answers.js';
import type { Request, Response } from '../../../../src/command/servers/handler.js';
import { openMetrics } from '../../../../src/command/servers/metrics.js';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import type { FakeKernel } from '../../../../src/kernel/testing/index.js';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import type { SyncSummary } from '../../../../src/proxy/reconcile/summary.js';
import { closeAfter } from '../../../support/closeAfter.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { TrackedHealth } from '../../../support/fakes/trackedHealth.js';
import { FakeIptablesNode, FakeNode } from '../../../support/oracle/testNode.js';

/** Twice the period of audits, in ms. */
const WAIT = 60_000;

/** The parts of a node that ipvs and iptables mode have. */
interface AnyNode {
  readonly kernel: FakeKernel;
  readonly reconciler: { requestFullSync(): void };
  retryFailed(): void;
  audit(): Promise<SyncSummary>;
  loadText(text: string): Promise<unknown>;
  sync(): Promise<SyncSummary>;
}

/** An agent's health, with a manual clock, on a node of a mode. */
class World {
  readonly node: AnyNode;
  #now = 0;
  readonly #health = new TrackedHealth(WAIT, { now: () => this.#now, elapsed: () => this.#now });
  readonly #state: AgentState;
  readonly #events;
  readonly #follow;
  readonly #handler;

  constructor(mode: string) {
    this.node = (mode === 'ipvs' ? new FakeNode(HOST) : new FakeIptablesNode(HOST)) as unknown as AnyNode;
    const about = {
      version: '0',
      node: 'node-a',
      mode,
      families: [4, 6] as const,
      startedAt: '1970-01-01T00:00:00Z',
    };
    const metrics = openMetrics({
      version: '0',
      kubernetesVersion: 'v1.36.0',
      startedAt: 0,
    });
    closeAfter(metrics);
    this.#state = new AgentState(about, { lines: () => [] }, () => this.#now);
    const told = telemetry({
      families: [4, 6],
      metrics,
      health: this.#health,
      serviceHealth: { update() {} },
      leftOut: { found() {}, mended() {} },
    });
    this.#events = inOrder([this.#state.listener(), told]);
    this.#follow = followOwnNode(
      'node-a',
      { podCIDRs: [], addresses: undefined },
      {
        eligible: (eligible) => this.#health.setNodeEligible(eligible),
        podCIDRsChanged() {},
        nodeIPsChanged() {},
        deleted() {},
      },
    );
    this.#handler = healthHandler(this.#health.state, () => {});
    this.#health.awaitNode();
    for (const family of [4, 6] as const) this.#health.updated(family);
  }

  sees(fields: object = {}, spec: object = {}): void {
    const { object } = decodeObject({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-a', ...fields },
      spec,
    });
    assert.ok(object);
    this.#follow([{ type: 'set', object }]);
  }

  /** Programs these Services. */
  async load(...names: string[]): Promise<void> {
    const text = names.map((name, i) => service(name, `10.96.0.${i + 1}`) + slice(name, '10.0.0.1'));
    // Every second Service is another tenant's.
    const owned = text.map((each, i) =>
      i % 2 === 0 ? each : each.replaceAll('namespace: demo', 'namespace: other'),
    );
    await this.loadText(owned.join(''));
  }

  /** Programs these Services, all of one namespace, beside the cluster's own. */
  async loadOneNamespace(...names: string[]): Promise<void> {
    const text = names.map((name, i) => service(name, `10.96.0.${i + 1}`) + slice(name, '10.0.0.1'));
    const own = service('kubernetes', '10.96.0.200').replace('namespace: demo', 'namespace: default');
    await this.loadText(own + text.join(''));
  }

  async loadText(text: string): Promise<void> {
    await this.node.loadText(text);
    this.#events.queued?.();
    await this.pass();
  }

  pass(): Promise<void> {
    return this.#after(() => this.node.sync());
  }

  /** An audit runs. */
  audit(): Promise<void> {
    return this.#after(() => this.node.audit());
  }

  async #after(run: () => Promise<SyncSummary>): Promise<void> {
    this.#events.taken?.();
    try {
      this.#events.synced(await run(), 1);
    } catch (error) {
      this.#events.failed(error);
    }
  }

  /** So much time passes, with a retry or an audit that fails or succeeds, as the kernel decides. */
  async later(milliseconds = WAIT + 1): Promise<void> {
    this.#now += milliseconds;
    this.node.retryFailed();
    await this.pass();
  }

  setUnread(name: string): void {
    this.#events.incomplete?.([name]);
  }

  get answers() {
    const [healthz, livez, readyz] = ['/healthz', '/livez', '/readyz'].map(
      (path) => this.#handler({ path } as Request) as Response,
    );
    assert.ok(healthz && livez && readyz);
    const health = decodeHealth(healthz.status, String(healthz.body));
    assert.ok(health);
    const { good, faults } = statusReport(health, this.#state.report());
    return {
      healthz: healthz.status,
      livez: livez.status,
      readyz: readyz.status,
      good,
      faults: faults.join('; '),
    };
  }
}

const error = (code: string, operation: string) => new NetlinkError({ code, operation });

/** Makes changes for Services fail; without names, all changes. */
function refuse(world: World, code: string, ...addresses: string[]): void {
  const { ipvs, ipset, rtnetlink, iptables } = world.node.kernel;
  const hits = (text: string) =>
    addresses.length === 0 || addresses.some((address) => text.includes(address));
  ipvs.fault = (operation, target) => (hits(String(target)) ? error(code, operation) : undefined);
  if (addresses.length === 0) {
    ipset.fault = (operation) => error(code, operation);
    rtnetlink.fault = (operation) => error(code, operation);
  }
  if (code === 'ERR_UNKNOWN_OUTCOME') iptables.fault = (operation) => error(code, operation);
  else iptables.refuse = (_, rule) => (hits(rule) ? 'refused' : undefined);
}

type Answers = World['answers'];

interface Row {
  readonly name: string;
  readonly run: (world: World) => Promise<void> | void;
  /** healthz and livez. */
  readonly codes: readonly [number, number];
  /** readyz, if it differs from healthz. */
  readonly readyz?: number;
  /** The faults that `status` names; none if it is good. */
  readonly faults: RegExp | undefined;
}

const started = async (world: World) => {
  world.sees();
  await world.load('a', 'b');
};

/** A setting that the node's plan has, in each mode. */
const SETTINGS = ['net/ipv4/vs/conntrack', 'net/ipv4/conf/all/route_localnet'];

/** Another program changes a setting, which the proxy may not write. */
async function changeSetting(world: World, code: string): Promise<void> {
  const { sysctl } = world.node.kernel;
  sysctl.fault = (operation) => (operation === 'sysctl.write' ? error(code, operation) : undefined);
  for (const name of SETTINGS) sysctl.values.set(name, '0');
  await world.audit();
  assert.deepEqual([world.answers.healthz, world.answers.livez], [200, 200], 'not at once');
}

const ROWS: readonly Row[] = [
  { name: 'all Services are programmed', run: started, codes: [200, 200], faults: undefined },
  {
    name: 'never synced',
    run: (world) => world.sees(),
    codes: [503, 200],
    faults: /^the proxy is not ready; no pass has ended$/,
  },
  {
    name: 'the Node was never seen',
    run: (world) => world.load('a', 'b'),
    codes: [503, 200],
    faults: /^the Node was not seen, or is being removed$/,
  },
  {
    name: 'the Node has the taint of the cluster autoscaler',
    async run(world) {
      await started(world);
      world.sees({}, { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] });
    },
    codes: [503, 200],
    readyz: 200,
    faults: /^the Node was not seen, or is being removed$/,
  },
  {
    name: 'the Node is being deleted',
    async run(world) {
      await started(world);
      world.sees({ deletionTimestamp: '2026-01-01T00:00:00Z' });
    },
    codes: [503, 200],
    readyz: 200,
    faults: /^the Node was not seen, or is being removed$/,
  },
  {
    name: 'one Service is refused',
    async run(world) {
      await started(world);
      refuse(world, 'EINVAL', '10.96.0.3');
      await world.load('a', 'b', 'c');
      await world.later();
    },
    codes: [200, 200],
    faults: /operations? of the last pass failed|not in the desired state/,
  },
  {
    name: 'most Services of one of two namespaces are refused',
    async run(world) {
      await started(world);
      refuse(world, 'EINVAL', '10.96.0.3', '10.96.0.5', '10.96.0.7');
      await world.load('a', 'b', 'c', 'd', 'e', 'f', 'g');
      await world.later();
    },
    codes: [200, 200],
    faults: /operations? of the last pass failed|not in the desired state/,
  },
  {
    name: 'most Services of the only namespace are refused',
    async run(world) {
      world.sees();
      await world.loadOneNamespace('a');
      refuse(world, 'EINVAL', '10.96.0.2', '10.96.0.3');
      await world.loadOneNamespace('a', 'b', 'c');
      assert.equal(world.answers.healthz, 200, 'not at once');
      await world.later();
    },
    codes: [503, 503],
    faults: /^the proxy is unhealthy; /,
  },
  {
    name: 'the only Service is refused',
    async run(world) {
      world.sees();
      refuse(world, 'EINVAL', '10.96.0.1:', '10.96.0.1/');
      await world.loadOneNamespace('a');
      await world.later();
    },
    codes: [200, 200],
    faults: /operations? of the last pass failed|not in the desired state/,
  },
  {
    name: 'all Services are refused',
    async run(world) {
      await started(world);
      refuse(world, 'EINVAL');
      await world.load('a', 'b', 'c', 'd', 'e');
      await world.later();
    },
    codes: [503, 503],
    faults: /^the proxy is unhealthy; /,
  },
  {
    name: 'another program holds the lock of iptables, or no operation is answered',
    async run(world) {
      await started(world);
      refuse(world, 'ERR_UNKNOWN_OUTCOME');
      await world.load('a', 'b', 'c');
      await world.later();
    },
    codes: [503, 503],
    faults: /^the proxy is unhealthy; /,
  },
  {
    name: 'the first pass fails for Wait',
    async run(world) {
      refuse(world, 'ERR_UNKNOWN_OUTCOME');
      await started(world);
      assert.deepEqual([world.answers.healthz, world.answers.livez], [503, 200], 'not at once');
      await world.later();
    },
    codes: [503, 503],
    faults: /^the proxy is unhealthy; /,
  },
  {
    name: 'the first pass fails, and its retry succeeds',
    async run(world) {
      refuse(world, 'ERR_UNKNOWN_OUTCOME');
      await started(world);
      const { ipvs, ipset, rtnetlink, iptables } = world.node.kernel;
      for (const part of [ipvs, ipset, rtnetlink, iptables]) part.fault = () => undefined;
      await world.later(1000);
    },
    codes: [200, 200],
    faults: undefined,
  },
  ...['EROFS', 'EACCES', 'EPERM'].map(
    (code): Row => ({
      name: `another program changed a setting that cannot be written: ${code}`,
      async run(world) {
        await started(world);
        await changeSetting(world, code);
        await world.later();
      },
      codes: [503, 200],
      faults:
        /^the proxy is unhealthy; 1 operation of the last pass failed; 1 item not in the desired state; all Services need what the kernel refuses: E/,
    }),
  ),
  {
    name: 'a setting cannot be written, and another program holds the lock of iptables',
    async run(world) {
      await started(world);
      await changeSetting(world, 'EROFS');
      refuse(world, 'ERR_UNKNOWN_OUTCOME');
      await world.load('a', 'b', 'c');
      await world.later();
    },
    codes: [503, 503],
    faults: /^the proxy is unhealthy; /,
  },
  {
    name: 'the kernel is unreadable',
    async run(world) {
      await started(world);
      const { iptables } = world.node.kernel;
      iptables.readFault = (operation) => error('EPERM', operation);
      world.node.reconciler.requestFullSync();
      await world.pass();
      assert.equal(world.answers.healthz, 200, 'not at once');
      await world.later();
    },
    codes: [503, 503],
    faults: /^the proxy is unhealthy; the kernel could not be read$/,
  },
  {
    name: 'a manifest is unreadable',
    async run(world) {
      await started(world);
      world.setUnread('web.yaml');
    },
    codes: [200, 200],
    faults: /^unreadable input: web\.yaml$/,
  },
];

for (const mode of ['ipvs', 'iptables'])
  describe(`in ${mode} mode:`, () => {
    for (const { name, run, codes, readyz = codes[0], faults } of ROWS)
      it(name, async () => {
        const world = new World(mode);
        await run(world);
        const answers: Answers = world.answers;
        const { healthz, livez, good, faults: found } = answers;
        assert.deepEqual([healthz, livez, good], [...codes, faults === undefined], found);
        assert.equal(answers.readyz, readyz);
        assert.match(found, faults ?? /^$/);
      });
  });
