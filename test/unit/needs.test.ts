// The line `// Needs: …` of a test file: `npm test` refuses a wrong one before it installs, builds or runs anything.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { ROOT } from '../support/paths.js';

const REFUSED: readonly (readonly [what: string, text: string, reason: RegExp])[] = [
  [
    'an unknown word',
    '// Packets.\n// Needs: ipvs, teleport\nimport {};\n',
    /^test: test\/kernel\/a\.test\.ts needs teleport, which is unknown/,
  ],
  [
    'a kernel test without a feature, which would run in the network of this machine',
    '// Packets.\n// Needs: command\nimport {};\n',
    /^test: test\/kernel\/a\.test\.ts has no line "\/\/ Needs: …" with a kernel feature/,
  ],
  [
    'a line below the imports',
    '// Packets.\nimport {};\n// Needs: ipvs\n',
    /^test: test\/kernel\/a\.test\.ts has no line/,
  ],
];

for (const [what, text, reason] of REFUSED) {
  it(`refuses ${what}`, () => {
    const checkout = mkdtempSync(join(tmpdir(), 'knp-needs-'));
    try {
      cpSync(join(ROOT, 'scripts'), join(checkout, 'scripts'), { recursive: true });
      mkdirSync(join(checkout, 'test/kernel'), { recursive: true });
      writeFileSync(join(checkout, 'test/kernel/a.test.ts'), text);
      const args = [join(checkout, 'scripts/test.mjs'), '--only', 'kernel', 'a.test'];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      assert.match(stderr, reason);
      assert.deepEqual([status, stdout], [1, '']);
      assert.deepEqual(readdirSync(checkout).sort(), ['scripts', 'test']);
    } finally {
      rmSync(checkout, { recursive: true });
    }
  });
}
