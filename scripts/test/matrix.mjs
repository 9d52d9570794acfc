// A matrix of kernels: each cell is a test machine with a kernel. It runs the test files whose features its kernel has, found by trying.

import { release } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { capture } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';
import { ensurePackages } from '../lib/packages.mjs';
import { BUILT_WITHOUT_XTABLES, KERNEL_NAMES, UML_KERNEL_NAMES } from '../vm/kernelNames.mjs';
import { serves } from '../vm/namespace.mjs';
import { TEST_MACHINES, testMachineNamed } from '../vm/testMachines.mjs';
import { FEATURES } from './needs.mjs';
import { guestFeatures, OF_GUESTS } from './places.mjs';
import { readCounts } from './results.mjs';

/**
 * @typedef {import('./needs.mjs').Feature} Feature
 * @typedef {import('./batches.mjs').Batch} Batch
 *
 * @typedef {object} Cell
 * @property {import('../vm/testMachines.mjs').TestMachineName} machine
 * @property {import('../vm/kernelNames.mjs').UmlKernelName} [kernel] absent: that of this machine
 *
 * @typedef {object} TriedCell
 * @property {Cell} cell
 * @property {string} release output of `uname -r`
 * @property {ReadonlySet<Feature>} features
 * @property {readonly Feature[]} lacking features that a selected file needs
 * @property {number} left number of selected files that do not run
 * @property {string} [error] why none runs: the kernel does not boot, or cannot be downloaded
 */

/** All cells: that of this machine, and each suite in each machine. Suites with equal kernels are not repeated in QEMU. */
export const ALL_CELLS = [
  'namespace',
  'uml:built',
  'uml:bookworm',
  'uml:trixie',
  'uml:sid',
  'qemu:bookworm',
  'qemu:backports',
  'qemu:sid',
];

/** @type {Readonly<Record<Cell['machine'], readonly import('../vm/kernelNames.mjs').UmlKernelName[]>>} */
const KERNELS_OF = {
  namespace: [],
  // Most tests need xtables.
  uml: UML_KERNEL_NAMES.filter((name) => name !== BUILT_WITHOUT_XTABLES),
  qemu: KERNEL_NAMES,
};
/** In s. */
const TRIAL_LIMIT = 300;
const NAMES = /** @type {Feature[]} */ (Object.keys(FEATURES));

/**
 * @param {string} option the option whose value it is
 * @param {string} value `all`, or names separated by commas: `uml:sid,qemu:backports,namespace`
 * @returns {Cell[]}
 */
export function cellsNamed(option, value) {
  return (value === 'all' ? ALL_CELLS : value.split(',')).map((name) => cellNamed(option, name));
}

/**
 * @param {string} option
 * @param {string} name
 * @returns {Cell}
 */
function cellNamed(option, name) {
  const [machineName = '', kernel, ...rest] = name.split(':');
  const machine = testMachineNamed(option, machineName);
  const known = KERNELS_OF[machine];
  if (machine === 'namespace' && kernel === undefined) return { machine };
  const found = known.find((each) => each === kernel);
  if (rest.length === 0 && found !== undefined) return { machine, kernel: found };
  const names = machine === 'namespace' ? machine : known.map((each) => `${machine}:${each}`).join(', ');
  throw new Failure(`a cell of ${option} with ${machine} must be ${names}, found ${name}`);
}

/** @param {Cell} cell */
export const nameOfCell = ({ machine, kernel }) => (kernel === undefined ? machine : `${machine}:${kernel}`);

/**
 * Tries the features of each cell, and selects its files.
 *
 * @param {ReadonlyMap<import('./tiers.mjs').Tier, readonly import('./tiers.mjs').TestFile[]>} tiers of kernel tests
 * @param {readonly Cell[]} cells
 * @param {string} results the folder for the results
 * @returns {Promise<{ batches: Batch[], tried: TriedCell[] }>}
 */
export async function planMatrix(tiers, cells, results) {
  /** @type {Batch[]} */
  const batches = [];
  /** @type {TriedCell[]} */
  const tried = [];
  for (const cell of cells) {
    const found = await tryCell(cell);
    /** @type {Set<Feature>} */
    const lacking = new Set();
    let left = 0;
    for (const [tier, all] of tiers) {
      const files = all.filter((file) => {
        const missing = file.features.filter((feature) => !found.features.has(feature));
        for (const feature of missing) lacking.add(feature);
        return missing.length === 0;
      });
      left += all.length - files.length;
      if (files.length > 0) batches.push(batchOf(tier, cell, files, results));
    }
    tried.push({ cell, ...found, lacking: [...lacking].sort(), left });
  }
  return { batches, tried };
}

