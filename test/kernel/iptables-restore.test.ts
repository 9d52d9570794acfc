// iptables on this machine's kernel, with both backends: changes without a process each, errors, and the ends of the programs.
// Needs: nftables
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { loadBenchAddon } from '../../bench/addon.js';
import { type IptablesClient, openIptables } from '../../src/kernel/iptables/index.js';
import { Restorer, type RestorerOptions } from '../../src/kernel/iptables/restorer.js';
import { restoreTables } from '../../src/kernel/iptables/text.js';
import type { IptablesOperation } from '../../src/kernel/iptables/types.js';
import { PATIENCE } from '../laboratory/patience.js';
import { codesOf, iptablesContract, setChain } from '../support/contract/iptables.js';
import { isAlive } from '../support/processes/isAlive.js';

const PATH = process.env['PATH'];
const folder = mkdtempSync(join(tmpdir(), 'knp-iptables-'));
/** A line for each start of a restore: its process id. */
const starts = join(folder, 'starts');
const lock = join(folder, 'lock');
// This machine's lock belongs to its own rules.
process.env['XTABLES_LOCKFILE'] = lock;
after(() => rmSync(folder, { recursive: true }));

/** Makes these the programs of iptables. `before` is run by each restore at its start. */
function useBackend(backend: string, before = ''): void {
  const own = mkdtempSync(join(folder, `${backend}-`));
  for (const name of ['iptables', 'ip6tables']) {
    const real = `${name}-${backend}`;
    const script = `#!/bin/sh\necho $$ >>${starts}\n${before}\nexec ${real}-restore "$@"\n`;
    writeFileSync(join(own, `${name}-restore`), script, { mode: 0o755 });
    for (const verb of ['', '-save'])
      writeFileSync(join(own, name + verb), `#!/bin/sh\nexec ${real}${verb} "$@"\n`, { mode: 0o755 });
  }
  process.env['PATH'] = `${own}:${PATH}`;
}

function started(): number[] {
  return existsSync(starts) ? readFileSync(starts, 'utf8').trim().split('\n').map(Number) : [];
}

/** Waits until a process has ended, reaped or not. Before it has closed its files, a change may still be written to it, and is lost. */
async function gone(pid: number): Promise<void> {
  for (const deadline = Date.now() + PATIENCE; isAlive(pid) && Date.now() < deadline; ) await delay(5);
  assert.equal(isAlive(pid), false);
}

const opened: Pick<IptablesClient, 'close'>[] = [];
function open(): IptablesClient {
  const iptables = openIptables();
  opened.push(iptables);
  return iptables;
}

/** The changes of IPv4, with a clock or a time limit of the test. The reports of fallbacks are added to the last argument. */
function restorerOf(options: RestorerOptions, reports: string[]): Restorer {
  const restorer = new Restorer(
    'iptables-restore',
    { fallback: (program, reason) => reports.push(`${program}: ${reason}`), replaced: () => {} },
    options,
  );
  opened.push(restorer);
  return restorer;
}

const tablesOf = (...operations: IptablesOperation[]) => restoreTables(operations);

beforeEach(() => {
  loadBenchAddon().enterNewNetworkNamespace();
  rmSync(starts, { force: true });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((iptables) => iptables.close()));
  process.env['PATH'] = PATH;
});

