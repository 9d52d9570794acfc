// The command line of `npm run task -- judge`: its orders, and its errors.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { FAULTS } from '../../judge/core/history.js';
import { faultsOf } from '../../judge/run/faultModes.js';
import type { SessionOrders } from '../../judge/run/session.js';
import { MODES } from '../../judge/run/vandalism.js';
import { ROOT } from '../../support/paths.js';

const { parseOptions } = (await import(pathToFileURL(join(ROOT, 'scripts/judge/options.mjs')).href)) as {
  parseOptions(args: readonly string[]): SessionOrders;
};

it('has all modes and faults of the judge', () => {
  for (const mode of MODES) {
    const orders = parseOptions(['--mode', mode]);
    assert.deepEqual([orders.mode, orders.faults], [mode, faultsOf(mode)]);
  }
  assert.deepEqual(new Set(MODES.flatMap(faultsOf)), new Set(Object.keys(FAULTS)));
});

it('has orders in ms for times', () => {
  const words =
    '--seed 7 --minutes 2 --faults serverDown,proxyKilled --programming 4 --recovery 60 --shrink 0 --pause 200';
  const { bounds, faults, pause, seed, time, tries } = parseOptions(words.split(' '));
  assert.deepEqual([seed, time, tries, faults], [7, 120_000, 0, ['serverDown', 'proxyKilled']]);
  assert.deepEqual([bounds.programming, bounds.recovery, pause], [4000, 60_000, 200]);
  assert.deepEqual(parseOptions(['--faults', 'none']).faults, []);
});

const WRONG: [words: string, told: RegExp][] = [
  ['--seeds 1', /unknown option --seeds/],
  ['--seed', /--seed needs a value/],
  ['--minutes 0', /--minutes 0: must be an integer from 1/],
  ['--mode ebpf', /--mode ebpf: must be one of nftables, iptables, ipvs/],
  ['--faults clockStepped', /--faults clockStepped: does not exist in mode nftables, only in ipvs/],
  ['--ipvs-rules nftables', /--ipvs-rules: is an option of this project's proxy in ipvs mode/],
  ['--events 1', /--events 1: must be an integer from 2/],
  ['--pause 0', /--pause 0: must be an integer from 1/],
  ['--faults serverDown,earthquake', /--faults earthquake: must be one of/],
  ['--proxy "', /^--proxy: the quote " at character 1 is not closed$/],
];
for (const [words, told] of WRONG) {
  it(`refuses ${words}`, () => {
    assert.throws(() => parseOptions(words.split(' ')), { message: told });
  });
}

const WORDS: [command: string, words: string[]][] = [
  ['a  b ', ['a', 'b']],
  ['a "b c" d', ['a', 'b c', 'd']],
  [`sh -c 'exec proxy --name="a b"'`, ['sh', '-c', 'exec proxy --name="a b"']],
  [`--name="a b"'c d' ""`, ['--name=a bc d', '']],
];
for (const [command, words] of WORDS) {
  it(`has the words of --proxy ${command}`, () => {
    assert.deepEqual(parseOptions(['--proxy', command]).proxy, words);
  });
}

it('names the quote of --proxy that is open, and a command without words', () => {
  const told = { message: "--proxy: the quote ' at character 9 is not closed" };
  assert.throws(() => parseOptions(['--proxy', `a "b c" 'd`]), told);
  assert.throws(() => parseOptions(['--proxy', ' ']), { message: '--proxy: must have a word' });
});

it('names every fault in its help', () => {
  const { stdout, status } = spawnSync(process.execPath, [join(ROOT, 'scripts/judge.mjs'), '--help'], {
    encoding: 'utf8',
  });
  assert.equal(status, 0);
  for (const fault of Object.keys(FAULTS)) assert.ok(stdout.includes(fault), fault);
});
