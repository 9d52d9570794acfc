// Tables, the document in Markdown, merged reports, and reports that are read again.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { againstFiles } from '../../../bench/against/page.js';
import type { AgainstReport, ProxyFigure, ProxyName } from '../../../bench/against/types.js';
import { benchFiles } from '../../../bench/cli/folder.js';
import { reportLines, targetLines } from '../../../bench/cli/text.js';
import { markdownDocument, markdownTable } from '../../../bench/output/markdown.js';
import { mergeReports } from '../../../bench/output/merge.js';
import { InvalidReport, readReports } from '../../../bench/output/readReport.js';
import { summaryTable } from '../../../bench/output/summary.js';
import { figureTable, memoryTable, targetTable } from '../../../bench/output/table.js';
import type { Figure } from '../../../bench/types.js';
import { figure, report } from '../../support/benchmark/benchReport.js';
import { ROOT } from '../../support/paths.js';

const plain = (text: string) => text.replaceAll('\u00a0', ' ');

describe('a table of figures', () => {
  it('has the spread, the ratio to ours, and marks extrapolated figures', () => {
    const { columns, rows } = figureTable(report().figures.slice(0, 3), false);
    assert.deepEqual(
      columns.map(({ title }) => title),
      ['Services', 'by', 'n', 'min', 'median', 'max', '÷ ours', 'CPU', 'operations', 'processes'],
    );
    assert.deepEqual(
      rows.map((row) => row.map(plain).join(' | ')),
      [
        '100 | raw limit (C++) | 3 | 4.00 ms | 8.00 ms | 16.0 ms | 0.800 | 8.00 ms | 1400 | 0',
        '100 | kube-netlink-proxy | 3 | 5.00 ms | 10.0 ms | 20.0 ms | 1.00 | 10.0 ms | 1400 | 0',
        '100 | one command each (Node.js) | 3 | ≈ 1.00 s | ≈ 2.00 s | ≈ 4.00 s | 200 | ≈ 2.00 s | 1400 | 1400',
      ],
    );
  });

  it('compares figures of the same size only', () => {
    const { columns, rows } = figureTable([figure('ours', 100, 10), figure('raw', 1000, 5)], false);
    const ratio = columns.findIndex(({ title }) => title === '÷ ours');
    assert.deepEqual(
      rows.map((row) => row[ratio]),
      ['1.00', ''],
    );
  });

  it('has no columns without values', () => {
    const titles = (more: object) =>
      figureTable([figure('ours', 100, 1, more)], true).columns.map(({ title }) => title);
    assert.ok(!titles({}).includes('system calls'));
    assert.ok(titles({ systemCalls: 12 }).includes('system calls'));
  });
});

describe('other tables', () => {
  it('show memory by endpoint, and the reason of a target without a value', () => {
    const size = { services: 1000, endpoints: 10 };
    const [row] = memoryTable([{ size, idleResident: 60e6, resident: 64e6 }]).rows;
    assert.deepEqual(row?.map(plain), ['1000 x 10', '60.0 MB', '64.0 MB', '400 B']);
    const { rows } = memoryTable([
      { size, idleResident: 60e6, resident: 64e6 },
      { size, mode: 'nftables', idleResident: 60e6, resident: 64e6 },
      { size, mode: 'nftables', layout: 'scalable', idleResident: 60e6, resident: 64e6 },
    ]);
    assert.deepEqual(
      rows.map(([, mode]) => mode),
      ['ipvs', 'nftables', 'nftables, scalable'],
    );
    assert.deepEqual(
      targetTable(report().targets).rows.map((cells) => cells.slice(1)),
      [
        ['≤ 1.25', '1.25', 'yes'],
        ['≤ 80 MB', '', 'not measured: it runs only on hardware'],
      ],
    );
  });
});

