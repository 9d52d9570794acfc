// The scripts of the checkout, with a reader that has read enough.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { it } from 'node:test';
import { ROOT } from '../support/paths.js';

for (const script of ['vm', 'test', 'bench', 'demo']) {
  it(`npm run ${script} -- --help ends quietly if its output is closed`, async () => {
    const child = spawn(process.execPath, [join(ROOT, `scripts/${script}.mjs`), '--help'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const errors = child.stderr.setEncoding('utf8').toArray();
    const [status] = await once(child, 'close');
    assert.deepEqual([status, (await errors).join('')], [0, '']);
  });
}