for (const backend of ['nft', 'legacy']) {
  describe(backend, () => {
    beforeEach(() => useBackend(backend));

    iptablesContract(async () => open());

    it('a change starts no process', async () => {
      const iptables = open();
      for (let i = 0; i < 100; i++) {
        assert.deepEqual(
          codesOf(await iptables.restore(4, [setChain('KNP-A', `-s 10.0.0.${i}/32 -j RETURN`)])),
          ['ok'],
        );
      }
      assert.equal(started().length, 1);
      const save = `iptables-${backend}-save`;
      assert.match(execFileSync(save, { encoding: 'utf8' }), /-A KNP-A -s 10\.0\.0\.99\/32 -j RETURN/);
    });

    it('names the operation of every kind of refusal, or fails its table', async () => {
      const iptables = open();
      const refused = [
        '-s 1.2.3.400/32 -j RETURN',
        '--knp-option -j RETURN',
        '-p tcp -m tcp --dport 99999 -j RETURN',
        '-m set --match-set KNP-NONE src -j RETURN',
        '-m statistic --mode random --probability 7 -j RETURN',
        '-p tcp -j DNAT --to-destination 999.1.1.1:80',
      ];
      for (const [i, text] of refused.entries()) {
        const results = await iptables.restore(4, [
          setChain('KNP-A', '-j RETURN'),
          setChain('KNP-B', '-j RETURN', text),
          setChain('KNP-C', '-j RETURN'),
        ]);
        assert.deepEqual(codesOf(results), ['ERR_ROLLED_BACK', 'ERR_PROCESS', 'ERR_ROLLED_BACK'], text);
        assert.equal(results[1]?.target, `iptables-restore: -A KNP-B ${text}`);
        assert.equal(started().length, i + 1);
      }
      // The kernel itself refuses the target in this table. Legacy iptables names only COMMIT.
      const wrong = (name: string, text: string) =>
        ({ do: 'setChain', chain: { family: 4, table: 'filter', name, rules: [text] } }) as const;
      const results = await iptables.restore(4, [
        setChain('KNP-A', '-j RETURN'),
        wrong('KNP-B', '-j MASQUERADE'),
        wrong('KNP-C', '-j RETURN'),
      ]);
      const rest = backend === 'nft' ? 'ERR_ROLLED_BACK' : 'ERR_PROCESS';
      assert.deepEqual(codesOf(results), ['ok', 'ERR_PROCESS', rest]);
      assert.equal(results[1] === results[2], backend === 'legacy');
    });

    it('a program that was ended while it had nothing to do is replaced, and nothing is lost', async () => {
      const iptables = open();
      await iptables.restore(4, [setChain('KNP-A')]);
      const pid = started()[0] as number;
      process.kill(pid, 'SIGKILL');
      await gone(pid);
      assert.deepEqual(codesOf(await iptables.restore(4, [setChain('KNP-B')])), ['ok']);
      assert.equal(started().length, 2);
    });

    it('the outcome of a change is unknown if the program is ended meanwhile', async () => {
      const iptables = open();
      let codes: string[] = [];
      // If nothing was written to the program before its end, as on a busy machine, another one makes the change.
      for (let lasts = 50; lasts < 20_000; lasts *= 2) {
        await iptables.restore(4, [setChain('KNP-A')]);
        const pid = started().at(-1) as number;
        process.kill(pid, 'SIGSTOP');
        const change = iptables.restore(4, [setChain('KNP-B'), setChain('KNP-C')]);
        await delay(lasts);
        process.kill(pid, 'SIGKILL');
        codes = codesOf(await change);
        if (codes.join() !== 'ok,ok') break;
      }
      assert.deepEqual(codes, ['ERR_UNKNOWN_OUTCOME', 'ERR_UNKNOWN_OUTCOME']);
      assert.deepEqual(codesOf(await iptables.restore(4, [setChain('KNP-B')])), ['ok']);
    });

    it('a large change is made, and the program is then replaced', async () => {
      const iptables = open();
      const rules = Array.from({ length: 250 }, (_, i) => `-s 10.1.1.${i}/32 -j RETURN`);
      const chains = Array.from({ length: 150 }, (_, i) => setChain(`KNP-${i}`, ...rules));
      const results = await iptables.restore(4, chains);
      assert.ok(results.every((error) => error === undefined));
      assert.deepEqual(codesOf(await iptables.restore(4, [setChain('KNP-A')])), ['ok']);
      assert.equal(started().length, 2);
      await gone(started()[0] as number);
      assert.deepEqual((await iptables.save(4)).get('nat/KNP-149'), rules);
    });

    it('other programs change rules between two changes', async () => {
      const iptables = open();
      await iptables.restore(4, [setChain('KNP-A', '-j RETURN')]);
      execFileSync(`iptables-${backend}`, ['-w', '5', '-t', 'nat', '-A', 'KNP-A', '-j', 'ACCEPT']);
      const rule = { family: 4, table: 'nat', chain: 'KNP-A', text: '-j RETURN' } as const;
      assert.deepEqual(codesOf(await iptables.restore(4, [{ do: 'deleteRule', rule }])), ['ok']);
      assert.deepEqual((await iptables.save(4)).get('nat/KNP-A'), ['-j ACCEPT']);
    });

    it('a program that has nothing to do for 6 s runs on', async () => {
      const iptables = open();
      await iptables.restore(4, [setChain('KNP-A')]);
      await delay(6000);
      assert.deepEqual(codesOf(await iptables.restore(4, [setChain('KNP-B')])), ['ok']);
      assert.equal(started().length, 1);
    });

    it('the program ends with the client', async () => {
      const iptables = open();
      await iptables.restore(4, [setChain('KNP-A')]);
      await iptables.close();
      await gone(started()[0] as number);
      assert.deepEqual(codesOf(await iptables.restore(4, [setChain('KNP-A')])), ['ERR_CLOSED']);
    });
  });
}

