// Manifests that are written in place, as `helm template > file` and `curl -o` do: half a file is never taken for all of
// it. Time is the test's.
import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { describeProblem } from '../../../../src/kernel/errors.js';
import { STILL } from '../../../../src/proxy/source/followedFile.js';
import { identityOf } from '../../../../src/proxy/source/manifestFile.js';
import { ManifestSource } from '../../../../src/proxy/source/manifests.js';
import { PATIENCE } from '../../../laboratory/patience.js';
import { service } from '../../../support/clusters/manifests.js';

const A = service('a', '10.96.0.1');
const B = service('b', '10.96.0.2');

/** Ms after which a change that was noticed is read. */
const SETTLED = 10;

let folder: string;
let source: ManifestSource;
let now: number;
/** The next look: when it is due, and what makes it. */
let timer: { readonly due: number; readonly run: () => void } | undefined;
let told: string[];

const path = (name: string) => join(folder, name);
const rename = (name: string, text: string) => {
  writeFileSync(path('new'), text);
  renameSync(path('new'), path(name));
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'knp-in-place-'));
  now = 0;
  timer = undefined;
  told = [];
  const clock = {
    now: () => now,
    set: (run: () => void, milliseconds: number) => {
      timer = { due: now + milliseconds, run };
      return timer;
    },
    clear: (cleared: unknown) => {
      if (timer === cleared) timer = undefined;
    },
  };
  source = new ManifestSource({ path: folder, clock });
});

afterEach(() => {
  source.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  await source.start({
    changed: (changes) => told.push(...changes.map(({ type, object }) => `${type} ${identityOf(object)}`)),
    synced: () => {},
    incomplete: (unread) => told.push(`unread: ${unread.join(', ')}`),
    problems: (problems) => told.push(...problems.map(describeProblem)),
  });
  await noticed(false);
  told.length = 0;
}

async function until(what: string, reached: () => boolean): Promise<void> {
  const deadline = Date.now() + PATIENCE;
  while (!reached()) {
    assert.ok(Date.now() < deadline, `${what} did not happen`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** The source has noticed a change, if there was one, and its last look is over. */
async function noticed(change = true): Promise<void> {
  // Notifications of earlier writes are let in first.
  await new Promise((resolve) => setTimeout(resolve, 20));
  await until('a look', () => timer !== undefined && (!change || timer.due - now <= SETTLED));
}

/** Time goes by; what was reported since the last call. */
async function pass(milliseconds: number): Promise<string[]> {
  const end = now + milliseconds;
  while (timer !== undefined && timer.due <= end) {
    const { due, run } = timer;
    now = Math.max(now, due);
    timer = undefined;
    run();
    await until('the end of the look', () => timer !== undefined);
  }
  now = end;
  return told.splice(0);
}

describe('a file that is written in place', () => {
  it('is read once it has been still for a second', async () => {
    rename('a.yaml', A + B);
    await start();
    writeFileSync(path('a.yaml'), A);
    await noticed();
    assert.deepEqual(await pass(STILL - 100), []);
    assert.deepEqual(await pass(200), ['delete Service demo/b']);
  });

  it('is not read between two pieces, however long the writing takes', async () => {
    rename('a.yaml', A + B);
    await start();
    writeFileSync(path('a.yaml'), A);
    for (let piece = 0; piece < 5; piece++) {
      await noticed();
      assert.deepEqual(await pass(STILL - 100), []);
      appendFileSync(path('a.yaml'), '# more\n');
    }
    appendFileSync(path('a.yaml'), B);
    await noticed();
    assert.deepEqual(await pass(2 * STILL), []);
  });

  it('has reported its objects when it says that everything can be read', async () => {
    rename('a.yaml', 'kind: [');
    await start();
    rename('a.yaml', A);
    await noticed();
    assert.deepEqual(await pass(SETTLED), ['set Service demo/a', 'unread: ']);
  });

  it('takes nothing away when a command empties it and writes nothing for long', async () => {
    rename('a.yaml', A + B);
    await start();
    truncateSync(path('a.yaml'));
    await noticed();
    const [problem, unread, ...changes] = await pass(5 * STILL);
    assert.match(problem ?? '', /a\.yaml: file: contents: must be readable: it is empty; remove the file/);
    assert.equal(unread, 'unread: a.yaml');
    assert.deepEqual(changes, []);
    appendFileSync(path('a.yaml'), A);
    await noticed();
    assert.deepEqual(await pass(STILL - 100), []);
    appendFileSync(path('a.yaml'), B);
    await noticed();
    assert.deepEqual(await pass(2 * STILL), ['unread: ']);
  });

  it('keeps an object that another file gave up to it', async () => {
    rename('a.yaml', A + B);
    rename('b.yaml', '# nothing yet\n');
    await start();
    writeFileSync(path('b.yaml'), '# B comes');
    rename('a.yaml', A);
    await noticed();
    assert.deepEqual(await pass(100), []);
    writeFileSync(path('b.yaml'), B);
    await noticed();
    assert.deepEqual(await pass(2 * STILL), []);
  });
});

describe('a file that is renamed to its place', () => {
  it('is read at once', async () => {
    rename('a.yaml', A + B);
    await start();
    rename('a.yaml', A);
    await noticed();
    assert.deepEqual(await pass(SETTLED), ['delete Service demo/b']);
  });
});

describe('while a file cannot be read', () => {
  it('no object is deleted, since it may have been moved there; others are added and changed', async () => {
    rename('a.yaml', A + B);
    await start();
    rename('b.yaml', `kind: [\n`);
    rename('a.yaml', A.replace('10.96.0.1', '10.96.0.9'));
    await noticed();
    const [problem, unread, ...changes] = await pass(SETTLED);
    assert.match(problem ?? '', /^b\.yaml: text: /);
    assert.equal(unread, 'unread: b.yaml');
    assert.deepEqual(changes, ['set Service demo/a']);
    unlinkSync(path('b.yaml'));
    await noticed();
    assert.deepEqual(await pass(SETTLED), ['delete Service demo/b', 'unread: ']);
  });
});

describe('a change', () => {
  it('that is noticed during a look is read soon after it', async () => {
    await start();
    for (let attempt = 1; ; attempt++) {
      const many = Array.from({ length: 4000 }, (_, i) => service(`s${i}`, `10.96.1.${attempt}`));
      rename('many.yaml', many.join(''));
      await noticed();
      const look = timer;
      timer = undefined;
      look?.run();
      // The long file is being read by now. On a busy machine, the look may begin later, and find the second file too.
      await new Promise((resolve) => setTimeout(resolve, 20));
      rename('a.yaml', service('a', `10.96.0.${attempt}`));
      await until('the end of the look', () => told.length > 0);
      await noticed();
      const isLate = told.splice(0).includes('set Service demo/a');
      const found = await pass(SETTLED);
      if (!isLate) return assert.deepEqual(found, ['set Service demo/a']);
      assert.ok(attempt < 20, 'each look has begun after the second file');
    }
  });
});
