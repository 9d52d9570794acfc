import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultConfiguration } from '../../../../src/command/config/configuration.js';
import { readConfigurationFile, watchConfiguration } from '../../../../src/command/config/reload.js';
import { mountConfigMap, updateConfigMap } from '../../../support/deployment/configMapVolume.js';

/** In ms; short, so that tests need not wait. */
const TIMES = { still: 50, again: 100 };
/** Time limit for a change to be noticed, in ms. */
const NOTICED = 5000;
/** Time without calls after which none is expected, in ms. */
const QUIET = 400;
/** Contents that are invalid at a start too. */
const BAD = /^bad/;

/** A file that is watched, in a folder of its own. */
class Watched {
  readonly folder = mkdtempSync(join(tmpdir(), 'knp-reload-'));
  readonly path = join(this.folder, 'config.conf');
  #calls: string[] = [];
  #watch: { close(): void } | undefined;

  constructor() {
    writeFileSync(this.path, 'a');
  }

  readonly begin = (watched: string, file = readConfigurationFile(watched), times = TIMES) => {
    const read = async () => {
      const text = readFileSync(watched, 'utf8');
      if (BAD.test(text)) throw new Error(`refused: ${text}`);
      return { text, configuration: defaultConfiguration() };
    };
    const updated = () => this.#calls.push('updated');
    const damaged = (faults: readonly string[]) => this.#calls.push(faults.join('|'));
    this.#watch = watchConfiguration(file, { read, updated, damaged }, times);
  };

