// The commands for people beside a running agent: every example of docs/commands.md prints its documented output.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { type Lab, openLab } from '../laboratory/lab.js';
import { NODE_A } from '../laboratory/places.js';
import { COMMAND, ProxyProcess } from '../laboratory/proxyProcess.js';
import { closeAfter } from '../support/closeAfter.js';
import { type Example, examplesOf } from '../support/documents/commandExamples.js';
import { steady } from '../support/documents/steadyOutput.js';
import { ask } from '../support/namespaces/witnesses.js';
import { ROOT } from '../support/paths.js';

let lab: Lab;
let folder: string;

before(async () => {
  lab = closeAfter(openLab([]));
  folder = mkdtempSync(join(tmpdir(), 'knp-commands-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'));
  const { files } = examplesOf('docs/commands.md');
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  // Without an audit, the agent does not repair what an example deletes.
  const flags = ['--ipvs-sync-period=1h'];
  const agent = closeAfter(new ProxyProcess(lab.namespace(NODE_A), join(folder, 'examples'), flags));
  await agent.programmed();
});

/** Runs the command of an example on the node, and returns its output and exit status. */
function run({ command }: Pick<Example, 'command'>) {
  const script = command.replaceAll('kube-netlink-proxy', `'${process.execPath}' '${COMMAND}'`);
  const args = ['netns', 'exec', lab.namespace(NODE_A), 'sh', '-c', script];
  const { status, stdout, stderr } = spawnSync('ip', args, { encoding: 'utf8', cwd: folder });
  return { status, text: steady(stdout + stderr) };
}

const { examples } = examplesOf('docs/commands.md');
assert.ok(examples.length > 0);

for (const example of examples) {
  test(`$ ${example.command}`, () => {
    const { status, text } = run(example);
    assert.equal(text, steady(example.output));
    assert.equal(status, example.status);
  });
}

test('rates are those of real connections', () => {
  // The endpoints do not exist: IPVS counts each connection with its first packet. The loop ends with the command.
  const connect = 'timeout 1 bash -c "</dev/tcp/203.0.113.10/80"';
  const loop = `(for i in $(seq 60); do ${connect}; done) >/dev/null 2>&1 & loop=$!`;
  const { text } = run({
    command: `${loop}; kube-netlink-proxy services 203.0.113.10 --interval 3 -o json; kill $loop`,
  });
  const [web] = (JSON.parse(text) as { virtualServices: Record<string, never>[] }).virtualServices;
  const rates = web?.['rates'] as unknown as { connections: number; inPackets: number } | undefined;
  assert.ok(rates && rates.connections > 0 && rates.inPackets >= rates.connections, text);
  assert.match(ask(lab.namespace(NODE_A), 'ipvsadm', '-Ln', '--stats'), /203\.0\.113\.10:80 +[1-9]/);
});