/** Holds the lock of legacy iptables for so many s, or until end(). */
async function holdLock(seconds: number): Promise<{ isHeld(): boolean; end(): Promise<void> }> {
  const holder = spawn('flock', [lock, 'sh', '-c', `echo $$; exec sleep ${seconds}`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // The child of flock holds the lock too, and flock ends after it.
  const pid = Number((await once(holder.stdout, 'data'))[0]);
  return {
    isHeld: () => existsSync(`/proc/${pid}/exe`),
    async end() {
      process.kill(pid);
      await once(holder, 'exit');
    },
  };
}

it('a change waits while another program holds the lock, and fails if it does for too long', async () => {
  useBackend('legacy');
  const iptables = open();
  await iptables.restore(4, [setChain('KNP-A')]);
  const { isHeld } = await holdLock(1);
  assert.deepEqual(codesOf(await iptables.restore(4, [setChain('KNP-B')])), ['ok']);
  assert.equal(isHeld(), false);
  const holder = await holdLock(600);
  try {
    const results = await iptables.restore(4, [setChain('KNP-C'), setChain('KNP-D')]);
    assert.deepEqual(codesOf(results), ['ERR_UNKNOWN_OUTCOME', 'ERR_UNKNOWN_OUTCOME']);
    assert.match(String(results[0]?.message), /: no answer after \d+ ms \(.*the lock of iptables/);
  } finally {
    await holder.end();
  }
  assert.deepEqual(codesOf(await iptables.restore(4, [setChain('KNP-C')])), ['ok']);
});

it('each change has a process of its own if the program cannot run for long, which is reported once', async () => {
  useBackend('nft', 'case "$*" in *--verbose*) echo "no such option" >&2; exit 2; esac');
  const iptables = open();
  const reports: string[] = [];
  iptables.onFallback = (program, reason) => reports.push(`${program}: ${reason}`);
  for (const name of ['KNP-A', 'KNP-B']) {
    assert.deepEqual(codesOf(await iptables.restore(4, [setChain(name)])), ['ok']);
  }
  const results = await iptables.restore(4, [
    setChain('KNP-C'),
    {
      do: 'setChain',
      chain: { family: 4, table: 'filter', name: 'KNP-F', rules: ['-s 1.2.3.400 -j RETURN'] },
    },
    { do: 'setChain', chain: { family: 4, table: 'filter', name: 'KNP-G', rules: [] } },
  ]);
  assert.deepEqual(codesOf(results), ['ok', 'ERR_PROCESS', 'ERR_ROLLED_BACK']);
  assert.deepEqual(reports, ['iptables-restore: no such option']);
  assert.equal(started().length, 4);
});

/** The longest time of some shells, now, in ms. */
function slowestShell(): number {
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now();
    execFileSync('sh', ['-c', 'true']);
    return performance.now() - began;
  });
  return Math.ceil(Math.max(...times));
}

for (const [what, program] of [
  ['reads its input, but', 'cat >/dev/null'],
  ['reads nothing and', 'sleep 1000'],
]) {
  it(`a program that ${what} never answers is ended, and each change has a process of its own`, async () => {
    useBackend('nft', `case "$*" in *--verbose*) exec ${program};; esac`);
    const reports: string[] = [];
    let now = 0;
    // Its shell must have begun before: see the file `starts`.
    const startTimeout = 300 + 30 * slowestShell();
    const restorer = restorerOf({ now: () => now, startTimeout }, reports);
    await restorer.restore(tablesOf(setChain('KNP-A')));
    const [silent = 0, alone = 0] = started();
    await gone(silent);
    await gone(alone);
    await restorer.restore(tablesOf(setChain('KNP-B')));
    assert.deepEqual(reports, [`iptables-restore: no answer after ${startTimeout} ms`]);
    assert.equal(started().length, 3);
    // After 10 minutes, it is tried again.
    now += 600_000;
    await restorer.restore(tablesOf(setChain('KNP-C')));
    assert.equal(started().length, 5);
    await restorer.close();
    for (const pid of started()) await gone(pid);
    const rules = await open().save(4);
    for (const name of ['KNP-A', 'KNP-B', 'KNP-C']) assert.ok(rules.has(`nat/${name}`), name);
  });
}

it('a program is replaced after an hour, and no change is lost', async () => {
  useBackend('nft');
  let now = 0;
  const restorer = restorerOf({ now: () => now }, []);
  await restorer.restore(tablesOf(setChain('KNP-A')));
  now += 3_599_999;
  await restorer.restore(tablesOf(setChain('KNP-B')));
  assert.equal(started().length, 1);
  now++;
  const names = Array.from({ length: 20 }, (_, i) => `KNP-${i}`);
  const outcomes = await Promise.all(names.map((name) => restorer.restore(tablesOf(setChain(name)))));
  assert.deepEqual(
    outcomes.map(({ failure }) => failure),
    names.map(() => undefined),
  );
  assert.equal(started().length, 2);
  await gone(started()[0] as number);
  const rules = await open().save(4);
  for (const name of names) assert.ok(rules.has(`nat/${name}`), name);
  await restorer.close();
  await gone(started()[1] as number);
});

it('a program that ends with an error before its start was acknowledged fails the change with its own error', async () => {
  useBackend('nft', 'echo "broken" >&2; exit 3');
  const [error] = await open().restore(4, [setChain('KNP-A')]);
  assert.equal(error?.message, 'ERR_PROCESS: iptables.restore iptables-restore: broken');
});

it('a program that is missing is an error of the change', async () => {
  process.env['PATH'] = folder;
  const [error] = await open().restore(4, [setChain('KNP-A')]);
  assert.equal(error?.message, 'ENOENT: iptables.restore iptables-restore (install the package iptables)');
});

it('a program that was missing is tried again after 10 minutes, and then makes all changes', async (t) => {
  process.env['PATH'] = folder;
  const iptables = open();
  assert.deepEqual(codesOf(await iptables.restore(4, [setChain('KNP-A')])), ['ENOENT']);
  useBackend('nft');
  const later = performance.now() + 600_000;
  t.mock.method(performance, 'now', () => later);
  for (const name of ['KNP-A', 'KNP-B']) {
    assert.deepEqual(codesOf(await iptables.restore(4, [setChain(name)])), ['ok']);
  }
  assert.equal(started().length, 1);
});

/** Makes a change and waits. */
const AGENT = `
  import { parentPort } from 'node:worker_threads';
  const { openIptables } = await import(${JSON.stringify(new URL('../../src/kernel/iptables/index.js', import.meta.url).href)});
  const [error] = await openIptables().restore(4, [
    { do: 'setChain', chain: { family: 4, table: 'nat', name: 'KNP-A', rules: [] } },
  ]);
  if (error) throw error;
  parentPort ? parentPort.postMessage('done') : console.log('done');
  setInterval(() => {}, 1000);
`;

it('the program ends with the process that started it, even if that is killed', async () => {
  useBackend('nft');
  const agent = spawn(process.execPath, ['--input-type=module', '-e', AGENT], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(agent.stdout, 'data');
  const [pid = 0] = started();
  assert.ok(isAlive(pid));
  agent.kill('SIGKILL');
  await gone(pid);
});

it('the program ends with the thread that started it', async () => {
  useBackend('nft');
  const file = join(folder, 'worker.mjs');
  writeFileSync(file, AGENT);
  const worker = new Worker(file);
  await once(worker, 'message');
  const [pid = 0] = started();
  await worker.terminate();
  await gone(pid);
});
