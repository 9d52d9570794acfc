// Stops the proxy repeatedly at random times of a pass, while a client sends requests.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { ManifestFolder } from '../../laboratory/manifestFolder.js';
import { ProxyProcess, runOnce } from '../../laboratory/proxyProcess.js';
import { service, slice } from '../clusters/manifests.js';

/** Maximum time for the end of a proxy, in ms; on a busy machine, {@link STARTS} of the time that its start takes at the same time. */
export const LIMIT = 2000;
const STARTS = 3;

/** The results of the interruptions. */
export interface Interruptions {
  /** Duration of the slowest end, in ms. */
  readonly slowest: number;
  /** Number of interruptions before the end of the first pass. */
  readonly early: number;
}

/** Other Services, different at each start, so that every pass has operations. */
const OTHERS = 60;

/** Interrupts the proxy of a namespace this many times, and asserts that after a last pass no operation remains. */
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
    const spawned = performance.now();
    const proxy = new ProxyProcess(namespace, manifests.path);
    await proxy.logged(({ msg }) => msg === 'starting', 'its start');
    const started = performance.now();
    const limit = Math.max(LIMIT, STARTS * (started - spawned));
    if (moment === 0) {
      await proxy.programmed();
      span = 1.2 * (performance.now() - started);
    } else {
      await wait(Math.random() * span);
    }
    if (!proxy.log.some(({ msg }) => msg === 'synced')) early++;
    const signalled = performance.now();
    let reaction = Number.NaN;
    proxy
      .logged(({ msg }) => msg.startsWith('stopping'), 'its end')
      .then(
        () => {
          reaction = performance.now() - signalled;
        },
        () => {},
      );
    assert.equal(await proxy.end('SIGTERM'), 0, `moment ${moment}`);
    const took = performance.now() - signalled;
    const story = `${took.toFixed(0)} ms to end, ${reaction.toFixed(0)} ms of them until it logged the signal`;
    assert.ok(took <= limit, `moment ${moment}: it took ${story}, and not ${limit.toFixed(0)} at most`);
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
