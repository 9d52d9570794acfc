// `npm run prebuild` and `npm run build`. npm starts a script named prebuild before each build.
// Needs: package
import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../support/paths.js';
import { emptyProject, NODES, npmPath, succeed } from './installedPackage.js';

for (const { node, npm } of NODES) {
  test(`${node}, ${npm}: a build starts no prebuild, and npm run prebuild does`, () => {
    const project = emptyProject(node);
    try {
      const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
      assert.ok(scripts.build);
      // Its help instead of the binaries, where it is started.
      const replaced = { build: 'echo built', prebuild: `${scripts.prebuild} --help` };
      writeFileSync(
        join(project.folder, 'package.json'),
        JSON.stringify({ private: true, scripts: replaced }),
      );
      symlinkSync(join(ROOT, 'scripts'), join(project.folder, 'scripts'));
      const run = (...args: readonly string[]) =>
        succeed(project.run(join(project.folder, 'bin/node'), npmPath(npm), ...args));
      for (const words of [
        ['run', 'build'],
        ['run-script', 'build'],
        ['run', '--silent', 'build'],
      ]) {
        const said = run(...words);
        assert.match(said, /^built$/m);
        assert.doesNotMatch(said, /Usage:/);
      }
      assert.match(run('run', 'prebuild'), /^Usage: npm run prebuild /m);
    } finally {
      project.remove();
    }
  });
}
