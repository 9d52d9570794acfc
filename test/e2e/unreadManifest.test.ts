// An unreadable manifest whose Service is in the kernel: clients still reach the Service at every virtual IP.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { WEB_MANIFEST, webRoutes } from '../../demo/web.js';
import { STILL } from '../../src/proxy/source/followedFile.js';
import { type Lab, openLab } from '../laboratory/lab.js';
import { LabHost } from '../laboratory/labHost.js';
import { ManifestFolder, withoutEndpoint } from '../laboratory/manifestFolder.js';
import { CLIENT, NODE_A, type Place, SHELL, WEB, WEB_PORT } from '../laboratory/places.js';
import { ProxyProcess, runOnce } from '../laboratory/proxyProcess.js';
import type { Route } from '../laboratory/route.js';
import { request } from '../laboratory/traffic.js';
import { closeAfter } from '../support/closeAfter.js';
import { type Witnessed, witness } from '../support/namespaces/witnesses.js';

const PODS = WEB.map(({ name }) => name);

let lab: Lab;
let manifests: ManifestFolder;
let routes: readonly Route[];
let good: string;
let state: Witnessed;
let proxy: ProxyProcess;

const open = async (place: Place) => closeAfter(await LabHost.open(lab.namespace(place)));

async function isAnswered(by: readonly string[]): Promise<void> {
  for (const route of routes) {
    const { failures } = await request(route, 2 * by.length, by);
    assert.deepEqual(failures, []);
  }
}

before(async () => {
  lab = closeAfter(openLab([SHELL, ...WEB]));
  manifests = closeAfter(new ManifestFolder());
  const [client, node, shell] = await Promise.all([open(CLIENT), open(NODE_A), open(SHELL)]);
  routes = webRoutes({ client, node, shell } as Parameters<typeof webRoutes>[0]);
  await Promise.all(WEB.map(async (pod) => (await open(pod)).serve(pod.name, { tcp: [WEB_PORT] })));
  good = manifests.read(WEB_MANIFEST);
  assert.equal((await runOnce(lab.namespace(NODE_A), manifests.path)).status, 0);
  state = witness(lab.namespace(NODE_A));
  await isAnswered(PODS);
});

test('--once removes nothing, names the file, and exits with status 1', async () => {
  manifests.write(WEB_MANIFEST, `${good.slice(0, good.indexOf('clusterIP'))}  - [`);
  const { status, stdout, stderr } = await runOnce(lab.namespace(NODE_A), manifests.path);
  assert.equal(status, 1, stdout);
  assert.match(stderr, /web\.yaml: text: line \d+, column \d+: /);
  assert.match(stdout, /\nobjects that are missing from unreadable manifests are kept: web\.yaml\n$/);
  assert.deepEqual(witness(lab.namespace(NODE_A)), state);
  await isAnswered(PODS);
});

test('an agent that starts with it removes nothing until the file is readable', async () => {
  proxy = closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path));
  const { operations } = await proxy.programmed();
  assert.equal(operations, 0);
  assert.deepEqual(witness(lab.namespace(NODE_A)), state);
  await isAnswered(PODS);
  const logged = proxy.log.length;
  manifests.write(WEB_MANIFEST, withoutEndpoint(good, WEB[2]?.ipv4 ?? ''));
  assert.equal((await proxy.synced(logged)).failures, 0);
  await isAnswered(PODS.slice(0, 2));
});

test('a file that a command empties, and fills later, removes nothing', async () => {
  const path = join(manifests.path, WEB_MANIFEST);
  writeFileSync(path, '');
  const until = Date.now() + 2 * STILL;
  while (Date.now() < until) await isAnswered(PODS.slice(0, 2));
  const logged = proxy.log.length;
  writeFileSync(path, good);
  await delay(STILL);
  await proxy.synced(logged);
  await isAnswered(PODS);
  assert.equal(await proxy.end(), 0);
});