  /** Waits for this number of calls, and checks that there are no more. */
  readonly called = async (...wanted: readonly string[]) => {
    for (let waited = 0; this.#calls.length < wanted.length && waited < NOTICED; waited += 20)
      await sleep(20);
    await this.isQuiet(...wanted);
  };

  readonly isQuiet = async (...until: readonly string[]) => {
    await sleep(QUIET);
    assert.deepEqual(this.#calls, until);
  };

  readonly close = () => this.#watch?.close();
}

// At the same time: most of each test is to wait for calls that must not come.
describe('the configuration file', { concurrency: true }, () => {
  const test = (name: string, body: (watched: Watched) => Promise<void>) =>
    it(name, async () => {
      const watched = new Watched();
      try {
        await body(watched);
      } finally {
        watched.close();
        rmSync(watched.folder, { recursive: true });
      }
    });

  test('that is written several times is reported once, and is watched further', async ({
    path,
    begin,
    called,
  }) => {
    begin(path);
    writeFileSync(path, 'b');
    appendFileSync(path, 'c');
    await called('updated');
    appendFileSync(path, 'd');
    await called('updated', 'updated');
    writeFileSync(path, 'a');
    await called('updated', 'updated', 'updated');
  });

  test('that is written with the same contents, or touched, is not reported', async ({
    path,
    begin,
    isQuiet,
  }) => {
    begin(path);
    writeFileSync(path, 'a');
    await isQuiet();
    utimesSync(path, 0, 0);
    await isQuiet();
  });

  test('that is half written is not read', async ({ path, begin, called }) => {
    begin(path, undefined, { ...TIMES, still: 1000 });
    writeFileSync(path, 'bad beginning');
    await sleep(100);
    writeFileSync(path, 'b');
    await called('updated');
  });

  test('that is invalid is reported once for each set of errors, and is not an update', async ({
    path,
    begin,
    called,
    isQuiet,
  }) => {
    begin(path);
    writeFileSync(path, 'bad 1');
    await called('refused: bad 1');
    writeFileSync(path, 'bad 1');
    await isQuiet('refused: bad 1');
    writeFileSync(path, 'bad 2\nbad 3');
    await called('refused: bad 1', 'refused: bad 2|bad 3');
  });

  test('that was invalid and has its former contents again is not an update', async ({
    path,
    begin,
    called,
  }) => {
    begin(path);
    writeFileSync(path, 'bad');
    await called('refused: bad');
    writeFileSync(path, 'a');
    await called('refused: bad', '');
    writeFileSync(path, 'b');
    await called('refused: bad', '', 'updated');
  });

  test('that was invalid and is replaced by a valid one is an update', async ({ path, begin, called }) => {
    begin(path);
    writeFileSync(path, 'bad');
    await called('refused: bad');
    writeFileSync(`${path}.new`, 'b');
    renameSync(`${path}.new`, path);
    await called('refused: bad', '', 'updated');
  });

  test('that was written since it was read is reported', async ({ path, begin, called }) => {
    const read = readConfigurationFile(path);
    writeFileSync(path, 'bb');
    begin(path, read);
    await called('updated');
  });

  test('is reported if a link has led to another file since it was read', async ({
    folder,
    path,
    begin,
    called,
  }) => {
    const link = join(folder, 'link');
    symlinkSync(path, link);
    const read = readConfigurationFile(link);
    writeFileSync(join(folder, 'other'), 'bb');
    unlinkSync(link);
    symlinkSync('other', link);
    begin(link, read);
    await called('updated');
  });

  test('that is renamed is unreadable until another has its name', async ({
    folder,
    path,
    begin,
    called,
  }) => {
    begin(path);
    renameSync(path, join(folder, 'other.conf'));
    const missing = `ENOENT: no such file or directory, open '${path}'`;
    await called(missing);
    writeFileSync(path, 'b');
    await called(missing, '', 'updated');
  });

  test('is watched through a symbolic link', async ({ folder, path, begin, called }) => {
    const link = join(folder, 'link');
    symlinkSync(path, link);
    begin(link);
    appendFileSync(path, 'x');
    await called('updated');
  });

  test('that another file is moved over is reported once', async ({ path, begin, called }) => {
    begin(path);
    writeFileSync(`${path}.new`, 'b');
    renameSync(`${path}.new`, path);
    await called('updated');
  });

  test('that a stream editor replaces is reported, even if it has the former size and time', async ({
    path,
    begin,
    called,
  }) => {
    utimesSync(path, 1, 1);
    begin(path);
    execFileSync('sed', ['-i', 's/a/b/', path]);
    utimesSync(path, 1, 1);
    await called('updated');
  });

  test('that is replaced by the same contents is not reported, and is watched further', async ({
    path,
    begin,
    called,
    isQuiet,
  }) => {
    begin(path);
    for (let round = 0; round < 2; round += 1) {
      writeFileSync(`${path}.new`, 'a');
      renameSync(`${path}.new`, path);
      await isQuiet();
    }
    writeFileSync(path, 'b');
    await called('updated');
  });

  test('is reported if it is replaced where a chain of links leads to', async ({
    folder,
    path,
    begin,
    called,
  }) => {
    const far = join(folder, 'far');
    mkdirSync(join(far, 'deep'), { recursive: true });
    const target = join(far, 'deep', 'target.conf');
    renameSync(path, target);
    symlinkSync('far/deep/../middle', path);
    symlinkSync(target, join(far, 'middle'));
    begin(path);
    writeFileSync(`${target}.new`, 'b');
    renameSync(`${target}.new`, target);
    await called('updated');
  });

  test('of a ConfigMap volume is reported after an update, which exchanges its links and removes its file', async ({
    folder,
    begin,
    called,
    isQuiet,
  }) => {
    const mounted = mountConfigMap(folder, 'a');
    begin(mounted);
    updateConfigMap(folder, 'a');
    await isQuiet();
    updateConfigMap(folder, 'bad');
    await called('refused: bad');
    updateConfigMap(folder, 'b');
    await called('refused: bad', '', 'updated');
  });

  test('that gets another mode, or another file beside it, is not reported', async ({
    folder,
    path,
    begin,
    isQuiet,
  }) => {
    begin(path);
    chmodSync(path, 0o600);
    writeFileSync(join(folder, 'other.conf'), 'b');
    await isQuiet();
  });

  test('is read soon although files beside it change all the time', async ({
    folder,
    path,
    begin,
    called,
  }) => {
    begin(path);
    const busy = setInterval(() => writeFileSync(join(folder, 'busy'), `${process.hrtime.bigint()}`), 5);
    try {
      writeFileSync(path, 'b');
      await called('updated');
    } finally {
      clearInterval(busy);
    }
  });

  test('that is removed is unreadable until there is another', async ({ path, begin, called }) => {
    begin(path);
    unlinkSync(path);
    const missing = `ENOENT: no such file or directory, open '${path}'`;
    await called(missing);
    writeFileSync(path, 'a');
    await called(missing, '');
    writeFileSync(`${path}.new`, 'b');
    renameSync(`${path}.new`, path);
    await called(missing, '', 'updated');
  });

  test('is not reported after the watch is closed', async ({ path, begin, isQuiet, close }) => {
    begin(path);
    close();
    appendFileSync(path, 'x');
    await isQuiet();
  });
});

const NOBODY = {
  read: async () => ({ text: '', configuration: defaultConfiguration() }),
  updated() {},
  damaged() {},
};

it('a missing file can be neither read nor watched', () => {
  const read = readConfigurationFile(import.meta.filename);
  assert.throws(() => readConfigurationFile('/nowhere/at/all'), /ENOENT/);
  assert.throws(() => watchConfiguration({ ...read, path: '/nowhere/at/all' }, NOBODY), /ENOENT/);
});
