// The promises of `npm run vm`, and the starts of User Mode Linux that fail. QEMU takes longest to boot: where there is another test
// machine, the tier long tries QEMU.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../support/paths.js';
import { availableTestMachines, testPromises } from '../support/processes/testMachinePromises.js';

const available = await availableTestMachines();
const others = available.filter((machine) => machine !== 'qemu');
testPromises(others.length > 0 ? others : available);

interface Kernel {
  readonly options?: readonly string[];
  readonly preload?: string;
}

/** Of the scripts, which are not compiled. */
const script = (name: string) => import(pathToFileURL(join(ROOT, 'scripts/vm', name)).href);
const { runMachine } = await script('machine.mjs');
const { UML } = await script('uml.mjs');
const { ensureUmlKernel } = await script('umlKernel.mjs');
const { filling, knownTrial } = await script('bootTrial.mjs');

const CACHE = join(ROOT, '.cache/vm');
const JOB = {
  ...{ command: ['true'], folder: ROOT, checkout: ROOT, writable: [] },
  ...{ timeoutSeconds: 60, memoryMib: 512, cpus: undefined },
};

it('that a kernel does not boot is remembered for an hour, and that it does for ever', () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-trials-'));
  const path = join(folder, 'trial.json');
  const written = (trial: object, secondsAgo: number) => {
    writeFileSync(path, JSON.stringify(trial));
    const time = Date.now() / 1000 - secondsAgo;
    utimesSync(path, time, time);
    return knownTrial(path);
  };
  try {
    assert.equal(knownTrial(path), undefined);
    const failed = { filled: false, failure: 'panic' };
    assert.deepEqual(written(failed, 3500), failed);
    assert.equal(written(failed, 3700), undefined);
    assert.deepEqual(written({ filled: true }, 1e7), { filled: true });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

if (available.includes('uml')) {
  describe('User Mode Linux', () => {
    const kernel: Kernel = ensureUmlKernel(CACHE, 'trixie');

    it('a panic ends the start when it is printed, with its line', async () => {
      // Without a first process, the kernel would wait for a device with a root folder, and then panic.
      const options = [...(kernel.options ?? []), 'rdinit=/none', 'init=/none', 'root=/dev/none'];
      await assert.rejects(runMachine(UML, { ...kernel, options }, JOB), {
        message: /^the machine did not boot: .*Kernel panic - not syncing: .*; the end of its console:\n/,
      });
    });

    it('a processor with a larger state is served with areas that are filled up', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'knp-areas-'));
      const compiled = (name: string, ...options: string[]) => {
        const output = join(folder, name);
        const source = join(ROOT, 'test/support/processes/refusedAreas.c');
        execFileSync('gcc', ['-O2', '-shared', '-fPIC', ...options, '-o', output, source]);
        return output;
      };
      try {
        await assert.rejects(
          runMachine(UML, { ...kernel, preload: compiled('plain.so', '-DUNFILLED') }, JOB),
          {
            message: /ptrace set fp regs failed, errno = 14\n.*Kernel panic - not syncing: .*$/,
          },
        );
        const preload = `${filling(CACHE, kernel).preload}:${compiled('host.so')}`;
        assert.equal(await runMachine(UML, { ...kernel, preload }, JOB), 0);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });
}
