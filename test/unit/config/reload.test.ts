import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConfigurationFile, noteFile, watchConfiguration } from '../../../src/config/reload.js';

/** Long enough for the kernel to tell of a change, ms. */
const TOLD = 2000;
/** Long enough to take silence for an answer, ms. */
const QUIET = 300;

describe('the configuration file', () => {
  let folder = '';
  let path = '';
  let calls = 0;
  let called: Promise<void>;
  let watch: { close(): void };

  const begin = (watched: string, read: ConfigurationFile = noteFile(watched)) => {
    calls = 0;
    called = new Promise((resolve) => {
      watch = watchConfiguration(read, () => {
        calls++;
        resolve();
      });
    });
  };
  const isTold = async () => {
    const timer = new AbortController();
    await Promise.race([called, sleep(TOLD, undefined, { signal: timer.signal }).catch(() => {})]);
    timer.abort();
    await sleep(50);
    assert.equal(calls, 1);
  };
  const isQuiet = async () => {
    await sleep(QUIET);
    assert.equal(calls, 0);
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'knp-reload-'));
    path = join(folder, 'config.conf');
    writeFileSync(path, 'a');
  });
  afterEach(() => {
    watch.close();
    rmSync(folder, { recursive: true });
  });

  it('that is written to is told once, however often', async () => {
    begin(path);
    writeFileSync(path, 'b');
    appendFileSync(path, 'c');
    await isTold();
    appendFileSync(path, 'd');
    await isTold();
  });

  it('that was written to since it was read is told', async () => {
    const read = noteFile(path);
    writeFileSync(path, 'bb');
    begin(path, read);
    await isTold();
  });

  it('that the links no longer lead to is not told', async () => {
    const link = join(folder, 'link');
    symlinkSync(path, link);
    const read = noteFile(link);
    writeFileSync(join(folder, 'other'), 'bb');
    unlinkSync(link);
    symlinkSync('other', link);
    begin(link, read);
    await isQuiet();
  });

  it('that is renamed is told', async () => {
    begin(path);
    renameSync(path, join(folder, 'other.conf'));
    await isTold();
  });

  it('is followed through a symbolic link', async () => {
    const link = join(folder, 'link');
    symlinkSync(path, link);
    begin(link);
    appendFileSync(path, 'x');
    await isTold();
  });

  it('of a ConfigMap volume that gets new content is not told: its links are exchanged, its file removed', async () => {
    for (const version of ['1', '2']) {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, 'config.conf'), version);
    }
    symlinkSync('1', join(folder, '..data'));
    const mounted = join(folder, 'mounted.conf');
    symlinkSync('..data/config.conf', mounted);
    begin(mounted);
    symlinkSync('2', join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    rmSync(join(folder, '1'), { recursive: true });
    await isQuiet();
  });

  it('that is removed, or gets other rights, is not told', async () => {
    begin(path);
    chmodSync(path, 0o600);
    unlinkSync(path);
    writeFileSync(path, 'new');
    await isQuiet();
  });

  it('is not told of any more once the watch is closed', async () => {
    begin(path);
    watch.close();
    appendFileSync(path, 'x');
    await isQuiet();
  });
});

it('a file that is not there can be neither noted nor watched', () => {
  const read = noteFile(import.meta.filename);
  assert.throws(() => noteFile('/nowhere/at/all'), /ENOENT/);
  assert.throws(() => watchConfiguration({ ...read, path: '/nowhere/at/all' }, () => {}), /ENOENT/);
});
