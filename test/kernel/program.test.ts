// Programs that the addon starts: input, output, limits and errors; and what they leave behind, which is nothing.
// Needs: namespace
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { loadModule } from '../../src/command/modes/shared/loadModules.js';
import { openIptables } from '../../src/kernel/iptables/index.js';
import { ProgramError, type ProgramOptions, runProgram } from '../../src/kernel/shared/programs/program.js';
import { type ReadingOptions, readProgram } from '../../src/kernel/shared/programs/programReading.js';
import { PATIENCE } from '../laboratory/patience.js';
import { settled } from '../support/measures/settled.js';
import { isAlive } from '../support/processes/isAlive.js';

const ROUNDS = 100;
const folder = mkdtempSync(join(tmpdir(), 'knp-program-'));
after(() => rmSync(folder, { recursive: true }));

const shell = (script: string, options?: ProgramOptions) => runProgram('sh', ['-c', script], options);

/** The processes that this one has started, with those that have ended and were not reaped. */
function children(): string[] {
  return readdirSync('/proc/self/task').flatMap((thread) => {
    const path = `/proc/self/task/${thread}/children`;
    return existsSync(path) ? readFileSync(path, 'utf8').split(' ').filter(Boolean) : [];
  });
}

/** Runs `act` with these programs, and no others, in PATH. */
async function withPrograms(scripts: Record<string, string>, act: () => Promise<void>): Promise<void> {
  const path = process.env['PATH'];
  const own = mkdtempSync(join(folder, 'path-'));
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(own, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  process.env['PATH'] = own;
  try {
    await act();
  } finally {
    process.env['PATH'] = path;
  }
}

async function refused(running: Promise<unknown>, code: string, message: string): Promise<void> {
  await assert.rejects(running, (error: ProgramError) => {
    assert.ok(error instanceof ProgramError);
    assert.deepEqual([error.code, error.message], [code, message]);
    return true;
  });
}

test('input, arguments and environment reach the program, and its output comes back', async () => {
  process.env['KNP_PROGRAM_TEST'] = 'café';
  const output = await runProgram('sh', ['-c', 'cat; echo " $1 $KNP_PROGRAM_TEST"', 'sh', 'ö'], {
    input: [Buffer.from('ü')],
  });
  assert.equal(output.toString(), 'ü ö café\n');
  // More than pipes have room for, in pieces of several sizes.
  const long = Buffer.alloc(4_000_000, 'several letters ');
  const input = [0, 7, 7, 100_000, long.length].map((end, i, ends) => long.subarray(ends[i - 1] ?? 0, end));
  assert.ok((await runProgram('cat', [], { input })).equals(long));
});

test('a program that fails rejects with its standard error, or else with how it ended', async () => {
  await refused(shell('echo " a reason " >&2; exit 2'), 'ERR_PROCESS', 'a reason');
  await refused(shell('echo output; exit 2'), 'ERR_PROCESS', 'ended with status 2');
  await refused(shell('kill -SEGV $$'), 'ERR_PROCESS', 'ended by SIGSEGV');
});

test('a program that cannot be started rejects with the reason', async () => {
  await refused(runProgram('knp-no-such-program', []), 'ENOENT', 'spawn knp-no-such-program ENOENT');
  await refused(runProgram('/knp/none', []), 'ENOENT', 'spawn /knp/none ENOENT');
  const file = join(folder, 'not-executable');
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o644);
  await refused(runProgram(file, []), 'EACCES', `spawn ${file} EACCES`);
  await refused(runProgram('sh', ['a\0b']), 'EINVAL', 'spawn sh EINVAL');
  await withPrograms({}, async () => {
    assert.equal(await loadModule('ip_vs'), 'spawn modprobe ENOENT');
  });
});

test('a program that exceeds a limit is ended', async () => {
  let isOver = false;
  const late = refused(shell('sleep 600', { timeout: 500 }), 'ERR_PROCESS', 'no end after 500 ms');
  const end = late.finally(() => {
    isOver = true;
  });
  while (children().length === 0 && !isOver) await delay(5);
  await end;
  await refused(shell('exec >&- 2>&-; sleep 600', { timeout: 100 }), 'ERR_PROCESS', 'no end after 100 ms');
  await refused(shell('yes', { maxOutput: 5000 }), 'ERR_PROCESS', 'more than 5000 bytes of output');
  assert.deepEqual(children(), []);
});

/** The output of a script, and the number of its pieces. */
async function readAll(script: string, options?: ReadingOptions): Promise<{ text: string; pieces: number }> {
  const pieces: Buffer[] = [];
  for await (const piece of readProgram('sh', ['-c', script], options)) pieces.push(piece);
  return { text: Buffer.concat(pieces).toString(), pieces: pieces.length };
}

