// The backend of iptables is changed while its program runs.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { openIptables } from '../../../../src/kernel/iptables/index.js';

const folder = mkdtempSync(join(tmpdir(), 'knp-replaced-'));
const PATH = process.env['PATH'];
process.env['PATH'] = `${folder}:${PATH}`;
after(() => {
  process.env['PATH'] = PATH;
  rmSync(folder, { recursive: true });
});

/** Makes a program of the folder lead to another file. */
function link(backend: string): void {
  const name = join(folder, 'iptables-restore');
  rmSync(name, { force: true });
  symlinkSync(join(folder, `${backend}-restore`), name);
}

it('after a change of the backend, what is read and what is changed are in the same one', async () => {
  // Each program acknowledges its input, and records it.
  for (const backend of ['legacy', 'nft']) {
    const script = `#!/bin/sh\nexec tee -a ${join(folder, backend)}\n`;
    writeFileSync(join(folder, `${backend}-restore`), script, { mode: 0o755 });
    writeFileSync(join(folder, backend), '');
  }
  writeFileSync(join(folder, 'iptables-save'), '#!/bin/sh\n', { mode: 0o755 });
  const recorded = (backend: string) => readFileSync(join(folder, backend), 'utf8').match(/-A KNP .*/g) ?? [];
  link('legacy');
  const iptables = openIptables();
  const replaced: string[][] = [];
  iptables.onReplaced = (...all) => replaced.push(all);
  const set = async (rule: string) => {
    const chain = { family: 4, table: 'nat', name: 'KNP', rules: [rule] } as const;
    assert.deepEqual(await iptables.restore(4, [{ do: 'setChain', chain }]), [undefined]);
  };
  try {
    await set('-j ACCEPT');
    await iptables.save(4);
    await set('-j DROP');
    link('nft');
    await iptables.save(4);
    await iptables.save(4);
    await set('-j RETURN');
  } finally {
    await iptables.close();
  }
  assert.deepEqual(recorded('legacy'), ['-A KNP -j ACCEPT', '-A KNP -j DROP']);
  assert.deepEqual(recorded('nft'), ['-A KNP -j RETURN']);
  const files = ['legacy', 'nft'].map((backend) => join(folder, `${backend}-restore`));
  assert.deepEqual(replaced, [['iptables-restore', ...files]]);
});
