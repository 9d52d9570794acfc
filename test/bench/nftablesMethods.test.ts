// The methods of nftables mode in the benchmark: every one leaves the same ruleset, and the raw limit refuses what is no transaction.
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
import { nftablesMode } from '../../bench/modes.js';
import { prepare } from '../../bench/nftables/methods.js';
import { recordNftables } from '../../bench/nftables/record.js';
import { countMessages, ShortNames, transactionsOf } from '../../bench/nftables/transactions.js';
import { ProxyRun } from '../../bench/proxyRun.js';
import { METHODS, SCENARIOS } from '../../bench/scenarios.js';
import type { MethodName } from '../../bench/types.js';
import { ROOT } from '../support/paths.js';

const SIZE = { services: 300, endpoints: 2 };
const AGENT: ProxyCommand = {
  name: 'ours',
  command: `${process.execPath} ${join(ROOT, 'dist/src/cli/main.js')} --kubeconfig={kubeconfig} --hostname-override={node} --proxy-mode=ipvs --logging-format=json`,
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

describe('every method of nftables mode', () => {
  it('leaves the same ruleset as the proxy, after the full pass and after changes', async () => {
    const cluster = makeCluster(SIZE, 1);
    const expected = await inSandbox(async ({ host, iptables, nftables, sysctl }) => {
      const run = new ProxyRun(nftablesMode, { ...host, iptables, nftables, sysctl });
      await run.begin(cluster.objects());
      await run.report([cluster.replaceEndpoint()]);
      await run.report(cluster.addService());
      await run.report(cluster.replaceEndpoints(10));
      await run.stop();
      return ruleset();
    });
    assert.ok(expected.length > 1500, `${expected.length} lines`);
    const recording = await recordNftables(SIZE, 1, 0, { endpoint: 1, service: 1, endpoints: 1, atOnce: 10 });
    for (const method of ['raw', 'toolBatch', 'execFile'] as const satisfies readonly MethodName[]) {
      const found = await inSandbox(async () => {
        const names = new ShortNames();
        const passes = [recording.full, ...recording.endpoint, ...recording.service, ...recording.endpoints];
        for (const pass of passes) await prepare(method, pass, names)();
        return ruleset();
      });
      assert.deepEqual(found, expected, method);
    }
  });

  it('is measured in every scenario', async () => {
    const names = SCENARIOS.map(({ name }) => name).filter((name) => name.startsWith('nftables'));
    const scenarios = SCENARIOS.filter(({ name }) => names.includes(name) && name !== 'nftablesMemory');
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
    const [{ size, mode, resident = 0 } = {}, ...others] = report.memory;
    assert.deepEqual([size, mode, others], [SMALL, 'nftables', []]);
    assert.ok(resident > 20e6 && resident < 500e6, `${resident} bytes`);
    assert.equal(figure('nftablesEndpoint', 'ours')?.operations, 1);
    assert.equal(figure('nftablesEndpoint', 'toolBatch')?.processes, 1);
    assert.equal(figure('nftablesRestart', 'ours')?.operations, 0);
    assert.ok((figure('nftablesFull', 'ours')?.firstService?.median ?? 0) > 0);
  });
});

describe('the raw limit of nftables', () => {
  it('has one transaction for each 256 chains, and one for the elements of shared sets', async () => {
    const { full } = await recordNftables(SIZE, 1, 0);
    const transactions = transactionsOf(full, new ShortNames());
    assert.equal(transactions.length, 3);
    assert.ok(countMessages(transactions) < full.length * 2, `${countMessages(transactions)} messages`);
  });

  it('refuses bytes that are no transactions', async () => {
    const { full } = await recordNftables(SMALL, 1, 0);
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
      const { endpoint } = await recordNftables(SMALL, 1, 0, {
        endpoint: 1,
        service: 0,
        endpoints: 0,
        atOnce: 0,
      });
      const [change = []] = endpoint;
      // There is no table.
      await assert.rejects(prepare('raw', change, new ShortNames())(), { errno: 2, message: /^message 2 / });
    });
  });
});
