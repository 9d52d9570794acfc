// The methods of nftables mode in the benchmark, with both layouts: every one leaves the same ruleset, and the raw limit refuses what
// is no transaction.
// Needs: namespace
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { loadBenchAddon } from '../../bench/addon.js';
import type { ProxyCommand } from '../../bench/against/types.js';
import { BENCH_DEFAULTS, runBench } from '../../bench/bench.js';
import { makeCluster } from '../../bench/cluster.js';
import { inSandbox } from '../../bench/context.js';
import { MODES } from '../../bench/modes.js';
import { elementsOf } from '../../bench/nftables/elements.js';
import { prepare } from '../../bench/nftables/methods.js';
import { type RecordedLife, recordNftables } from '../../bench/nftables/record.js';
import { countMessages, ShortNames, transactionsOf } from '../../bench/nftables/transactions.js';
import { ProxyRun } from '../../bench/proxyRun.js';
import { LIVES, lifeOf, METHODS, SCENARIOS } from '../../bench/scenarios.js';
import type { MethodName, Size } from '../../bench/types.js';
import { ROOT } from '../support/paths.js';

const SIZE = { services: 300, endpoints: 2 };
/** The raw limit has more than one transaction in layout scalable. */
const MANY_ENDPOINTS = { services: 300, endpoints: 14 };
const AGENT: ProxyCommand = {
  name: 'ours',
  command: `${process.execPath} ${join(ROOT, 'dist/src/command/cli/main.js')} --kubeconfig={kubeconfig} --hostname-override={node} --proxy-mode=ipvs --logging-format=json --v=2`,
  passPattern: /"msg":"synced"/,
};
const SMALL = { services: 3, endpoints: 2 };

/** What nft lists, sorted: the order of chains and elements depends on the order of the transactions. */
function ruleset(): string[] {
  const text = execFileSync('nft', ['list', 'ruleset'], { maxBuffer: 1 << 26 }).toString();
  return text
    .split('\n')
    .map((line) => line.replaceAll(/elements = \{|\}$|,$/g, '').trim())
    .flatMap((line) => (line.includes(' map {') ? [line] : line.split(', ')))
    .sort();
}

/** After the full pass and after changes of each kind. */
async function rulesetOfProxy(life: RecordedLife, size: Size): Promise<string[]> {
  const cluster = makeCluster(size, 1);
  return await inSandbox(async ({ host, iptables, nftables, sysctl }) => {
    const run = new ProxyRun(MODES[life], { ...host, iptables, nftables, sysctl });
    await run.begin(cluster.objects());
    await run.report([cluster.replaceEndpoint()]);
    await run.report(cluster.addService());
    await run.report(cluster.replaceEndpoints(10));
    await run.stop();
    return ruleset();
  });
}

