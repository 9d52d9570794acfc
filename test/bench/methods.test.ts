// The benchmark at its smallest sizes. Every run is in a network namespace of its own.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { loadBenchAddon } from '../../bench/addon.js';
import { childrenOf } from '../../bench/against/procfs.js';
import type { ProxyCommand } from '../../bench/against/types.js';
import { BENCH_DEFAULTS, runBench } from '../../bench/bench.js';
import { makeCluster } from '../../bench/cluster.js';
import { inSandbox } from '../../bench/context.js';
import { adderOf } from '../../bench/methods.js';
import { iptablesMode } from '../../bench/modes.js';
import { type Phase, sizeOf, type Workload } from '../../bench/phases.js';
import { ProxyRun } from '../../bench/proxyRun.js';
import { check, Sandbox } from '../../bench/sandbox.js';
import { LIVES, lifeOf, METHODS, SCENARIOS } from '../../bench/scenarios.js';
import type { BenchReport, Figure, MemoryFigure, MethodName, ScenarioName, Step } from '../../bench/types.js';
import { type FamilyScenario, familyWorkload, readWorkload } from '../../bench/workloads.js';
import { ROOT } from '../support/paths.js';

const SIZE = { services: 3, endpoints: 2 };
const SAMPLE = 1000;
const AGENT: ProxyCommand = {
  name: 'ours',
  command: `${process.execPath} ${join(ROOT, 'dist/src/command/cli/main.js')} --kubeconfig={kubeconfig} --hostname-override={node} --proxy-mode=ipvs --logging-format=json --v=2`,
  passPattern: /"msg":"synced"/,
};
const NOTHING: MemoryFigure = { size: SIZE, idleResident: 0, resident: 0 };

describe('every method', () => {
  for (const scenario of ['ipvs', 'ipset', 'addresses'] as const satisfies readonly FamilyScenario[]) {
    it(`leaves the same state: ${scenario}`, async () => {
      const workload = familyWorkload(scenario, SIZE);
      const methods = SCENARIOS.find(({ name }) => name === scenario)?.methods ?? [];
      for (const method of methods) {
        const found = await stateAfter(workload, method);
        assert.deepEqual(sorted(found), sorted(workload.phases), `${method} of ${methods.join(', ')}`);
      }
    });
  }
});

it('every method leaves the same rules: iptables mode', async () => {
  const cluster = makeCluster(SIZE, 1);
  const { workload, rules } = await inSandbox(async (sandbox) => {
    const { host, iptables, sysctl } = sandbox;
    const run = new ProxyRun(iptablesMode, { ...host, iptables, sysctl });
    const { restores } = await run.begin(cluster.objects());
    await run.stop();
    return {
      workload: { sets: [], phases: [{ kind: 'rules', restores } as const] },
      rules: await rulesOf(sandbox),
    };
  });
  assert.ok(rules.length > 30, `${rules.length} chains`);
  for (const method of ['raw', 'toolBatch', 'execFile'] as const) {
    const found = await inSandbox(async (sandbox) => {
      await (await adderOf(method, SAMPLE)(workload.phases, sandbox))();
      return rulesOf(sandbox);
    });
    assert.deepEqual(found, rules, method);
  }
});

/** The chains of both families. The order of the Services' rules in KUBE-SERVICES depends on the number of restores. */
async function rulesOf({ iptables }: Sandbox): Promise<unknown[]> {
  const families = await Promise.all(([4, 6] as const).map((family) => iptables.save(family)));
  return families.flatMap((chains, place) =>
    [...chains]
      .map(([chain, rules]) => [place, chain, chain.endsWith('KUBE-SERVICES') ? [...rules].sort() : rules])
      .sort(([, one], [, other]) => (String(one) < String(other) ? -1 : 1)),
  );
}

it('the programs of iptables run in the namespace of their run, and end with it', async () => {
  const sandbox = await Sandbox.enter();
  const chain = { family: 4, table: 'filter', name: 'BENCH', rules: [] } as const;
  try {
    check(await sandbox.iptables.restore(4, [{ do: 'setChain', chain }]));
    const programs = childrenOf(process.pid).map(({ pid }) => readlinkSync(`/proc/${pid}/ns/net`));
    assert.deepEqual(programs, [readlinkSync('/proc/self/ns/net')]);
  } finally {
    await sandbox.leave();
  }
  assert.deepEqual(childrenOf(process.pid), []);
});

