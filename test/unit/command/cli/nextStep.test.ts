// Errors with a remedy: one line with the error, and one with the next step.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { nextStepOf } from '../../../../src/command/cli/nextStep.js';
import { selectMode } from '../../../../src/command/modes/select.js';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { PATIENCE } from '../../../laboratory/patience.js';
import { COMMAND } from '../../../laboratory/proxyProcess.js';
import { ApiServer } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';

it('a mode that kube-proxy has on another system, or had', () => {
  assert.throws(() => selectMode('userspace'), { nextStep: /^select a mode with --proxy-mode; / });
});

it('a user without privileges', () => {
  const missing = new NetlinkError({ code: 'EPERM', operation: 'conntrack.open' });
  assert.match(nextStepOf(missing) ?? '', /^run it as root, or with .*NET_ADMIN.*docs\/migrate\.md$/);
  assert.equal(nextStepOf(new NetlinkError({ code: 'ENOENT', operation: 'ipvs.open' })), undefined);
  assert.equal(nextStepOf(new Error('x')), undefined);
});

/**
 * Runs `explain` with a kubeconfig, and returns its status and its lines on standard error. Its limit grows until the answer of the server is among
 * them: on a busy machine, it may come after a short one.
 */
async function explain(
  server: ApiServer,
  token: string,
  answer: string,
  limit = 1,
): Promise<[number | null, string[]]> {
  const folder = mkdtempSync(join(tmpdir(), 'knp-next-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  const kubeconfig = join(folder, 'kubeconfig');
  const users = `users: [{ name: u, user: { token: ${token} } }]`;
  const contexts = 'contexts: [{ name: x, context: { cluster: c, user: u } }]\ncurrent-context: x';
  const clusters = `clusters: [{ name: c, cluster: { server: '${server.url}' } }]`;
  writeFileSync(kubeconfig, `apiVersion: v1\nkind: Config\n${clusters}\n${users}\n${contexts}\n`);
  const args = [
    'explain',
    '10.96.0.1:80',
    '--proxy-mode=iptables',
    '--kubeconfig',
    kubeconfig,
    `--timeout=${limit}`,
  ];
  const child = spawn(process.execPath, [COMMAND, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  const [status] = (await once(child, 'close')) as [number | null];
  if (!text.includes(answer) && limit * 1000 < PATIENCE) return explain(server, token, answer, 2 * limit);
  return [status, text.trimEnd().split('\n')];
}

it('a token that the API server does not accept, or whose user lacks rights', async () => {
  const server = closeAfter(await new ApiServer({ tokens: new Set(['good']) }).start());
  const [status, lines] = await explain(server, 'bad', '401');
  assert.equal(status, 2, lines.join('\n'));
  assert.match(
    lines.at(-2) ?? '',
    /^Error: the API server did not .* within \d+ s; the last error: ERR_STATUS: .*: 401 .*\(.*renew the token .*\)$/,
  );
  assert.match(lines.at(-1) ?? '', /^Next step: check --kubeconfig, /);
  server.fail(/GET/, ...Array.from({ length: 400 }, () => ({ status: 403 })));
  const [refused, forbidden] = await explain(server, 'good', '403');
  assert.equal(refused, 2, forbidden.join('\n'));
  assert.match(forbidden.at(-2) ?? '', /: 403 .*\(give the user .* deploy\/base\/rbac\.yaml\)$/);
});
