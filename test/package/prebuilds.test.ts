// The prebuilt binaries: what they need of a system, and that each is loaded where it is meant to be.
// Needs: package
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { emptyProject, install, nodePath, type Project, succeed } from './installedPackage.js';

const GLIBC = '2.28';
const PLATFORMS = ['linux-arm64', 'linux-x64'];
const MUSL = '/lib/ld-musl-x86_64.so.1';

/** A program for musl that loads a binary, with functions of Node-API that are never called. */
const LOADER = `
  #include <dlfcn.h>
  #include <stdio.h>
  #include <stdlib.h>
  int main(int count, char **arguments) {
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (library == NULL || dlsym(library, "napi_register_module_v1") == NULL) {
      puts(dlerror());
      return 1;
    }
    puts("loaded");
    return 0;
  }`;

let project: Project;
const work = mkdtempSync(join(tmpdir(), 'knp-prebuilds-'));

before(() => {
  project = emptyProject('node24');
  succeed(install(project, 'npm11', '--ignore-scripts'));
});

after(() => {
  project.remove();
  rmSync(work, { recursive: true, force: true });
});

/** Path of an installed binary. */
const binary = (platform: string, libc: string) =>
  join(project.installed, 'prebuilds', platform, `kube-netlink-proxy.${libc}.node`);

function run(command: string, ...args: readonly string[]): string {
  return succeed(spawnSync(command, args, { encoding: 'utf8', cwd: project.folder }));
}

/** Names of the symbols that a binary needs and does not have, with their versions. */
function undefinedSymbols(path: string): string[] {
  const lines = run('readelf', '--wide', '--dyn-syms', path).split('\n');
  return lines.flatMap((line) => / UND (\S+)/.exec(line)?.[1] ?? []);
}

/** The libraries that a binary names. */
function libraries(path: string): string[] {
  return [...run('readelf', '--dynamic', path).matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(
    ([, name = '']) => name,
  );
}

/** The build id that a binary must have: the SHA-1 of its bytes, of which those of the id are zero. */
function buildIdOf(path: string): string {
  const bytes = readFileSync(path);
  const name = bytes.indexOf(Buffer.from([20, 0, 0, 0, 3, 0, 0, 0, 0x47, 0x4e, 0x55, 0]));
  assert.ok(name > 0, path);
  return createHash('sha1')
    .update(bytes.fill(0, name + 12, name + 32))
    .digest('hex');
}

/** Whether a version is at most another, by their numbers. */
function isAtMost(version: string, limit: string): boolean {
  return version.localeCompare(limit, 'en', { numeric: true }) <= 0;
}

test('there is one binary for each platform and C library', () => {
  const found = PLATFORMS.map((name) => readdirSync(join(project.installed, 'prebuilds', name)).sort());
  const each = ['kube-netlink-proxy.glibc.node', 'kube-netlink-proxy.musl.node'];
  assert.deepEqual(found, [each, each]);
  assert.deepEqual(readdirSync(join(project.installed, 'prebuilds')).sort(), PLATFORMS);
});

for (const platform of PLATFORMS) {
  describe(platform, () => {
    test(`the glibc binary needs no library but glibc, at most ${GLIBC}`, () => {
      const path = binary(platform, 'glibc');
      for (const name of libraries(path)) assert.match(name, /^(lib(c|m|dl|pthread)\.so\.\d|ld-linux-.*)$/);
      const versions = undefinedSymbols(path).flatMap((name) => /@GLIBC_([\d.]+)/.exec(name)?.[1] ?? []);
      assert.ok(versions.length > 50, `${versions.length} versioned symbols`);
      assert.deepEqual(
        versions.filter((version) => !isAtMost(version, GLIBC)),
        [],
      );
    });

    test('the musl binary needs no library but musl, and nothing that musl does not have', () => {
      const path = binary(platform, 'musl');
      assert.deepEqual(libraries(path), ['libc.so']);
      const offered = run('readelf', '--wide', '--dyn-syms', MUSL);
      const names = new Set([...offered.matchAll(/ (?!UND)\S+ (\S+)$/gm)].map(([, name = '']) => name));
      const others = undefinedSymbols(path).filter((name) => !name.startsWith('napi_') && !names.has(name));
      assert.deepEqual(others, []);
    });

    test('its binaries protect the stack, have a read-only table of symbols, and name their build', () => {
      for (const libc of ['glibc', 'musl']) {
        const path = binary(platform, libc);
        const symbols = undefinedSymbols(path).map((name) => name.replace(/@.*/, ''));
        assert.ok(symbols.includes('__stack_chk_fail'), libc);
        // musl has no checked calls.
        if (libc === 'glibc')
          assert.ok(
            symbols.some((name) => /^__\w+_chk$/.test(name)),
            libc,
          );
        assert.match(run('readelf', '--wide', '--segments', path), / GNU_RELRO /, libc);
        assert.match(run('readelf', '--wide', '--segments', path), / GNU_STACK .* RW /, libc);
        assert.match(run('readelf', '--dynamic', path), /\(FLAGS_1\) +Flags: NOW/, libc);
        const [, id = ''] = /Build ID: ([0-9a-f]+)/.exec(run('readelf', '--notes', path)) ?? [];
        assert.equal(id, buildIdOf(path), libc);
      }
    });

    test('its binaries are stripped', () => {
      for (const libc of ['glibc', 'musl']) {
        const sections = run('readelf', '--wide', '--sections', binary(platform, libc));
        assert.doesNotMatch(sections, /\.(symtab|debug_info)\b/, libc);
      }
    });
  });
}

test('the musl binary for x64 is loaded by musl', () => {
  const path = binary('linux-x64', 'musl');
  const stubs = undefinedSymbols(path).filter((name) => name.startsWith('napi_'));
  assert.ok(stubs.length > 20);
  const source = join(work, 'load.c');
  writeFileSync(source, `${LOADER}\n${stubs.map((name) => `void ${name}(void) { abort(); }`).join('\n')}\n`);
  run('musl-gcc', '-rdynamic', '-o', join(work, 'load'), source);
  assert.equal(run(join(work, 'load'), path), 'loaded\n');
});

test('on arm64, the package lists the links of this machine', () => {
  const script = `
    import { openRtnetlink } from 'kube-netlink-proxy/rtnetlink';
    const rtnetlink = await openRtnetlink();
    const links = await rtnetlink.listLinks();
    await rtnetlink.close();
    console.log(process.arch, links.some(({ name }) => name === 'lo'));`;
  assert.equal(onArm64(script), 'arm64 true\n');
});

test('on arm64, a family that the kernel does not offer is an error with its name', () => {
  // QEMU passes no other netlink protocols than those of routes and events to the kernel.
  const script = `
    import { openIpset } from 'kube-netlink-proxy/ipset';
    await openIpset().catch(({ code, operation }) => console.log(code, operation));`;
  assert.equal(onArm64(script), 'EPROTONOSUPPORT ipset.open\n');
});

/** Runs a script with Node for arm64, which QEMU executes. */
function onArm64(script: string): string {
  const node = nodePath('node24-arm64');
  return run(
    'qemu-aarch64-static',
    '-L',
    '/usr/aarch64-linux-gnu',
    node,
    '--input-type=module',
    '-e',
    script,
  );
}
