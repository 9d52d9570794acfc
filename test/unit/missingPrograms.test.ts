// The commands of a checkout on a machine that lacks programs: they name the Debian packages on one screen before they do anything,
// and install all of them with one call of apt.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ROOT } from '../support/paths.js';

/** Lines of a small terminal. */
const SCREEN = 24;
/** As root of the machine; a user without privileges is one without sudo. */
const IS_ROOT = process.getuid?.() === 0;

interface Started {
  /** Below scripts/. */
  readonly script: string;
  readonly args?: readonly string[];
  /** Its exit status if a package is missing. */
  readonly status: number;
  /** Packages whose programs are never where root's other programs are. */
  readonly packages: readonly string[];
}

const STARTED: Readonly<Record<string, Started>> = {
  'npm run demo': { script: 'demo.mjs', status: 1, packages: ['g++', 'make', 'strace'] },
  'npm test': { script: 'test.mjs', status: 1, packages: ['g++', 'cmake', 'valgrind', 'strace', 'zsh'] },
  'npm test -- --only package': {
    ...{ script: 'test.mjs', args: ['--only', 'package'] },
    ...{ status: 1, packages: ['g++', 'strace', 'musl-tools', 'qemu-user-static'] },
  },
  'npm run build': { script: 'build.mjs', args: ['--install'], status: 1, packages: ['g++', 'make'] },
  'npm run bench': { script: 'bench.mjs', status: 1, packages: ['g++', 'strace'] },
  // Like env and timeout: the status of the command is another.
  'npm run vm -- true': { script: 'vm.mjs', args: ['true'], status: 125, packages: ['strace'] },
};

/** What the commands read of a checkout before they install something. `npm test` reads what the tests need. */
const CHECKOUT = ['package-lock.json', 'package.json', 'scripts', 'test'];

let folder: string;
let checkout: string;
let programs: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'knp-programs-'));
  checkout = join(folder, 'checkout');
  programs = join(folder, 'bin');
  mkdirSync(checkout);
  for (const name of CHECKOUT) cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  chmodSync(folder, 0o755);
});

after(() => rmSync(folder, { recursive: true }));

/** A machine with these programs: fakes that append their arguments to a file and then do this; undefined: the machine's own. */
function machineWith(fakes: Readonly<Record<string, string | undefined>>): void {
  rmSync(programs, { recursive: true, force: true });
  mkdirSync(programs);
  for (const [name, does] of Object.entries(fakes)) {
    const path = join(programs, name);
    if (does === undefined) symlinkSync(`/usr/bin/${name}`, path);
    else
      writeFileSync(path, `#!/bin/sh\necho "${name} $*" >>"${join(folder, 'calls')}"\n${does}\n`, {
        mode: 0o755,
      });
  }
  writeFileSync(join(folder, 'calls'), '');
  chmodSync(join(folder, 'calls'), 0o666);
}

/** What the fakes were called with. */
const calls = () => readFileSync(join(folder, 'calls'), 'utf8').split('\n').filter(Boolean);

function start({ script, args = [] }: Started, user: { readonly uid?: number } = {}) {
  const { status, stderr } = spawnSync(process.execPath, [join(checkout, 'scripts', script), ...args], {
    env: { PATH: programs, HOME: folder },
    encoding: 'utf8',
    ...user,
  });
  return { status, stderr };
}

/** One screen that ends with the reason, and nothing new in the checkout. */
function assertRefused(found: ReturnType<typeof start>, { status, packages }: Started, reason: RegExp): void {
  assert.equal(found.status, status, found.stderr);
  const lines = found.stderr.trimEnd().split('\n');
  assert.ok(lines.length < SCREEN, found.stderr);
  assert.match(lines.at(-1) ?? '', reason);
  for (const name of packages) assert.ok(found.stderr.includes(name), `${name}: ${found.stderr}`);
  assert.deepEqual(readdirSync(checkout).sort(), CHECKOUT);
}

for (const [name, started] of Object.entries(STARTED)) {
  describe(`${name} on a machine that lacks programs`, () => {
    it('ends with the names of their packages if there is no apt', () => {
      machineWith({ unshare: 'exit 1' });
      assertRefused(start(started), started, /\(names of Debian packages\), and there is no apt-get$/);
    });

    it('ends with the command for root if there is neither root nor sudo', () => {
      machineWith({ 'apt-get': 'exit 1', 'apt-cache': 'exit 0', unshare: 'exit 0' });
      const user = IS_ROOT ? { uid: 65_534 } : {};
      assertRefused(
        start(started, user),
        started,
        /run as root first: apt-get update && apt-get install -y /,
      );
      assert.deepEqual(
        calls().filter((call) => call.startsWith('apt-get')),
        [],
      );
    });

    it('ends if apt fails, after it has asked for all of them once, and once more with new lists', () => {
      // As sudo, if this user needs it.
      machineWith({
        ...{ 'apt-get': 'case "$*" in *install*) exit 100; esac', 'apt-cache': 'exit 0', unshare: 'exit 0' },
        ...{ env: undefined, sudo: 'exec "$@"' },
      });
      assertRefused(start(started), started, /apt-get could not install .*; its messages are above$/);
      const asked = calls().filter((call) => /^apt-get .* install /.test(call));
      assert.equal(asked.length, 2, calls().join('\n'));
      assert.equal(asked[0], asked[1]);
      for (const each of started.packages)
        assert.ok(asked[0]?.split(' ').includes(each), `${each}: ${asked[0]}`);
    });
  });
}

it('npm test asks for the packages of all its kernels in the same call', () => {
  machineWith({
    ...{ 'apt-get': 'case "$*" in *install*) exit 100; esac', 'apt-cache': 'exit 0', unshare: 'exit 0' },
    ...{ env: undefined, sudo: 'exec "$@"' },
  });
  start(STARTED['npm test'] as Started);
  const asked = calls().find((call) => /^apt-get .* install /.test(call)) ?? '';
  const kernels = process.arch === 'x64' ? ['patchelf'] : [];
  // Those that this machine has where root's programs are need no installation.
  const missing = kernels.filter((each) => !existsSync(`/usr/sbin/${each}`));
  for (const each of missing) assert.ok(asked.split(' ').includes(each), `${each}: ${asked}`);
});
