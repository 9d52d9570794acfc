// The command as an agent at rest. Its memory is compared with that of Node.js itself: a library more at the start, or a heap that grows
// without need, is larger than the margin.
// Needs: ipvs, dummy device, command
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { until } from '../support/apiServer/cluster.js';
import { closeAfter } from '../support/closeAfter.js';
import {
  ENDPOINTS_EACH,
  memoryOf,
  programCluster,
  wakeUpsAtRest,
} from '../support/processes/largeCluster.js';

const SERVICES = 100;
/** Maximum resident memory above that of a process which does nothing, in MB (10^6 bytes): a quarter of it is the heap of the health thread. */
const MOST = 42;
/** Most wake-ups of all threads in a second, of which two are timers. */
const MOST_WAKE_UPS = 3;

/** Resident memory of a process of Node.js that only waits for its input, in MB. */
async function memoryOfNode(): Promise<number> {
  const script = 'process.stdin.resume(); console.log()';
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  closeAfter({ close: () => child.kill() });
  await once(child.stdout, 'data');
  return memoryOf(child.pid as number, 'VmRSS');
}

test(`an agent of ${SERVICES} Services with ${ENDPOINTS_EACH} endpoints each needs at most ${MOST} MB more than Node.js, and sleeps`, async (t) => {
  const { agent } = await programCluster(t, SERVICES);
  const node = await memoryOfNode();
  const above = () => memoryOf(agent.pid, 'VmRSS') - node;
  t.diagnostic(`${above().toFixed(1)} MB above the ${node.toFixed(1)} MB of Node.js`);
  // On a busy machine, more garbage is left by the first pass: V8 collects it when the process has been idle for 8 s.
  await until(`at most ${MOST} MB above those of Node.js`, () => above() <= MOST);
  const wakeUps = await wakeUpsAtRest(agent.pid, MOST_WAKE_UPS);
  assert.ok(wakeUps <= MOST_WAKE_UPS, `${wakeUps} wake-ups in a second`);
});
