// A lab whose client sends requests to a Service while the proxy is interrupted.
import assert from 'node:assert/strict';
import { Crowd } from '../../laboratory/crowd.js';
import { openLab } from '../../laboratory/lab.js';
import { ManifestFolder } from '../../laboratory/manifestFolder.js';
import { NODE_A, SHELL, WEB, WEB_PORT } from '../../laboratory/places.js';
import { runOnce } from '../../laboratory/proxyProcess.js';
import { Replicas } from '../../laboratory/replica.js';
import { closeAfter } from '../closeAfter.js';
import { service, slice } from '../clusters/manifests.js';
import { type Interruptions, interrupt, LIMIT } from './interruptions.js';

const ADDRESS = '10.96.0.80';

/** Interrupts the proxy this many times, and asserts that no request fails and no connection breaks. */
export async function interruptUnderTraffic(moments: number): Promise<string[]> {
  const lab = closeAfter(openLab([SHELL, ...WEB]));
  const manifests = closeAfter(new ManifestFolder(''));
  const backends = WEB.map(({ ipv4 }) => ipv4);
  manifests.write('web.yaml', service('web', ADDRESS) + slice('web', ...backends));
  for (const [i, pod] of WEB.entries()) {
    const replicas = closeAfter(await Replicas.open(lab.namespace(pod)));
    await replicas.ask({ do: 'serve', address: backends[i] as string, port: WEB_PORT });
  }
  const first = await runOnce(lab.namespace(NODE_A), manifests.path);
  assert.equal(first.status, 0, first.stderr);
  const crowd = closeAfter(await Crowd.open(lab.namespace(SHELL)));
  await crowd.start({ address: ADDRESS, port: 80, keepAlive: 1, short: 1 });
  let came: Interruptions | undefined;
  try {
    came = await interrupt(lab.namespace(NODE_A), manifests, moments);
  } finally {
    const { requests, failures } = await crowd.stop();
    assert.deepEqual(failures, [], `${failures.length} of ${requests} requests failed`);
    assert.ok(requests > 2 * moments, `only ${requests} requests`);
  }
  return [
    `${moments} ends, ${came.early} of them before the end of the first pass`,
    `the slowest took ${came.slowest.toFixed(0)} ms of ${LIMIT}`,
  ];
}
