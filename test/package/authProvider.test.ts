// A kubeconfig with an auth-provider: the command has the part of the Kubernetes client library that it needs for one.
// Needs: package
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { node, service } from '../support/apiServer/objects.js';
import { ApiServer } from '../support/apiServer/server.js';
import { closeAfter } from '../support/closeAfter.js';
import { ROOT } from '../support/paths.js';
import { emptyProject, install, nodePath, type Project, succeed } from './installedPackage.js';

let project: Project;
before(() => {
  project = emptyProject('node24');
  succeed(install(project, 'npm11', '--ignore-scripts'));
});
after(() => project.remove());

/** An OpenID token that expires after so many s. */
function token(seconds: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + seconds;
  return `${part({ alg: 'none' })}.${part({ exp })}.${part({})}`;
}

/** Writes a kubeconfig whose user has this provider; returns its path. */
function kubeconfig(server: string, provider: object): string {
  const path = join(project.folder, 'kubeconfig');
  const named = (kind: string, value: object) => [{ name: 'x', [kind]: value }];
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'x' },
    clusters: named('cluster', { server }),
    contexts: named('context', { cluster: 'x', user: 'x' }),
    users: named('user', { 'auth-provider': provider }),
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** Reads all objects for the names of Services. What it says of the kernel is ignored here. */
function services(
  path: string,
  folder = 'dist/command',
): Promise<{ readonly failed: boolean; readonly stderr: string }> {
  const command = join(project.installed, folder, 'main.js');
  const args = [command, 'services', `--kubeconfig=${path}`, '--proxy-mode=ipvs', '--timeout=5'];
  const options = { cwd: project.folder, env: {}, timeout: 60_000 };
  return new Promise((resolve) => {
    execFile(nodePath('node24'), args, options, (error, _, stderr) => {
      resolve({ failed: error !== null, stderr });
    });
  });
}

test('the token of an auth-provider is sent, without the library in node_modules', async () => {
  assert.ok(!existsSync(join(project.folder, 'node_modules/@kubernetes')));
  const valid = token(3600);
  const server = closeAfter(await new ApiServer({ tokens: new Set([valid]) }).start());
  server.store.set(service('web', '10.96.0.1'));
  server.store.set(node('node-a'));
  await services(kubeconfig(server.url, { name: 'oidc', config: { 'id-token': valid } }));
  const sent = new Set(server.requests.map(({ headers }) => headers.authorization));
  assert.deepEqual([...sent], [`Bearer ${valid}`]);
  assert.ok(server.requests.some(({ path }) => path === '/api/v1/services'));
});

test('an expired token that cannot be renewed is an error of the provider', async () => {
  const server = closeAfter(await new ApiServer().start());
  const config = { 'id-token': token(-3600) };
  const { stderr, failed } = await services(kubeconfig(server.url, { name: 'oidc', config }));
  assert.ok(failed);
  assert.match(stderr, /ERR_CREDENTIALS: auth-provider oidc: the library gave no token/);
  assert.equal(server.requests.length, 0);
});

test('the command without the packages for auth-providers starts, reads other kubeconfigs, and names what this one needs', async () => {
  const bundle = ['scripts/bundle.mjs', '--auth-providers', 'without', '--folder', '.cache/minimal'];
  execFileSync(process.execPath, bundle, { cwd: ROOT, stdio: 'pipe' });
  cpSync(join(ROOT, '.cache/minimal'), join(project.installed, 'dist/minimal'), { recursive: true });
  const licenses = readFileSync(join(project.installed, 'dist/minimal/LICENSES'), 'utf8');
  assert.doesNotMatch(licenses, /^@kubernetes\/client-node /m);
  assert.match(licenses, /^prom-client /m);
  const server = closeAfter(await new ApiServer({ tokens: new Set(['good']) }).start());
  server.store.set(service('web', '10.96.0.1'));
  server.store.set(node('node-a'));
  const provided = kubeconfig(server.url, { name: 'oidc', config: { 'id-token': token(3600) } });
  const { stderr, failed } = await services(provided, 'dist/minimal');
  assert.ok(failed);
  assert.match(
    stderr,
    /ERR_CREDENTIALS: auth-provider oidc: .*@kubernetes\/client-node.*npm install @kubernetes\/client-node/,
  );
  assert.equal(server.requests.length, 0);
  writeFileSync(
    provided,
    readFileSync(provided, 'utf8').replace(/"user":\{"auth-provider".*?\}\}\}/, '"user":{"token":"good"}'),
  );
  await services(provided, 'dist/minimal');
  assert.ok(server.requests.some(({ path }) => path === '/api/v1/services'));
});
