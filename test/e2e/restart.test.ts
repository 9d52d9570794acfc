// The end of the proxy, by SIGTERM or SIGKILL, and its next start: the kernel keeps its state, and no operation is repeated.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { WEB_MANIFEST } from '../../demo/web.js';
import { type Lab, openLab } from '../laboratory/lab.js';
import { ManifestFolder, withoutEndpoint } from '../laboratory/manifestFolder.js';
import { NODE_A } from '../laboratory/places.js';
import { ProxyProcess, type SyncedLine } from '../laboratory/proxyProcess.js';
import { closeAfter } from '../support/closeAfter.js';
import { linesOf, type Witnessed, witness } from '../support/namespaces/witnesses.js';

let lab: Lab;
let manifests: ManifestFolder;
let proxy: ProxyProcess;
let state: Witnessed;

const now = () => witness(lab.namespace(NODE_A));

/** Restarts it; the summary of its first pass. */
async function startAgain(): Promise<SyncedLine> {
  proxy = closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path));
  return proxy.programmed();
}

before(async () => {
  lab = closeAfter(openLab([]));
  manifests = closeAfter(new ManifestFolder());
  await startAgain();
  state = now();
  assert.match(state.ipvsadm, /^-A -t 10\.96\.10\.10:80 -s rr$/m);
});

test('after kill -9 the kernel keeps its state, and the next start has no operations', async () => {
  assert.equal(await proxy.end('SIGKILL'), 'SIGKILL');
  assert.deepEqual(now(), state);
  const { full, services, operations, failures } = await startAgain();
  assert.deepEqual(
    { full, services, operations, failures },
    { full: true, services: 5, operations: 0, failures: 0 },
  );
  assert.deepEqual(now(), state);
});

test('SIGTERM ends it with status 0, and the kernel keeps its state', async () => {
  assert.equal(await proxy.end('SIGTERM'), 0);
  assert.deepEqual(now(), state);
});

test('the next start changes only the objects that changed meanwhile', async () => {
  manifests.write(WEB_MANIFEST, withoutEndpoint(manifests.read(WEB_MANIFEST), '10.244.2.11'));
  const { operations, phases } = await startAgain();
  // One real server of each: ClusterIP, external IP, and the node port at two addresses. It is on node-b, so no set has it.
  assert.deepEqual({ operations, phases }, { operations: 4, phases: { deleteServers: 4 } });
  const left = linesOf(now().ipvsadm);
  const gone = linesOf(state.ipvsadm).filter((line) => !left.includes(line));
  assert.deepEqual(gone, [
    '-a -t 10.244.1.1:30080 -r 10.244.2.11:8080 -m -w 1',
    '-a -t 10.96.10.10:80 -r 10.244.2.11:8080 -m -w 1',
    '-a -t 192.168.50.10:30080 -r 10.244.2.11:8080 -m -w 1',
    '-a -t 203.0.113.10:80 -r 10.244.2.11:8080 -m -w 1',
  ]);
});
