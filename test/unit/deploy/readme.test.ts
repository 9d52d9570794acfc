// The commands under "Use it" in the README, with a kubectl that prints what kubeadm has made.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readFlags } from '../../../src/command/config/commandLine.js';
import { loadConfiguration } from '../../../src/command/config/load.js';
import { MODES } from '../../../src/command/modes/select.js';
import { accessOfKubeconfig } from '../../../src/proxy/api/kubeconfig.js';
import { kubeadmConfiguration, kubeadmKubeconfig } from '../../support/deployment/kubeadm.js';
import { ROOT } from '../../support/paths.js';

const folder = mkdtempSync(join(tmpdir(), 'knp-readme-'));
after(() => rmSync(folder, { recursive: true }));

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const [, useIt = ''] = /\n## Use it\n([\s\S]*?)\n## /.exec(readme) ?? [];
const blocks = [...useIt.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, commands = '']) => commands);

/** A block that has a text. */
function block(text: string): string {
  const found = blocks.find((commands) => commands.includes(text));
  assert.ok(found, `no command has ${text}`);
  return found;
}

test('the configuration of a cluster is taken out, and names the kubeconfig that was taken out with it', () => {
  writeFileSync(join(folder, 'data'), kubeadmConfiguration('/var/lib/kube-proxy/kubeconfig.conf'));
  writeFileSync(join(folder, 'admin'), kubeadmKubeconfig('https://10.0.0.10:6443', '/ca.crt', '/token'));
  const kubectl = `#!/bin/sh
case "$*" in
  "-n kube-system get configmap kube-proxy -o jsonpath={.data.config\\.conf}") cat data ;;
  "config view --raw --minify --flatten") cat admin ;;
  *) echo "unexpected: $*" >&2; exit 1 ;;
esac
`;
  writeFileSync(join(folder, 'kubectl'), kubectl, { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env['PATH']}` };
  execFileSync('sh', ['-ec', block('kubectl')], { cwd: folder, env });
  const path = join(folder, 'config.conf');
  const command = readFlags(['--config', path, '--hostname-override', 'node-a']);
  assert.ok(command.do === 'run');
  const { configuration } = loadConfiguration(command, MODES);
  const { kubeconfig } = configuration.clientConnection;
  assert.equal(kubeconfig, join(folder, 'kubeconfig.conf'));
  assert.equal(
    accessOfKubeconfig(kubeconfig, readFileSync(kubeconfig, 'utf8')).server,
    'https://10.0.0.10:6443',
  );
});

test('no command names a file of a pod', () => {
  for (const commands of blocks) assert.doesNotMatch(commands, /\/var\/lib\/kube-proxy/);
});
