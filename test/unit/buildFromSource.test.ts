// The lock file of the build from source: every package is fixed by a hash, and is the one that this checkout builds with.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { ROOT } from '../support/paths.js';

interface LockFile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version?: string;
        readonly integrity?: string;
        readonly dependencies?: Readonly<Record<string, string>>;
      }
    >
  >;
}

const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8')) as LockFile;

/** The hash of each package, by its name and version. */
function hashesOf({ packages }: LockFile): Map<string, string | undefined> {
  const named = Object.entries(packages).filter(([path]) => path !== '');
  return new Map(
    named.map(([path, { version, integrity }]) => [
      `${path.replace(/^.*node_modules\//, '')}@${version}`,
      integrity,
    ]),
  );
}

it('the build from source installs the compilers of this checkout, each with its hash', () => {
  const lock = read('scripts/build-from-source.lock.json');
  const own = hashesOf(read('package-lock.json'));
  const hashes = hashesOf(lock);
  for (const [name, hash] of hashes) {
    assert.match(hash ?? '', /^sha512-/, name);
    assert.equal(hash, own.get(name), `${name}: not as in package-lock.json`);
  }
  const { dependencies = {} } = lock.packages[''] ?? {};
  assert.deepEqual(Object.keys(dependencies).sort(), ['node-addon-api', 'node-gyp']);
  for (const [name, version] of Object.entries(dependencies)) {
    assert.ok(own.has(`${name}@${version}`), `${name}: a version without a range`);
    assert.ok(hashes.has(`${name}@${version}`), name);
  }
  assert.ok(hashes.size > 50, `${hashes.size} packages`);
});
