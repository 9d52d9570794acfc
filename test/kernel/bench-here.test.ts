// The command bench on this machine's kernel: it leaves nothing, also after Ctrl-C, and refuses to measure in the node's namespace.
// Needs: ipset
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import type { BenchReport } from '../../bench/types.js';
import { bench, startBench } from '../support/benchmark/benchProcess.js';
import { AS_NOBODY } from '../support/namespaces/asNobody.js';
import { tools } from '../support/namespaces/tools.js';

const SMALL = [
  '--scenarios',
  'ipset,addresses',
  '--sizes',
  '5x2,10x2',
  '--repetitions',
  '1',
  '--sample',
  '2',
];

/** The state that a benchmark could change. mount(8), which the tests that run at the same time call, creates /run/mount. */
const state = () =>
  tools('ipset save', 'ip -o addr', "iptables-save -t filter | grep -v '^#'", 'ls --ignore=mount /run');

test('a report, a document and charts, and the node as before', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-bench-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const before = state();
  const { status, stdout, stderr } = bench([...SMALL, '--folder', folder, '-o', 'json']);
  assert.equal(status, 0, stderr);
  assert.deepEqual(state(), before);
  const { figures } = JSON.parse(stdout) as BenchReport;
  assert.deepEqual([...new Set(figures.map(({ scenario }) => scenario))], ['ipset', 'addresses']);
  assert.deepEqual(readdirSync(join(folder, 'benchmarks')).sort(), [
    'addresses.svg',
    'ipset.svg',
    'report.json',
  ]);
  const document = readFileSync(join(folder, 'benchmarks.md'), 'utf8');
  assert.match(
    document,
    /\n!\[Add entries to sets: time by number of Services\]\(benchmarks\/ipset\.svg\)\n/,
  );
  assert.match(stderr, /measures in a new network namespace/);
});

test('Ctrl-C ends it with all its processes', async () => {
  const [before, processes] = [state(), benchProcesses()];
  const child = startBench(['--scenarios', 'ipset', '--sizes', '10000', '--methods', 'execFile']);
  const lines = createInterface({ input: child.stderr as NodeJS.ReadableStream });
  const closed = once(child, 'close');
  let text = '';
  for await (const line of lines) {
    text += `${line}\n`;
    if (line.startsWith('0 %')) child.kill('SIGINT');
  }
  const [status] = (await closed) as [number | null];
  assert.equal(status, 130, text);
  assert.match(text, /SIGINT: the benchmark has ended, and its namespaces with it\n$/);
  assert.deepEqual(state(), before);
  assert.deepEqual(benchProcesses(), processes);
});

/** Running processes of benchmarks, in the process namespace of the test. */
function benchProcesses(): string[] {
  return tools('ps -e -o args')
    .join('')
    .split('\n')
    .filter((line) => line.includes('main.js bench'));
}

test('it refuses the namespace of the node, and users who are not root', () => {
  const namespace = readlinkSync('/proc/self/ns/net');
  const here = bench(SMALL, { env: { ...process.env, KUBE_NETLINK_PROXY_OUTER_NETNS: namespace } });
  assert.equal(here.status, 2);
  assert.match(here.stderr, /^Error: the network namespace is the node's: net:\[\d+\]; unset /m);
  const nobody = bench(SMALL, { launcher: AS_NOBODY });
  assert.equal(nobody.status, 2);
  assert.match(
    nobody.stderr,
    /^Error: bench needs root, because it creates network namespaces: run it with sudo$/m,
  );
});