test('output in pieces: all of it, the end of the program, and its limits', async () => {
  const numbers = Array.from({ length: 100_000 }, (_, i) => `${i + 1}\n`).join('');
  const { text, pieces } = await readAll('seq 1 100000');
  assert.ok(text === numbers);
  assert.ok(pieces > 3 && pieces < 20, `${pieces} pieces`);
  assert.deepEqual(await readAll('exit 0'), { text: '', pieces: 0 });
  await refused(readAll('seq 1 100000; echo " a reason " >&2; exit 2'), 'ERR_PROCESS', 'a reason');
  await refused(readAll('kill -SEGV $$'), 'ERR_PROCESS', 'ended by SIGSEGV');
  await refused(readAll('echo 1; sleep 600', { timeout: 200 }), 'ERR_PROCESS', 'no end after 200 ms');
  await refused(readAll('yes', { maxOutput: 1e6 }), 'ERR_PROCESS', 'more than 1000000 bytes of output');
  const none = readProgram('knp-no-such-program', []);
  await refused(none.next(), 'ENOENT', 'spawn knp-no-such-program ENOENT');
  assert.deepEqual(children(), []);
});

test('a program waits while its output is not read, and ends with the iteration', async () => {
  const file = join(folder, 'written');
  const output = readProgram('sh', ['-c', `seq 1 1000000; touch ${file}`]);
  const first = await output.next();
  assert.ok(!first.done && first.value.toString().startsWith('1\n2\n'));
  await delay(200);
  assert.equal(existsSync(file), false);
  assert.equal(children().length, 1);
  await output.return();
  assert.deepEqual(children(), []);
  assert.equal(existsSync(file), false);
});

test('programs leave no descriptor, process or thread behind', async () => {
  const counts = async ([descriptors, threads]: readonly number[] = []) => [
    await settled(() => readdirSync('/proc/self/fd').length, descriptors),
    await settled(() => readdirSync('/proc/self/task').length, threads),
  ];
  await shell('exit');
  const before = await counts();
  for (let round = 0; round < ROUNDS; round += 10) {
    const ends = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => (i === 0 ? runProgram('/knp/none', []) : runProgram('true', []))),
    );
    assert.equal(ends.filter(({ status }) => status === 'rejected').length, 1);
  }
  assert.deepEqual(await counts(before), before);
  assert.deepEqual(children(), []);
});

test('a program ends with the worker thread that runs it', async () => {
  const file = join(folder, 'pid');
  const script = `echo $$ > ${file}.new; mv ${file}.new ${file}; exec sleep 600`;
  const worker = new Worker(new URL('program-worker.js', import.meta.url), { workerData: { script } });
  await once(worker, 'message');
  while (!existsSync(file)) await delay(5);
  const started = Date.now();
  await worker.terminate();
  assert.ok(Date.now() - started < PATIENCE, 'the thread does not wait for the program');
  assert.equal(existsSync(`/proc/${readFileSync(file, 'utf8').trim()}`), false);
  assert.deepEqual(children(), []);
});

for (const [how, status] of [
  ['exit', 7],
  ['exception', 1],
  ['terminate', 0],
] as const) {
  test(`programs end with their process or thread: ${how}`, async () => {
    const own = mkdtempSync(join(folder, 'end-'));
    const file = fileURLToPath(new URL('program-process.js', import.meta.url));
    const ended = spawnSync(process.execPath, [file, own, how], { encoding: 'utf8', timeout: PATIENCE });
    assert.equal(ended.status, status, ended.stderr);
    assert.equal(ended.stdout, '');
    for (const name of ['run', 'reading', 'session']) {
      const id = readFileSync(join(own, name), 'utf8').trim();
      assert.equal(await settled(() => Number(isAlive(id)), 0), 0, `${name} is alive`);
    }
  });
}

test('errors of the programs of iptables', async () => {
  const iptables = openIptables();
  const message = (error: Error | undefined) => error?.message;
  const chain = { family: 4, table: 'nat', name: 'KUBE-TEST', rules: [] } as const;
  const restore = async () => message((await iptables.restore(4, [{ do: 'setChain', chain }]))[0]);
  const scripts = {
    'iptables-restore': 'read -r line; echo "bad $line, $*" >&2; exit 1',
    'iptables-save': 'exit 3',
  };
  await withPrograms(scripts, async () => {
    assert.equal(await restore(), 'ERR_PROCESS: iptables.restore iptables-restore: bad *nat, --noflush -w');
    const ended = 'ERR_PROCESS: iptables.save iptables-save: ended with status 3';
    assert.equal(
      message(
        await iptables.save(4).then(
          () => undefined,
          (error: Error) => error,
        ),
      ),
      ended,
    );
    await assert.rejects(iptables.save(6), {
      code: 'ENOENT',
      message: 'ENOENT: iptables.save ip6tables-save (install the package iptables)',
    });
  });
});
