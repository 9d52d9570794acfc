// Every byte of the output of a command arrives, whatever it is written to. The rows are commands × where the output goes; each row has the
// next format.
// Needs: nftables, command
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { parse } from 'yaml';
import { PATIENCE } from '../laboratory/patience.js';
import { COMMAND } from '../laboratory/proxyProcess.js';
import { closeAfter } from '../support/closeAfter.js';
import { service, slice } from '../support/clusters/manifests.js';
import { sample } from '../support/extent.js';
import { tools } from '../support/namespaces/tools.js';

/** A pipe of Linux takes 64 KiB at once. */
const PIPE = 65_536;

/** A reader that is slower than every command: it copies 8 KiB and then waits for 2 ms. */
const SLOW = `const fs = require('fs'), bytes = Buffer.alloc(8192), word = new Int32Array(new SharedArrayBuffer(4));
for (let n; (n = fs.readSync(0, bytes)) > 0; Atomics.wait(word, 0, 0, 2)) fs.writeSync(1, bytes, 0, n);`;

/** Shell words that copy the output of `run` to the file "$OUT". PIPESTATUS is the status of a pipe's first program. */
const SINKS = {
  file: 'run "$@" >"$OUT"',
  'fast pipe': 'run "$@" | cat >"$OUT"; exit "$PIPESTATUS"',
  'slow pipe': 'run "$@" | "$0" -e "$SLOW" >"$OUT"; exit "$PIPESTATUS"',
  // The shell has a socket as its standard output, as a process of Node.js has.
  socket: 'run "$@"',
  head: 'run "$@" | head -n 1 >"$OUT"; exit "$PIPESTATUS"',
  'closed descriptor': 'run "$@" >&-',
} as const;

/** The command $0. With errors, standard error takes the place of standard output. */
const RUN = 'run() { "$0" "$@"; };';
const RUN_ERRORS = 'run() { "$0" "$@" 3>&1 1>&2 2>&3 3>&-; };';
const CLOSED_ERRORS = '"$0" "$@" 1>&2 2>&-';

type SinkName = keyof typeof SINKS;

interface CommandRow {
  /** Words, without the program. */
  readonly words: () => readonly string[];
  readonly formats: readonly string[];
  /** Its long output is on standard error. */
  readonly errors?: true;
  /** Words of a command that runs before. */
  readonly first?: () => readonly string[];
  /** Exit status with all output read. */
  readonly status: number;
}

let folder: string;
const objects = () => `--manifests=${join(folder, 'objects')}`;
const broken = () => join(folder, 'broken');
const MODE = ['--proxy-mode=nftables', '--cluster-cidr=10.244.0.0/16', '--hostname-override=node-a'];
const FORMATS = ['text', 'json', 'yaml'];

/** In an order in which each has something to print: `plan` before the kernel is programmed, `services` after. */
const COMMANDS: Readonly<Record<string, CommandRow>> = {
  check: { words: () => ['check', broken()], formats: ['text', 'json', 'yaml'], status: 1 },
  plan: { words: () => ['plan', objects(), ...MODE], formats: FORMATS, status: 1 },
  diff: { words: () => ['diff', objects(), ...MODE], formats: ['json'], status: 1 },
  once: {
    words: () => ['--once', `--manifests=${broken()}`, ...MODE],
    first: () => ['--once', `--manifests=${broken()}`, ...MODE],
    formats: ['text', 'json'],
    errors: true,
    status: 1,
  },
  error: { words: () => ['--config', join(folder, 'wrong.conf')], formats: [], errors: true, status: 1 },
  // Without --proxy-mode: no agent answers, and the mode is that of the kernel.
  services: {
    words: () => ['services', objects()],
    first: () => ['--once', objects(), ...MODE],
    formats: FORMATS,
    status: 0,
  },
};

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'knp-output-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  const numbers = Array.from({ length: 1200 }, (_, i) => `${i >> 8}.${i & 255}`);
  const good = numbers.map((n, i) => service(`web-${i}`, `10.96.${n}`) + slice(`web-${i}`, `10.244.${n}`));
  const bad = numbers.map((n, i) => service(`broken-${i}-${'x'.repeat(100)}`, `nowhere.${n}`));
  for (const [name, texts] of [
    ['objects', good],
    ['broken', bad],
  ] as const) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'objects.yaml'), texts.join(''));
  }
  const wrong = numbers.map((n) => `"no network ${n} ${'x'.repeat(100)}"`).join(', ');
  writeFileSync(
    join(folder, 'wrong.conf'),
    `apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nnodePortAddresses: [${wrong}]\n`,
  );
  tools('ip link set lo up');
});

/** Runs a command with its output going to a sink. */
function run({ words, errors }: CommandRow, format: string | undefined, sink: SinkName) {
  const option = errors ? '--logging-format' : '--output';
  const args = [COMMAND, ...words(), ...(format === undefined ? [] : [`${option}=${format}`])];
  const isClosed = sink === 'closed descriptor';
  const script = errors && isClosed ? CLOSED_ERRORS : `${errors ? RUN_ERRORS : RUN} ${SINKS[sink]}`;
  const out = join(folder, 'out');
  writeFileSync(out, '');
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, process.execPath, ...args], {
    env: { ...process.env, OUT: out, SLOW },
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
    timeout: PATIENCE,
  });
  return { status, text: sink === 'socket' ? stdout : readFileSync(out, 'utf8'), rest: stderr };
}

/** Without what differs from run to run: times and durations. */
const steady = (text: string) => text.replace(/\d+/g, '0');

const rows = Object.entries(COMMANDS).flatMap(([name, row]) =>
  (Object.keys(SINKS) as SinkName[])
    .filter((sink) => sink !== 'file')
    .map((sink, i) => ({ name, row, format: row.formats[i % row.formats.length], sink })),
);
const chosen = new Set(sample(rows, 4));

for (const [name, row] of Object.entries(COMMANDS)) {
  for (const format of row.formats.length > 0 ? row.formats : [undefined]) {
    const sinks = rows.filter((each) => each.name === name && each.format === format && chosen.has(each));
    if (sinks.length === 0) continue;
    test(`${name} ${format ?? ''}`, async (t) => {
      if (row.first) run({ words: row.first, formats: [], status: 0 }, undefined, 'file');
      const whole = run(row, format, 'file');
      assert.equal(whole.status, row.status, whole.rest);
      assert.ok(whole.text.length > 2 * PIPE, `${whole.text.length} bytes do not fill a pipe`);
      if (!row.errors && format === 'json') JSON.parse(whole.text);
      if (!row.errors && format === 'yaml') parse(whole.text);
      for (const { sink } of sinks)
        await t.test(sink, () => checkSink(run(row, format, sink), sink, whole, row));
    });
  }
}

type Run = ReturnType<typeof run>;

function checkSink(found: Run, sink: SinkName, whole: Run, { errors }: CommandRow): void {
  // A reader that has read enough is no failure, and errors that nobody reads change no status.
  assert.equal(found.status, sink === 'head' && !errors ? 0 : whole.status, found.rest);
  assert.equal(steady(found.rest), steady(whole.rest));
  const [first = ''] = steady(whole.text).split('\n');
  const expected = { head: `${first}\n`, 'closed descriptor': '' }[sink as string] ?? steady(whole.text);
  if (steady(found.text) === expected) return;
  assert.fail(`${found.text.length} of ${whole.text.length} bytes; the last are ${found.text.slice(-200)}`);
}
