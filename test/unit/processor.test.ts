// Machines that run on one CPU are spread over the CPUs.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../support/paths.js';

const PROGRAM = 'knp-machine';

/** The CPUs of this process. */
function processors(): number[] {
  const printed = execFileSync('taskset', ['--cpu-list', '--pid', `${process.pid}`], { encoding: 'utf8' });
  return (printed.split(': ')[1] ?? '')
    .trim()
    .split(',')
    .flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
}

/** Of the scripts, which are not compiled. */
const { processorFor } = (await import(pathToFileURL(join(ROOT, 'scripts/vm/processor.mjs')).href)) as {
  processorFor(program: string): Promise<number>;
};

it('the next machine gets the CPU with the fewest, also while all of them wait', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-'));
  const program = join(folder, PROGRAM);
  copyFileSync('/bin/sleep', program);
  const machines: ChildProcess[] = [];
  const start = async (processor: number) => {
    const machine = spawn('taskset', ['--cpu-list', `${processor}`, program, '60']);
    machines.push(machine);
    const name = () => readFileSync(`/proc/${machine.pid}/comm`, 'utf8').trim();
    for (let i = 0; name() !== PROGRAM && i < 500; i++) await wait(10);
  };
  try {
    const all = processors();
    for (const left of all) {
      for (const processor of all) if (processor !== left) await start(processor);
      assert.equal(await processorFor(PROGRAM), left);
      await start(left);
    }
  } finally {
    for (const machine of machines) machine.kill();
    rmSync(folder, { recursive: true });
  }
});
