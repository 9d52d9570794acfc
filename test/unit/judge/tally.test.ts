// What a run keeps of its recordings, and reports side by side.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { generateHistory } from '../../judge/core/generate.js';
import { latenciesOf, percentilesOf } from '../../judge/core/latency.js';
import type { Judged, Report } from '../../judge/core/report.js';
import { Tally } from '../../judge/core/tally.js';
import { judge } from '../../judge/core/verdict.js';
import { SIMULATED_BOUNDS, simulate } from '../../judge/simulated/simulate.js';
import { WHOLE } from '../../support/extent.js';
import { ROOT } from '../../support/paths.js';

const { comparisonLines, readReports } = (await import(
  pathToFileURL(join(ROOT, 'scripts/judge/compare.mjs')).href
)) as {
  comparisonLines(reports: readonly Report[]): string[];
  readReports(folders: readonly string[]): Report[];
};

/** The verdict on the history of a seed; with a terminating endpoint chosen if it is a multiple of 5. */
function judged(seed: number): Judged {
  const history = generateHistory(seed, {
    steps: WHOLE ? 30 : 12,
    pause: 400,
    faults: ['chainsFlushed'],
    faultTime: 300,
  });
  const recording = simulate(history, seed % 5 === 0 ? 'terminatingChosen' : undefined);
  return { recording, violations: judge(recording, SIMULATED_BOUNDS) };
}

const all = Array.from({ length: 20 }, (_, i) => judged(i + 1));
const tally = new Tally(SIMULATED_BOUNDS);
for (const one of all) tally.add(one);
const report = tally.report('ours', 'simulated');

describe('a tally', () => {
  it('counts the requests, events and latencies of all recordings', () => {
    const requests = Object.values(report.requests).reduce((sum, count) => sum + count, 0);
    assert.equal(requests, all.flatMap(({ recording }) => recording.observations).length);
    assert.equal(report.events, all.flatMap(({ recording }) => recording.changes).length);
    const times = all.flatMap(
      ({ recording }) => latenciesOf(recording, SIMULATED_BOUNDS).get('endpoint is chosen') ?? [],
    );
    const [expected] = percentilesOf(new Map([['endpoint is chosen', times]]));
    assert.deepEqual(
      report.latencies.find(({ kind }) => kind === 'endpoint is chosen'),
      expected,
    );
  });

  it('keeps twelve recordings: those with the most violations, and then the first ones', () => {
    const kept = tally.kept.map(({ recording }) => recording.history.seed);
    const failing = all.filter(({ violations }) => violations.length > 0);
    const seeds = failing.map(({ recording }) => recording.history.seed);
    assert.ok(seeds.length > 0);
    assert.equal(kept.length, 12);
    assert.deepEqual(new Set(kept.slice(0, seeds.length)), new Set(seeds));
    const others = all.map(({ recording }) => recording.history.seed).filter((seed) => !seeds.includes(seed));
    assert.deepEqual(kept.slice(seeds.length), others.slice(0, 12 - seeds.length));
  });
});

describe('reports side by side', () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-reports-'));
  after(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'report.json'), text);
    return join(folder, name);
  };
  const few = new Tally(SIMULATED_BOUNDS);
  for (const one of all.slice(0, 3)) few.add(one);
  const folders = [
    write('a', JSON.stringify(report)),
    write('b', JSON.stringify(few.report('theirs', 'simulated'))),
  ];

  it('are a line about each, and a row of times for each kind', () => {
    const lines = comparisonLines(readReports(folders));
    assert.match(
      lines[0] ?? '',
      /^A {2}ours, mode simulated: 20 histories, \d+ events, .* [1-9]\d* violations$/,
    );
    assert.match(lines[1] ?? '', /^B {2}theirs, mode simulated: 3 histories, \d+ events, .* 0 violations$/);
    assert.match(
      lines[3] ?? '',
      /^time, in ms .* A p50 +B p50 +A p90 +B p90 +A p99 +B p99 +A count +B count$/,
    );
    const row = lines.find((line) => line.startsWith('endpoint is chosen'))?.split(/ {2,}/);
    const [ours, theirs] = readReports(folders).map(({ latencies }) =>
      latencies.find(({ kind }) => kind === 'endpoint is chosen'),
    );
    assert.deepEqual(row?.slice(1, 3), [ours?.p50, theirs?.p50].map(String));
    assert.deepEqual(row?.slice(7), [ours?.count, theirs?.count].map(String));
    assert.equal(new Set(lines.slice(3).map((line) => line.length)).size, 1);
  });

  it('have a dash where a report has no time of a kind', () => {
    const lines = comparisonLines([report, { ...report, latencies: [] }]);
    assert.match(lines.at(-1) ?? '', / \d+ +- +\d+ +- +\d+ +- +\d+ +-$/);
  });

  it('names a folder without a report', () => {
    assert.throws(() => readReports([join(folder, 'none')]), { message: /^--compare .*none: ENOENT/ });
    const other = write('other', '{"benchmarks": []}');
    assert.throws(() => readReports([other]), {
      message: /other: report\.json must be a report of the judge$/,
    });
  });
});
