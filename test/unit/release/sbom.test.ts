// The parts of a bill of materials: Debian's packages, those of npm, and the document.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { closeAfter } from '../../support/closeAfter.js';
import { ROOT } from '../../support/paths.js';

const { debianPackages } = await import(join(ROOT, 'scripts/sbom/debian.mjs'));
const { addonBinaries, bundledPackages, installedPackages, npmPurl } = await import(
  join(ROOT, 'scripts/sbom/npm.mjs')
);
const { documentOf } = await import(join(ROOT, 'scripts/sbom/cycloneDx.mjs'));

interface Named {
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly license?: string;
}

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'knp-sbom-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const STATUS = `Package: libc6
Status: install ok installed
Priority: optional
Source: glibc (2.41-12+deb13u1)
Version: 2.41-12+deb13u1
Architecture: amd64
Description: GNU C Library: Shared libraries
 Contains the standard libraries.
 Version: 9

Package: gone
Status: deinstall ok config-files
Version: 1
Architecture: all

Package: ipvsadm
Status: install ok installed
Version: 1:1.31-3
Architecture: amd64
`;

describe('a root filesystem of Debian', () => {
  before(() => {
    write('var/lib/dpkg/status', STATUS);
    write('etc/os-release', 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nID=debian\nVERSION_ID="13"\n');
  });

  it('has the installed packages, with their versions, sources and release', () => {
    const packages: Named[] = debianPackages(folder);
    assert.deepEqual(
      packages.map(({ purl }) => purl),
      [
        'pkg:deb/debian/libc6@2.41-12%2Bdeb13u1?arch=amd64&distro=debian-13&upstream=glibc%402.41-12%2Bdeb13u1',
        'pkg:deb/debian/ipvsadm@1%3A1.31-3?arch=amd64&distro=debian-13',
      ],
    );
  });

  it('is an error without the list of dpkg', () => {
    assert.throws(() => debianPackages(join(folder, 'etc')), /dpkg\/status is missing/);
  });
});

describe('packages of npm', () => {
  it('are those whose package.json has a name and a version', () => {
    write('app/package.json', '{"name": "app", "version": "1.0.0", "license": "MIT"}');
    write('app/node_modules/@a/b/package.json', '{"name": "@a/b", "version": "2.0.0-rc.1"}');
    write('app/node_modules/@a/b/esm/package.json', '{"type": "module"}');
    const found: Named[] = installedPackages(join(folder, 'app'));
    assert.deepEqual(found.map(({ purl }) => purl).sort(), [
      'pkg:npm/%40a/b@2.0.0-rc.1',
      'pkg:npm/app@1.0.0',
    ]);
    assert.equal(npmPurl('@kubernetes/client-node', '1.4.0'), 'pkg:npm/%40kubernetes/client-node@1.4.0');
  });

  it('in the bundle are those of the file with the licenses', () => {
    const line = `\n${'-'.repeat(80)}\n\n`;
    const found: Named[] = bundledPackages(
      `a 1.0.0 (MIT)\n\nPermission\n${line}@b/c 2.1.0 (Apache-2.0 OR MIT)\n\nb 9 (x)\n`,
    );
    assert.deepEqual(
      found.map(({ name, version, license }) => [name, version, license]),
      [
        ['a', '1.0.0', 'MIT'],
        ['@b/c', '2.1.0', 'Apache-2.0 OR MIT'],
      ],
    );
    assert.throws(() => bundledPackages('Permission is granted'), /a part without a package/);
  });
});

describe('a document', () => {
  const subject = { type: 'application', name: 'x', version: '1.0.0', purl: 'pkg:npm/x@1.0.0' };
  const part = (name: string) => ({
    type: 'library',
    name,
    version: '1',
    purl: `pkg:npm/${name}@1`,
    license: 'MIT',
  });

  it('has its components in order, and equal contents give an equal document', () => {
    const one = documentOf({ subject, components: [part('b'), part('a')] }, 1_700_000_000);
    const other = documentOf({ subject, components: [part('a'), part('b')] }, 1_700_000_000);
    assert.deepEqual(one, other);
    assert.deepEqual(
      [one.bomFormat, one.specVersion, one.metadata.timestamp],
      ['CycloneDX', '1.6', '2023-11-14T22:13:20Z'],
    );
    assert.match(
      one.serialNumber,
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    assert.deepEqual(one.dependencies, [
      { ref: 'pkg:npm/x@1.0.0', dependsOn: ['pkg:npm/a@1', 'pkg:npm/b@1'] },
    ]);
    assert.notEqual(
      documentOf({ subject, components: [part('a')] }, 1_700_000_000).serialNumber,
      one.serialNumber,
    );
  });
});

it('a package without binaries is an error', () => {
  mkdirSync(join(folder, 'prebuilds'));
  assert.throws(() => addonBinaries(folder, '1', []), /has no binary: run `npm run task -- prebuild`/);
});

it('a time that is no number is an error', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/sbom.mjs', '--image', folder], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, SOURCE_DATE_EPOCH: 'now' },
  });
  assert.equal(status, 1);
  assert.match(stderr, /^sbom: SOURCE_DATE_EPOCH must be a number of seconds, found now$/m);
});