/**
 * @param {import('./tiers.mjs').Tier} tier
 * @param {Cell} cell
 * @param {readonly import('./tiers.mjs').TestFile[]} files
 * @param {string} results
 * @returns {Batch}
 */
function batchOf(tier, { machine, kernel }, files, results) {
  const path = join(results, [tier.name, machine, kernel].filter(Boolean).join('-'));
  const paths = files.map((file) => file.path);
  return {
    tier,
    place: machine,
    ...(kernel && { kernel }),
    files: paths,
    result: `${path}.json`,
    log: `${path}.log`,
  };
}

/**
 * @param {Cell} cell
 * @returns {Promise<Pick<TriedCell, 'release' | 'features' | 'error'>>}
 */
async function tryCell(cell) {
  try {
    const { packages, lacks, title } = TEST_MACHINES[cell.machine];
    ensurePackages(packages);
    const lack = await lacks();
    if (lack !== undefined) throw new Failure(`there is no ${title} on this machine: ${lack}`);
    return featuresOf(cell);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // The other cells run all the same.
    return { release: '', features: new Set(), error: error.message };
  }
}

/**
 * @param {Cell} cell
 * @returns {{ release: string, features: ReadonlySet<Feature> }}
 */
function featuresOf(cell) {
  const { machine, kernel } = cell;
  if (kernel === undefined) {
    return { release: release(), features: new Set(NAMES.filter((feature) => serves(FEATURES[feature]))) };
  }
  const guest = guestFeatures(machine, kernel);
  const trials = NAMES.filter((feature) => !OF_GUESTS.includes(feature)).map(
    (feature) =>
      `unshare --net --mount sh -c '${FEATURES[feature]}' >/dev/null 2>&1 && echo 'feature ${feature}'`,
  );
  // Tests load this module themselves; the others are loaded by the kernel.
  const script = ['modprobe -q br_netfilter', 'echo "release $(uname -r)"', ...trials, 'true'].join('\n');
  const options = ['--machine', machine, '--kernel', kernel, '--timeout', String(TRIAL_LIMIT)];
  const { ok, stdout, stderr } = capture(process.execPath, [
    join(CHECKOUT, 'scripts/vm.mjs'),
    ...options,
    ...['--', 'sh', '-c', script],
  ]);
  if (!ok) throw new Failure(`${nameOfCell(cell)} does not run: ${stderr.trim()}`);
  const lines = stdout.toString().split('\n');
  const found = NAMES.filter((feature) => guest.includes(feature) || lines.includes(`feature ${feature}`));
  const line = lines.find((each) => each.startsWith('release '));
  return { release: line?.slice('release '.length) ?? '', features: new Set(found) };
}

/**
 * The table of the results, a line for each cell.
 *
 * @param {readonly TriedCell[]} tried
 * @param {readonly Batch[]} batches
 * @returns {string}
 */
export function matrixTable(tried, batches) {
  const rows = tried.map(({ cell, release: kernel, lacking, left, error }) => {
    const own = batches.filter(({ place, kernel: name }) => place === cell.machine && name === cell.kernel);
    const counts = own.map(readCounts);
    const sum = (/** @type {(counts: import('./counts.mjs').Counts) => number} */ of) =>
      counts.reduce((total, each) => total + (each ? of(each) : 0), 0);
    const files = own.reduce((total, batch) => total + batch.files.length, 0);
    const seconds = own.reduce((total, batch) => total + (batch.seconds ?? 0), 0);
    const passed = sum((each) => each.passed);
    const failed = sum((each) => each.failed.length) + counts.filter((each) => each === undefined).length;
    const lacks =
      error ??
      (left === 0 ? '' : `${left} ${left === 1 ? 'file needs' : 'files need'} ${lacking.join(', ')}`);
    return [nameOfCell(cell), kernel, `${files}`, `${passed}`, `${failed}`, `${seconds.toFixed(0)} s`, lacks];
  });
  const table = [['cell', 'kernel', 'files', 'passed', 'failed', 'time', 'not run'], ...rows];
  const widths = table[0]?.map((_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0))) ?? [];
  return table
    .map(
      (row) =>
        `${row
          .map((text, i) => text.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