describe('text', () => {
  it('has a table for each scenario, and names what was not measured', () => {
    const lines = reportLines(report(), false, (_, text) => text, 80);
    assert.ok(lines.includes('Full programming of a node'), lines.join('\n'));
    assert.ok(lines.includes('not measured: conntrack: the kernel has no conntrack'), lines.join('\n'));
    assert.ok(lines.includes('≈ was extrapolated from 200 measured operations.'), lines.join('\n'));
    const styles: string[] = [];
    targetLines(
      report().targets,
      (name, text) => {
        styles.push(name);
        return text;
      },
      200,
    );
    assert.deepEqual(styles, ['good', 'faint']);
  });
});

describe('the document', () => {
  it('has a table of a mode, pictures, missed targets, and machines with their commands', () => {
    const one = report();
    const text = markdownDocument({
      ...{ reports: [one], targets: one.targets },
      pictures: [{ path: 'benchmarks/full.svg', title: 'Full programming of a node' }],
      explanation: () => undefined,
    });
    assert.match(text, /^# Benchmarks\n\nWritten by `npm run bench -- --folder docs`/);
    assert.match(
      text,
      /\nnpm run bench -- --scenarios full,conntrack --methods ours,raw,execFile --sizes 100x10,10000x10 --repetitions 3 --budget 60 --sample 200 --seed 1\n/,
    );
    assert.match(
      plain(text),
      /\n## ipvs mode\n\n\|.*\n\|.*\n\| Full programming of a node \| 1 \| 1\.00 s \(1\.00 s\) \| raw/,
    );
    assert.doesNotMatch(text, /## nftables mode/);
    assert.match(
      text,
      /\n\*\*1\*\*: kernel Linux 6\.1\.0, x64, User Mode Linux; .*\n\n```sh\n# 2026-01-01, 1 min 15 s\n/,
    );
    assert.match(
      text,
      /\n!\[Full programming of a node: time by number of Services\]\(benchmarks\/full\.svg\)\n/,
    );
    assert.match(text, /: 1 of 2 are met\. The others:\n\n.*\n.*\n\| idle memory \| /);
    assert.match(text, /\n- not measured: conntrack: the kernel has no conntrack\.\n/);
    assert.match(text, /ipset v7\.17 \| protocol 7/);
  });

  it('has links from missed targets to their explanations', () => {
    const missed = { id: 'full-to-raw', name: 'full', target: '≤ 1.25', value: 3, met: false };
    const merged = mergeReports([report({ targets: [missed, { ...missed, id: 'other' }] })]);
    const [document] = benchFiles(merged, '# Performance\n\n### full-to-raw\n\nText.\n');
    assert.match(
      document?.text ?? '',
      /\n\| full \| ≤ 1\.25 \| 3\.00 \| \[no\]\(performance\.md#full-to-raw\) \|\n\| full \| ≤ 1\.25 \| 3\.00 \| no \|\n/,
    );
    assert.doesNotMatch(benchFiles(merged)[0]?.text ?? '', /performance\.md/);
  });

  it('has columns for 1000 Services and the greatest numbers, with the others as multiples', () => {
    const tableOf = (...groups: (readonly Figure[])[][]) => {
      const table = summaryTable(groups.map((reports, i) => ({ title: 'full', machine: i + 1, reports })));
      return table && [table.columns.map(({ title }) => title), ...table.rows].map((row) => row.map(plain));
    };
    assert.deepEqual(tableOf([report().figures]), [
      ['', 'machine', '10 000 Services', 'other ways'],
      ['full', '1', '1.00 s (1.00 s)', 'raw 0.800; execFile ≈ 200'],
    ]);
    const sizes = [100, 1000, 5000].map((services) => figure('ours', services, services / 10));
    const [sized, twice] = [
      [...sizes, figure('toolBatch', 1000, 250)],
      [report().figures, sizes],
    ];
    assert.deepEqual(tableOf(twice, [sized]), [
      ['', 'machine', '1000 Services', '5000 Services', '10 000 Services', 'other ways'],
      ['full', '1', '100 ms (100 ms)', '500 ms (500 ms)', '1.00 s (1.00 s)', 'raw 0.800; execFile ≈ 200'],
      ['full', '2', '100 ms (100 ms)', '500 ms (500 ms)', '', 'toolBatch 2.50 (1000)'],
    ]);
    assert.equal(tableOf([[figure('raw', 100, 10)]]), undefined);
  });

  it('has the memory of each mode by size', () => {
    const size = { services: 1000, endpoints: 10 };
    const memory = [
      { size: { services: 5000, endpoints: 10 }, idleResident: 60e6, resident: 80e6 },
      { size, idleResident: 60e6, resident: 70e6 },
      { size, mode: 'nftables', layout: 'scalable', idleResident: 61e6, resident: 65e6 },
    ] as const;
    const text = markdownDocument({
      ...{ reports: [report({ memory })], targets: [], pictures: [], explanation: () => undefined },
    });
    const rows = [
      '| Services x endpoints | ipvs | nftables, scalable |\n|---:|---:|---:|',
      '| none | 60.0 MB | 61.0 MB |',
      '| 1000 x 10 | 70.0 MB | 65.0 MB |',
      '| 5000 x 10 | 80.0 MB |  |\n',
    ];
    assert.ok(plain(text).includes(rows.join('\n')), text);
  });

  it('has tables in which every row has every cell', () => {
    const table = markdownTable(figureTable(report().figures, true));
    const counts = table.split('\n').map((line) => line.split('|').length);
    assert.equal(new Set(counts).size, 1, table);
  });

  it('is written with at most three charts, one for each scenario, and the report', () => {
    const merged = mergeReports([report(), report({ machine: { ...report().machine, kernel: '6.12' } })]);
    const files = benchFiles(merged);
    assert.deepEqual(
      files.map(({ path }) => path),
      ['benchmarks.md', 'benchmarks/report.json', 'benchmarks/full.svg'],
    );
    for (const { path } of files.slice(2)) assert.ok(files[0]?.text.includes(`(${path})`), path);
    assert.deepEqual(readReports(files[1]?.text ?? '', 'report.json'), merged.reports);
  });
});

it('docs/ has what its report says: `npm run bench -- docs/benchmarks/report.json --folder docs` writes it', () => {
  const docs = (path: string) => readFileSync(join(ROOT, 'docs', path), 'utf8');
  const report = docs('benchmarks/report.json');
  const merged = mergeReports(readReports(report, 'report.json'));
  const files = benchFiles(merged, docs('performance.md'));
  assert.deepEqual(
    files.map(({ path }) => path).filter((path) => path.startsWith('benchmarks/')),
    readdirSync(join(ROOT, 'docs/benchmarks'))
      .map((name) => `benchmarks/${name}`)
      .sort((a, b) => Number(b.endsWith('.json')) - Number(a.endsWith('.json')) || a.localeCompare(b)),
  );
  for (const { path, text } of files) assert.equal(text === docs(path), true, path);
});

describe('merged reports', () => {
  it('have the first measured value of each target, or the last reason', () => {
    const target = { id: 'idle', name: 'idle memory', target: '≤ 80 MB' };
    const [first, second] = [report(), report({ targets: [{ ...target, value: 79, met: true }] })];
    assert.deepEqual(mergeReports([first, second]).targets, [
      first.targets[0],
      { ...target, value: 79, met: true },
    ]);
    const neither = mergeReports([report({ targets: [{ ...target, reason: 'there is no IPVS' }] }), first]);
    assert.equal(neither.targets.find(({ id }) => id === 'idle')?.reason, 'it runs only on hardware');
  });
});

describe('a report as JSON', () => {
  it('is read again, alone or merged', () => {
    assert.deepEqual(readReports(JSON.stringify(report()), 'a.json'), [report()]);
  });

  it('is refused with the field and the rule', () => {
    const refusals: [text: string, message: RegExp][] = [
      ['{', /^a\.json is not JSON: /],
      ['3', /^a\.json: a report must be an object$/],
      ['{"version":2}', /^a\.json: version must be 1, found 2$/],
      ['{"reports":3}', /^a\.json: reports must be a list$/],
      ['{"reports":[{"version":1}]}', /^a\.json: reports\[0\]: figures must be a list$/],
      [JSON.stringify({ ...report(), machine: 'x' }), /^a\.json: machine must be an object$/],
    ];
    for (const [text, message] of refusals) {
      assert.throws(
        () => readReports(text, 'a.json'),
        (error: Error) => error instanceof InvalidReport && message.test(error.message),
        text,
      );
    }
  });
});

describe('the page of two proxies', () => {
  const spread = (median: number) => ({ min: median / 2, median, max: median * 2, values: [median] });
  const stream = {
    rate: 50,
    changes: 3000,
    missed: 0,
    p50: 3,
    p90: 5,
    p99: 9,
    max: 40,
    cpus: 0.1,
    resident: 9e7,
  };
  const measured = (proxy: ProxyName, services: number, streams = [stream]): ProxyFigure => ({
    ...{ proxy, size: { services, endpoints: 10 }, firstSync: spread(services), cpu: spread(900) },
    ...{ resident: spread(9e7), peak: spread(9e7 + services), started: spread(19), streams },
    endpointChange: spread(7),
  });
  const page = (figures: readonly ProxyFigure[], more: Partial<AgainstReport> = {}) => {
    const commands = { ours: 'node main.js', other: 'kube-proxy -v=4' };
    const { machine, started } = report();
    const versions = { other: 'Kubernetes v1.36.2' };
    const parts = {
      version: 1,
      machine,
      started,
      load: [0.1, 2.34],
      versions,
      commands,
      passPattern: 'x',
    } as const;
    return againstFiles({ ...parts, figures, failed: [], ...more });
  };

  it('has three pictures, the spread, the load, and the version and the command of each', () => {
    const [first, report, ...pictures] = page([
      measured('ours', 100),
      measured('other', 100),
      measured('ours', 1000),
    ]);
    assert.deepEqual(
      [first?.path, report?.path, ...pictures.map(({ path }) => path)],
      [
        'against.md',
        'against/report.json',
        'against/firstSync.svg',
        'against/change.svg',
        'against/memory.svg',
      ],
    );
    const text = plain(first?.text ?? '');
    for (const { path } of pictures) assert.ok(text.includes(`](${path})`), path);
    assert.match(
      text,
      /\| kube-netlink-proxy \| 1000 x 10 \| 1\.00 s \(500 ms to 2\.00 s\) \| 7\.00 ms \(3\.50 ms to 14\.0 ms\) \| no pass \|/,
    );
    assert.match(
      text,
      /\| other \| 100 x 10 \| 50 \| 0 \| 3\.00 ms \| 5\.00 ms \| 9\.00 ms \| 40\.0 ms \| 0\.100 \| 90\.0 MB \|/,
    );
    assert.match(text, /; load 0\.100 before and 2\.34 after \(/);
    assert.match(text, /\nkube-netlink-proxy, version unknown:\n\n```sh\nnode main\.js\n/);
    assert.match(text, /\nother, Kubernetes v1\.36\.2:\n\n```sh\nkube-proxy -v=4\n/);
    assert.match(
      plain(pictures[1]?.text ?? ''),
      /kube-netlink-proxy: 3\.00 ms at 50 %, 5\.00 ms at 90 %, 9\.00 ms at 99 %, 40\.0 ms at all/,
    );
    assert.match(plain(pictures[2]?.text ?? ''), />0 MB</);
  });

  it('has no picture of one size, and the single changes without a stream; a proxy that failed is named', () => {
    const failed = [
      { proxy: 'other', size: { services: 100, endpoints: 10 }, reason: 'it ended with status 1' },
    ] as const;
    const [first, , ...pictures] = page([measured('ours', 100, [])], { failed });
    assert.deepEqual(
      pictures.map(({ path }) => path),
      ['against/change.svg'],
    );
    assert.match(plain(first?.text ?? ''), /not measured: other, 100 x 10: it ended with status 1\./);
    assert.match(plain(pictures[0]?.text ?? ''), /one at a time, to the end of the pass/);
  });
});
