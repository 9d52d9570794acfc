// The promises of `npm run vm`, on the available test machines.
import assert from 'node:assert/strict';
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { until } from '../apiServer/cluster.js';
import { ROOT } from '../paths.js';

const VM = join(ROOT, 'scripts/vm.mjs');
const {
  TEST_MACHINES,
}: { TEST_MACHINES: Readonly<Record<string, { lacks(): Promise<string | undefined> }>> } = await import(
  pathToFileURL(join(ROOT, 'scripts/vm/testMachines.mjs')).href
);

/** The exit of a run; as in a shell, 128+N for signal N. */
interface Ended {
  readonly status: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** A folder for one run, which also has the files of its machine; removed after `use`. */
async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'knp-vm-'));
  try {
    await use(folder);
    // The kernel closes a process's files a moment before it forgets its folder.
    await until('no process outlives the run', () => processesOf(folder).length === 0);
    const left = readdirSync(folder).filter((name) => name.startsWith('kube-netlink-proxy-vm-'));
    assert.deepEqual(left, [], 'the machine removes its files');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Processes whose working directory or arguments have the folder. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return commandLine.includes(folder) || readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false; // it has ended since
    }
  });
}

function start(folder: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const env = { ...process.env, TMPDIR: folder, KNP_MARK: "it's  a mark" };
  return spawn(process.execPath, [VM, ...args], { stdio: ['pipe', 'pipe', 'pipe'], ...options, env });
}

async function end(child: ChildProcess): Promise<Ended> {
  const [[status, signal], stdout, stderr] = await Promise.all([
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
    buffer(child.stdout as NodeJS.ReadableStream),
    buffer(child.stderr as NodeJS.ReadableStream),
  ]);
  return { status: signal ? 128 + constants.signals[signal] : (status ?? -1), stdout, stderr };
}

/** Prints two files on two streams at once, and facts to a third; $1 is the folder, $2 a path outside it. */
const FACTS = `
cat "$1/out" & cat "$1/err" >&2
wait
printf '%s\\n' "$PWD" "$KNP_MARK" "$(id -u)" "$(wc -c)" >"$1/facts"
[ -z "$2" ] || echo written >"$2"
exit 7`;

async function promisesOf(machine: string): Promise<void> {
  // The first run may download the kernel, with a line of progress on standard error.
  const first = spawnSync(process.execPath, [VM, '--machine', machine, 'true'], { encoding: 'utf8' });
  assert.equal(first.status, 0, first.stderr);

  await it('exits with the status; the output is complete, folder and environment are the same, and other files are unchanged', () =>
    inFolder(async (folder) => {
      const output = randomBytes(5_000_000);
      const errors = randomBytes(2_000_000);
      writeFileSync(join(folder, 'out'), output);
      writeFileSync(join(folder, 'err'), errors);
      // In a namespace, writes to files are real, as --help says.
      const outside = machine === 'namespace' ? '' : join(ROOT, `.${basename(folder)}`);
      const args = ['--machine', machine, '--writable', folder, 'sh', '-c', FACTS, 'sh', folder, outside];
      const child = start(folder, args, { cwd: join(ROOT, 'scripts') });
      child.stdin?.end('nothing of this arrives');
      const { status, stdout, stderr } = await end(child);
      assert.equal(status, 7, stderr.subarray(0, 2000).toString());
      assert.ok(stdout.equals(output), `${stdout.length} bytes of standard output`);
      assert.ok(stderr.equals(errors), `${stderr.length} bytes of standard error`);
      const facts = readFileSync(join(folder, 'facts'), 'utf8');
      assert.deepEqual(facts.split('\n'), [join(ROOT, 'scripts'), "it's  a mark", '0', '0', '']);
      assert.ok(outside === '' || !existsSync(outside), `${outside} is in the guest only`);
    }));

  await it('exits with 128+N if signal N kills the command', () =>
    inFolder(async (folder) => {
      const args = ['--machine', machine, 'sh', '-c', 'kill -USR1 $$'];
      assert.equal((await end(start(folder, args))).status, 128 + constants.signals.SIGUSR1);
    }));

  await it('exits with 124 after the time limit, and leaves no process', () =>
    inFolder(async (folder) => {
      const args = ['--machine', machine, '--timeout', '1', 'sh', '-c', 'sleep 600'];
      assert.equal((await end(start(folder, args))).status, 124);
    }));

  await it('ends after a signal, and leaves no process', () =>
    inFolder(async (folder) => {
      const child = start(folder, ['--machine', machine, 'sh', '-c', 'echo begun; sleep 600']);
      child.stdout?.once('data', () => child.kill('SIGTERM'));
      assert.equal((await end(child)).status, 128 + constants.signals.SIGTERM);
    }));

  // A namespace has no files of a machine.
  if (machine === 'namespace') return;
  await it('removes its files if a signal arrives before the machine runs', () =>
    inFolder(async (folder) => {
      const child = start(folder, ['--machine', machine, 'sleep', '600']);
      while (readdirSync(folder).length === 0) await setTimeout(1);
      child.kill('SIGTERM');
      assert.equal((await end(child)).status, 128 + constants.signals.SIGTERM);
    }));
}

/** The test machines that are available on this machine, the fastest first. */
export async function availableTestMachines(): Promise<string[]> {
  const names: string[] = [];
  for (const [name, { lacks }] of Object.entries(TEST_MACHINES))
    if ((await lacks()) === undefined) names.push(name);
  return names;
}

/** Tests the promises on these test machines. */
export function testPromises(names: readonly string[]): void {
  describe('npm run vm', async () => {
    for (const name of names) await describe(name, { concurrency: 2 }, () => promisesOf(name));
  });
}
