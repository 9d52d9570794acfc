// The benchmark without a kernel: its options, and earlier reports.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { BENCH } from '../../../bench/cli/definition.js';
import { benchOptions, progressForm } from '../../../bench/cli/options.js';
import { METHODS, SCENARIOS } from '../../../bench/scenarios.js';
import { PROGRAM } from '../../support/benchmark/benchProcess.js';
import { report } from '../../support/benchmark/benchReport.js';
import { ROOT } from '../../support/paths.js';

/** Of the scripts, which are not compiled. */
const { HELP, parseOptions } = (await import(
  pathToFileURL(join(ROOT, 'scripts/bench/options.mjs')).href
)) as {
  readonly HELP: string;
  parseOptions(args: readonly string[]): { readonly measured: readonly string[] };
};

const folder = mkdtempSync(join(tmpdir(), 'knp-bench-'));
after(() => rmSync(folder, { recursive: true }));

describe('the options of bench', () => {
  it('are all sizes and methods by default', () => {
    const { sizes, scenarios, methods, repetitions } = benchOptions({ seed: 1 });
    assert.deepEqual(
      sizes.map(({ services }) => services),
      [100, 1000, 5000, 10_000],
    );
    assert.deepEqual([scenarios.length, methods.length, repetitions], [SCENARIOS.length, METHODS.length, 5]);
  });

  it('are all listed by the help', () => {
    const { options } = BENCH;
    const listed = (flag: string) => {
      const { help = '' } = options.find(({ flags }) => flags.startsWith(flag)) ?? {};
      return (/, of (.*);/.exec(help)?.[1] ?? '').split(/, | and /).sort();
    };
    assert.deepEqual(listed('--scenarios'), SCENARIOS.map(({ name }) => name).sort());
    assert.deepEqual(listed('--methods'), METHODS.map(({ name }) => name).sort());
  });

  it('are selected in the order of the measurement', () => {
    const selected = benchOptions({
      seed: 7,
      sizes: '1000x5,10',
      scenarios: 'full,ipvs',
      methods: 'ours,raw',
      sample: 3,
    });
    assert.deepEqual(selected.sizes, [
      { services: 10, endpoints: 10 },
      { services: 1000, endpoints: 5 },
    ]);
    assert.deepEqual(selected.scenarios, ['ipvs', 'full']);
    assert.deepEqual([selected.seed, selected.sample], [7, 3]);
  });

  it('are few with --quick, unless they are given', () => {
    const quick = benchOptions({ seed: 1, quick: true });
    assert.deepEqual([quick.sizes.length, quick.repetitions, quick.sample], [1, 2, 20]);
    assert.equal(benchOptions({ seed: 1, quick: true, repetitions: 9 }).repetitions, 9);
    assert.equal(benchOptions({ seed: 1, quick: true, budget: 3 }).budget, 3);
  });

  it('are refused with the rule', () => {
    for (const [options, message] of [
      [{ sizes: '1e3' }, /--sizes must be numbers of Services such as 100,1000x5, found "1e3"/],
      [{ sizes: '0' }, /number of Services must be from 1 to 100000, found 0/],
      [{ sizes: '10x0' }, /number of endpoints for each Service must be from 1 to 1000, found 0/],
      [{ scenarios: 'ipvs,ipsets' }, /--scenarios must be of ipvs, .*; found "ipsets"/],
      [{ methods: '' }, /--methods must be of raw, .*; found ""/],
    ] as const) {
      assert.throws(() => benchOptions({ seed: 1, ...options }), message);
    }
  });

  it('have all names in the help', () => {
    const help = (flags: string) =>
      BENCH.options.find((option) => option.flags.startsWith(flags))?.help ?? '';
    for (const { name } of SCENARIOS) assert.match(help('--scenarios'), new RegExp(`\\b${name}\\b`));
    for (const { name } of METHODS) assert.match(help('--methods'), new RegExp(`\\b${name}\\b`));
  });
});

it('npm run bench takes each option of bench, and names it', () => {
  for (const { flags } of BENCH.options) {
    const [name = '', value] = flags.split(' ');
    // Two reports become one: only lines show the progress of both.
    if (name === '--progress') continue;
    parseOptions(value === undefined ? [name] : [name, '1']);
    assert.match(HELP, new RegExp(`${name}\\b`));
  }
});

describe('progress', () => {
  it('is a bar on a terminal, lines otherwise, and nothing beside JSON', () => {
    assert.equal(progressForm('auto', 'json', true), 'bar');
    assert.equal(progressForm('auto', 'text', false), 'lines');
    assert.equal(progressForm('auto', 'json', false), 'none');
    assert.equal(progressForm('lines', 'json', true), 'lines');
  });
});

describe('earlier reports', () => {
  const bench = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  const file = join(folder, 'report.json');
  writeFileSync(file, JSON.stringify(report()));

  it('are shown as text, as targets, and as files', () => {
    const results = join(folder, 'results');
    const { status, stdout } = bench(file, '--folder', results);
    assert.equal(status, 0);
    assert.match(stdout, /^Linux 6\.1\.0, User Mode Linux, 1 CPU; at most 3 runs, 1 min 15 s\n/);
    assert.match(readFileSync(join(results, 'benchmarks.md'), 'utf8'), /^# Benchmarks\n/);
    assert.ok(existsSync(join(results, 'benchmarks', 'full.svg')));
    const targets = bench(join(results, 'benchmarks/report.json'), '--targets', '-o', 'json');
    assert.deepEqual(JSON.parse(targets.stdout), { targets: report().targets });
    assert.equal(targets.stderr, '');
    assert.match(bench(file, '-o', 'markdown').stdout, /^# Benchmarks\n/);
  });

  it('have errors that name the file', () => {
    const missing = bench(join(folder, 'missing.json'));
    assert.equal(missing.status, 2);
    assert.match(missing.stderr, /Error: .*missing\.json/);
    writeFileSync(join(folder, 'bad.json'), '[]');
    assert.match(
      bench(join(folder, 'bad.json')).stderr,
      /Error: .*bad\.json: version must be 1, found undefined/,
    );
  });
});
