// The command lines that select kernels and tests: wrong ones are refused before anything is installed or booted; and the table of a matrix.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../support/paths.js';

/** Of the scripts, which are not compiled. */
const { matrixTable, cellsNamed, nameOfCell, ALL_CELLS } = (await import(
  pathToFileURL(join(ROOT, 'scripts/test/matrix.mjs')).href
)) as {
  readonly ALL_CELLS: readonly string[];
  matrixTable(tried: readonly object[], batches: readonly object[]): string;
  cellsNamed(option: string, value: string): readonly object[];
  nameOfCell(cell: object): string;
};

const REFUSED: readonly (readonly [script: string, args: readonly string[], reason: RegExp])[] = [
  ['vm', ['--cpus', '2', '--machine', 'uml'], /--cpus needs --machine qemu, found --machine uml/],
  ['vm', ['--kernel', 'sid', '--machine', 'namespace'], /--kernel needs --machine qemu or uml/],
  [
    'vm',
    ['--kernel', 'backports', '--machine', 'uml'],
    /must be built, built-without-xtables, bookworm, trixie, sid, found backports/,
  ],
  [
    'vm',
    ['--machine', 'uml', '--kernel', '6.12'],
    /must be built, built-without-xtables, bookworm, trixie, sid, found 6\.12/,
  ],
  [
    'test',
    ['--matrix', 'uml:backports'],
    /with uml must be uml:built, uml:bookworm, uml:trixie, uml:sid, found uml:backports/,
  ],
  ['test', ['--matrix', 'uml'], /with uml must be uml:built, .*, found uml$/m],
  ['test', ['--matrix', 'namespace:sid'], /with namespace must be namespace, found namespace:sid/],
  ['test', ['--matrix', 'qemu:sid:uml'], /found qemu:sid:uml/],
  ['test', ['--matrix', 'xen:sid'], /--matrix must be namespace, uml, qemu, found xen/],
  ['test', ['--matrix', 'all', '--machine', 'uml'], /--matrix and --machine exclude each other/],
  ['test', ['--matrix', 'all', '--only', 'unit'], /--matrix needs a tier of kernel tests, found unit/],
  ['test', ['--rest'], /--rest needs --all/],
  ['test', ['--seed', 'two'], /--seed must be a number of at most 9 digits, found two/],
];

for (const [script, args, reason] of REFUSED) {
  it(`npm run ${script} refuses ${args.join(' ')}`, () => {
    const command = [
      join(ROOT, `scripts/${script}.mjs`),
      ...args,
      ...(script === 'vm' ? ['--', 'true'] : []),
    ];
    const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
    assert.match(stderr, reason);
    assert.deepEqual([status, stdout], [script === 'vm' ? 125 : 1, '']);
  });
}

it('the names of cells are read as they are written', () => {
  assert.deepEqual(cellsNamed('--matrix', 'all').map(nameOfCell), ALL_CELLS);
  assert.deepEqual(cellsNamed('--matrix', 'uml:sid,namespace'), [
    { machine: 'uml', kernel: 'sid' },
    { machine: 'namespace' },
  ]);
});

it('the table has a line for each cell, also for one that does not boot', () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-matrix-'));
  try {
    const result = join(folder, 'kernel-uml-sid.json');
    const counts = { passed: 40, failed: ['kernel/a.test.js: b'], skipped: [], durations: {} };
    writeFileSync(result, JSON.stringify(counts));
    const cell = { machine: 'uml', kernel: 'sid' };
    const batch = {
      tier: { name: 'kernel' },
      place: 'uml',
      kernel: 'sid',
      files: ['a', 'b'],
      result,
      seconds: 12.4,
    };
    const unfinished = { ...batch, files: ['c'], result: join(folder, 'none.json'), seconds: 1 };
    const tried = [
      { cell, release: '7.2.7', features: new Set(), lacking: ['nftables', 'zones'], left: 3 },
      {
        cell: { machine: 'qemu', kernel: 'sid' },
        release: '',
        features: new Set(),
        lacking: [],
        left: 6,
        error: 'no',
      },
    ];
    assert.equal(
      matrixTable(tried, [batch, unfinished]),
      [
        'cell      kernel  files  passed  failed  time  not run\n',
        'uml:sid   7.2.7   3      40      2       13 s  3 files need nftables, zones\n',
        'qemu:sid          0      0       0       0 s   no\n',
      ].join(''),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
