// SIGUSR1 opens the inspector of a Node process, in which every local user can run code with the rights of the process.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { COMMAND } from '../../../laboratory/proxyProcess.js';
import { printedOnSIGUSR1 } from '../../../support/processes/inspector.js';

const folder = mkdtempSync(join(tmpdir(), 'knp-inspector-'));
after(() => rmSync(folder, { recursive: true }));

describe('SIGUSR1', () => {
  it('opens no inspector in the command', async () => {
    assert.doesNotMatch(await printedOnSIGUSR1(COMMAND), /Debugger listening/);
  });

  it('opens one in a program that does not refuse it, so that the test can fail', async () => {
    const program = join(folder, 'program.mjs');
    writeFileSync(
      program,
      `import { connect } from 'node:net';
const address = process.argv.find((text) => text.startsWith('--metrics')).split(':').at(-1);
connect(Number(address), '127.0.0.1').on('error', () => {});
setTimeout(() => {}, 60_000);
`,
    );
    assert.match(await printedOnSIGUSR1(program), /Debugger listening/);
  });
});
