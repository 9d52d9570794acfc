// The proxy told to end at random moments of a pass, over and over, while a client goes on asking.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { ManifestFolder } from '../../demo/manifestFolder.js';
import { ProxyProcess, runOnce } from '../../demo/proxyProcess.js';
import { service, slice } from './manifests.js';

/** Ms within which a proxy has to end. */
export const LIMIT = 2000;

/** What came of the interruptions. */
export interface Interruptions {
  /** Ms that the slowest end took. */
  readonly slowest: number;
  /** How many came before the first pass was done. */
  readonly early: number;
}

/** Services beside the one that is asked: another set of them at each start, so that every pass has work to do. */
const OTHERS = 60;

/** Interrupts the proxy of a namespace so many times; then lets it come to rest and asserts that nothing is left to do. */
export async function interrupt(
  namespace: string,
  manifests: ManifestFolder,
  moments: number,
): Promise<Interruptions> {
  let slowest = 0;
  let early = 0;
  let span = 1000;
  for (let moment = 0; moment < moments; moment++) {
    manifests.write('others.yaml', others(moment));
    const proxy = new ProxyProcess(namespace, manifests.path);
    await proxy.logged(({ msg }) => msg === 'starting', 'its start');
    const started = performance.now();
    if (moment === 0) {
      await proxy.programmed();
      span = 1.2 * (performance.now() - started);
    } else {
      await wait(Math.random() * span);
    }
    if (!proxy.log.some(({ msg }) => msg === 'synced')) early++;
    const told = performance.now();
    let heard = Number.NaN;
    proxy
      .logged(({ msg }) => msg.startsWith('stopping'), 'its end')
      .then(
        () => {
          heard = performance.now() - told;
        },
        () => {},
      );
    assert.equal(await proxy.end('SIGTERM'), 0, `moment ${moment}`);
    const took = performance.now() - told;
    const story = `${took.toFixed(0)} ms to end, ${heard.toFixed(0)} of them until it heard of it`;
    assert.ok(took <= LIMIT, `moment ${moment}: it took ${story}`);
    slowest = Math.max(slowest, took);
  }
  const last = await runOnce(namespace, manifests.path);
  assert.equal(last.status, 0, last.stderr);
  const again = await runOnce(namespace, manifests.path);
  assert.match(again.stdout, /: 0 kernel operations /, again.stderr);
  return { slowest, early };
}

function others(generation: number): string {
  return Array.from({ length: OTHERS }, (_, i) => {
    const n = generation % 2 === 0 ? i : i + OTHERS / 2;
    const name = `other-${n}`;
    return service(name, `10.96.7.${n}`) + slice(name, `10.244.9.${(n + generation) % 200}`);
  }).join('');
}