async function stateAfter(workload: Workload, method: MethodName): Promise<Phase[]> {
  return inSandbox(async (sandbox) => {
    await sandbox.makeRoom(workload);
    await (await adderOf(method, SAMPLE)(workload.phases, sandbox))();
    const { phases } = await readWorkload(sandbox, []);
    return phases.filter((phase) => sizeOf(phase) > 0);
  });
}

/** Phases as text, in an order that does not depend on the kernel. */
function sorted(phases: readonly Phase[]): unknown[] {
  const texts = phases.map((phase) => {
    if (phase.kind === 'entries')
      return [phase.set.name, ...phase.entries.map((entry) => text(entry)).sort()];
    if (phase.kind !== 'services') return phase;
    return phase.services.map(({ service, realServers }) => [text(service), ...realServers.map(text).sort()]);
  });
  return texts.map((each) => JSON.stringify(each)).sort();
}

/** Fields in the order of their names: the order in which they were listed has no meaning. */
function text(value: object): string {
  return JSON.stringify(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Those of nftables mode have a test of their own: User Mode Linux has no NAT in nftables. */
const MEASURED = SCENARIOS.filter(({ name }) => LIVES[lifeOf(name)].mode !== 'nftables');

describe('a benchmark', () => {
  let report: BenchReport;
  const started: Step[] = [];
  const ended: Step[] = [];
  const planned: Step[] = [];
  const namespace = readlinkSync('/proc/self/ns/net');

  it('measures every scenario by every method', async () => {
    const all = {
      scenarios: MEASURED.map(({ name }) => name),
      methods: METHODS.map(({ name }) => name),
    };
    report = await runBench(
      { ...BENCH_DEFAULTS, ...all, sizes: [SIZE], repetitions: 1, sample: 3, countSystemCalls: false },
      {
        planned: (steps) => planned.push(...steps),
        started: (step) => started.push(step),
        ended: (step) => ended.push(step),
      },
      undefined,
      AGENT,
    );
    assert.deepEqual(report.unavailable, []);
    const expected = MEASURED.filter(({ name }) => name !== 'memory').flatMap(({ name, methods }) =>
      methods.map((method) => `${name} ${method}`),
    );
    assert.deepEqual(
      report.figures.map(({ scenario, method }) => `${scenario} ${method}`).sort(),
      expected.sort(),
    );
    assert.ok(report.figures.every(({ wall, first }) => wall.min > 0 && (first ?? 0) > 0));
  });

  it('measures the memory of the agent', () => {
    const [{ size, idleResident, resident } = NOTHING, ...others] = report.memory;
    assert.deepEqual([size, others], [SIZE, []]);
    for (const bytes of [idleResident, resident]) assert.ok(bytes > 20e6 && bytes < 500e6, `${bytes} bytes`);
  });

  it('reports its steps as they were planned', () => {
    const names = (steps: readonly Step[]) =>
      steps.map(({ scenario, method, repetition }) => `${scenario} ${method} ${repetition}`).sort();
    assert.deepEqual(names(started), names(planned));
    assert.deepEqual(names(ended), names(planned));
  });

  it('counts messages, processes and operations', () => {
    const { services, endpoints } = SIZE;
    assert.equal(figure('ipvs', 'raw').messages, services * (1 + endpoints));
    assert.equal(figure('ipset', 'raw').messages, 2);
    assert.equal(figure('ipset', 'rawSingle').messages, 2 * services);
    assert.equal(figure('ipvs', 'execFile').processes, services * (1 + endpoints));
    assert.equal(figure('ipvs', 'toolBatch').processes, 1);
    assert.equal(figure('ipvs', 'spawn').sample, 3);
  });

  it('counts the processes of rules: the second restore by the proxy starts none', () => {
    const rules = (['rules', 'rulesAgain'] as const).map((scenario) => [
      figure(scenario, 'ours').processes,
      figure(scenario, 'raw').processes,
      figure(scenario, 'execFile').processes,
    ]);
    assert.deepEqual(rules, [
      [4, 4, 4],
      [0, 2, 2],
    ]);
    const { processes, input, operations } = figure('iptablesEndpoint', 'ours');
    assert.equal(processes, 0);
    assert.equal(figure('iptablesEndpoint', 'raw').processes, 1);
    assert.equal(operations, figure('iptablesEndpoint', 'raw').operations);
    assert.ok(input !== undefined && input > 100, `${input} bytes`);
    assert.equal(input, figure('iptablesEndpointInMemory', 'ours').input);
    // Two saves, and the program of each family that runs on.
    assert.equal(figure('iptablesFull', 'ours').processes, 4);
    assert.equal(figure('iptablesFull', 'toolBatch').processes, 2);
  });

  it('sees that the proxy sends exactly the change of an endpoint', () => {
    const { operations, messages, processes } = figure('endpoint', 'ours');
    assert.deepEqual({ operations, messages, processes }, { operations: 2, messages: 2, processes: 0 });
  });

  it('sees that a restart, an audit and a label change nothing', () => {
    const unchanged = ['restart', 'audit', 'nodeLabel'] as const;
    for (const scenario of [...unchanged, 'iptablesRestart', 'iptablesAudit', 'iptablesNodeLabel'] as const) {
      assert.equal(figure(scenario, 'ours').operations, 0, scenario);
    }
  });

  it('sees the vital Services complete before the end of the pass', () => {
    for (const scenario of ['full', 'iptablesFull'] as const) {
      const { firstService, wall } = figure(scenario, 'ours');
      assert.ok(firstService && firstService.median > 0 && firstService.median <= wall.median, scenario);
    }
  });

  it('has left the network namespace of the process', () => {
    assert.notEqual(readlinkSync('/proc/self/ns/net'), namespace);
  });

  function figure(scenario: ScenarioName, method: MethodName): Figure {
    const found = report.figures.find((one) => one.scenario === scenario && one.method === method);
    assert.ok(found, `${scenario} by ${method}`);
    return found;
  }
});

it('a benchmark ends between two steps when it is aborted', async () => {
  const controller = new AbortController();
  const steps: Step[] = [];
  const reason = new Error('enough');
  await assert.rejects(
    runBench(
      {
        ...BENCH_DEFAULTS,
        scenarios: ['addresses'],
        methods: ['ours', 'raw'],
        sizes: [SIZE],
        countSystemCalls: false,
      },
      {
        ended: (step) => {
          steps.push(step);
          if (steps.length === 2) controller.abort(reason);
        },
      },
      controller.signal,
    ),
    reason,
  );
  assert.equal(steps.length, 2);
});

it('a benchmark leaves out the runs for which it has no time, but the first of each figure', async () => {
  const planned: Step[] = [];
  const started: Step[] = [];
  const ended: Step[] = [];
  const { figures } = await runBench(
    {
      ...BENCH_DEFAULTS,
      scenarios: ['addresses'],
      methods: ['ours', 'raw'],
      sizes: [SIZE],
      budget: 0,
      countSystemCalls: false,
    },
    {
      planned: (steps) => planned.push(...steps),
      started: (step) => started.push(step),
      ended: (step) => ended.push(step),
    },
  );
  assert.deepEqual(
    figures.map(({ method, wall }) => [method, wall.values.length]),
    [
      ['ours', 1],
      ['raw', 1],
    ],
  );
  assert.deepEqual(
    started.map(({ repetition }) => repetition),
    [0, 0, 1, 1],
  );
  assert.equal(ended.length, planned.length);
  assert.equal(planned.length, 2 * (1 + BENCH_DEFAULTS.repetitions));
});

it('prepared messages with a wrong length are refused', () => {
  const { PreparedMessages } = loadBenchAddon();
  for (const length of [0, 15, 24]) {
    const message = new Uint8Array(16);
    message[0] = length;
    assert.throws(() => new PreparedMessages(0, message, 1, 8192), {
      errno: 22,
      message: 'message 1 has a wrong length',
    });
  }
});

it('a command that fails is named, with its own words', () => {
  const commands = new (loadBenchAddon().PreparedCommands)(
    [['sh', '-c', 'echo no >&2; exit 3']],
    Buffer.alloc(0),
  );
  assert.throws(() => commands.run(), {
    errno: 5,
    message: 'sh -c echo no >&2; exit 3 ended with status 3: no\n',
  });
});

it('a command reads its input', () => {
  const compare = ['sh', '-c', 'test "$(cat)" = "some text"'];
  const commands = new (loadBenchAddon().PreparedCommands)([compare, compare], Buffer.from('some text'));
  assert.equal(commands.run().processes, 2);
});

it('a message that the kernel refuses ends the raw limit with its number', async () => {
  await inSandbox(async (sandbox) => {
    const workload = familyWorkload('addresses', SIZE);
    await sandbox.makeRoom(workload);
    const add = adderOf('raw', SAMPLE);
    await (await add(workload.phases, sandbox))();
    const again = await add(workload.phases, sandbox);
    await assert.rejects(again(), { errno: 17, message: /^message 1 / });
  });
});