describe('every method of nftables mode', () => {
  // Each Service has a chain in the layout of kube-proxy, and an element for each endpoint in layout scalable.
  const lives = [
    ['nftables', SIZE, 1500],
    ['scalable', MANY_ENDPOINTS, 4500],
  ] as const satisfies readonly (readonly [RecordedLife, Size, number])[];
  for (const [life, size, lines] of lives) {
    it(`leaves the same ruleset as the proxy, after the full pass and after changes: ${life}`, async () => {
      const expected = await rulesetOfProxy(life, size);
      assert.ok(expected.length > lines, `${expected.length} lines`);
      const counts = { endpoint: 1, service: 1, endpoints: 1, atOnce: 10 };
      const recording = await recordNftables({ life, size, seed: 1 }, counts);
      for (const method of ['raw', 'toolBatch', 'execFile'] as const satisfies readonly MethodName[]) {
        const found = await inSandbox(async () => {
          const names = new ShortNames();
          const passes = [
            recording.full,
            ...recording.endpoint,
            ...recording.service,
            ...recording.endpoints,
          ];
          for (const pass of passes) await prepare(method, pass, names)();
          return ruleset();
        });
        assert.deepEqual(found, expected, method);
      }
    });
  }

  it('is measured in every scenario', async () => {
    const names = SCENARIOS.map(({ name }) => name).filter((name) => LIVES[lifeOf(name)].mode === 'nftables');
    const scenarios = SCENARIOS.filter(
      ({ name }) => names.includes(name) && name !== LIVES[lifeOf(name)].memory,
    );
    const methods = METHODS.map(({ name }) => name);
    const sizes = { sizes: [SMALL], repetitions: 1, countSystemCalls: false };
    const options = { ...BENCH_DEFAULTS, ...sizes, scenarios: names, methods };
    const report = await runBench(options, {}, undefined, AGENT);
    assert.deepEqual(
      report.unavailable.filter(({ scenario }) => names.includes(scenario)),
      [],
    );
    assert.deepEqual(
      report.figures.map(({ scenario, method }) => `${scenario} ${method}`).sort(),
      scenarios.flatMap(({ name, methods }) => methods.map((method) => `${name} ${method}`)).sort(),
    );
    const figure = (scenario: string, method: string) =>
      report.figures.find((each) => each.scenario === scenario && each.method === method);
    assert.deepEqual(
      report.memory.map(({ size, mode, layout }) => [size, mode, layout]),
      [
        [SMALL, 'nftables', undefined],
        [SMALL, 'nftables', 'scalable'],
      ],
    );
    for (const { resident } of report.memory)
      assert.ok(resident > 20e6 && resident < 500e6, `${resident} bytes`);
    assert.equal(figure('nftablesEndpoint', 'ours')?.operations, 1);
    assert.equal(figure('nftablesEndpoint', 'toolBatch')?.processes, 1);
    assert.equal(figure('nftablesRestart', 'ours')?.operations, 0);
    assert.ok((figure('nftablesFull', 'ours')?.firstService?.median ?? 0) > 0);
    // The slot of the former endpoint is emptied, and filled.
    assert.equal(figure('scalableEndpoint', 'raw')?.operations, 2);
    assert.equal(figure('scalableRestart', 'ours')?.operations, 0);
    assert.ok((figure('scalableFull', 'ours')?.longestBlock ?? -1) >= 0);
  });
});

describe('the raw limit of nftables', () => {
  it('has one transaction for each 256 chains, and one for the elements of shared sets', async () => {
    const { full } = await recordNftables({ life: 'nftables', size: SIZE, seed: 1 });
    const transactions = transactionsOf(full, new ShortNames());
    assert.equal(transactions.length, 3);
    assert.ok(countMessages(transactions) < full.length * 2, `${countMessages(transactions)} messages`);
  });

  it('has one transaction for each 4096 elements in layout scalable, with many elements in a message', async () => {
    const { full } = await recordNftables({ life: 'scalable', size: MANY_ENDPOINTS, seed: 1 });
    const elements = full.flatMap((each) => (each.do === 'addElements' ? elementsOf(each) : []));
    assert.ok(elements.length > 4096 && elements.length < 2 * 4096, `${elements.length} elements`);
    const transactions = transactionsOf(full, new ShortNames());
    assert.equal(transactions.length, 2);
    assert.ok(countMessages(transactions) < elements.length / 10, `${countMessages(transactions)} messages`);
    const small = await recordNftables({ life: 'scalable', size: SIZE, seed: 1 });
    assert.equal(transactionsOf(small.full, new ShortNames()).length, 1);
  });

  it('refuses bytes that are no transactions', async () => {
    const { full } = await recordNftables({ life: 'nftables', size: SMALL, seed: 1 });
    const [bytes = Buffer.alloc(0)] = transactionsOf(full, new ShortNames());
    const { PreparedTransactions } = loadBenchAddon();
    const inNone = { errno: 22, message: /^message \d+ is in no transaction/ };
    assert.throws(() => new PreparedTransactions(bytes.subarray(20)), inNone);
    assert.throws(() => new PreparedTransactions(bytes.subarray(0, -20)), inNone);
    assert.throws(
      () => new PreparedTransactions(Buffer.concat([bytes.subarray(0, 20), bytes.subarray(-20)])),
      inNone,
    );
    assert.throws(() => new PreparedTransactions(new Uint8Array(16)), { errno: 22, message: /wrong length/ });
  });

  it('reports the first message that the kernel refuses', async () => {
    await inSandbox(async () => {
      const counts = { endpoint: 1, service: 0, endpoints: 0, atOnce: 0 };
      const { endpoint } = await recordNftables({ life: 'nftables', size: SMALL, seed: 1 }, counts);
      const [change = []] = endpoint;
      // There is no table.
      await assert.rejects(prepare('raw', change, new ShortNames())(), { errno: 2, message: /^message 2 / });
    });
  });
});
