// Memory of the command as an agent, above that of Node.js itself: a library more at the start, or a heap that grows without
// need, is larger than the margin.
// Needs: ipvs, dummy device, command
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { closeAfter } from '../support/closeAfter.js';
import { ENDPOINTS_EACH, memoryOf, programCluster } from '../support/processes/largeCluster.js';

const SERVICES = 100;
/**
 * Maximum resident memory above that of a process which does nothing, in MB (10^6 bytes). 28.3 to 30.1 were measured: on a busy machine, more
 * garbage is there at the end of the first pass.
 */
const MOST = 32;

/** Resident memory of a process of Node.js that only waits for its input, in MB. */
async function memoryOfNode(): Promise<number> {
  const script = 'process.stdin.resume(); console.log()';
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  closeAfter({ close: () => child.kill() });
  await once(child.stdout, 'data');
  return memoryOf(child.pid as number, 'VmRSS');
}

test(`an agent of ${SERVICES} Services with ${ENDPOINTS_EACH} endpoints each needs at most ${MOST} MB more than Node.js`, async (t) => {
  const { agent } = await programCluster(t, SERVICES);
  const resident = memoryOf(agent.pid, 'VmRSS');
  const node = await memoryOfNode();
  t.diagnostic(`resident ${resident.toFixed(1)} MB, Node.js ${node.toFixed(1)} MB`);
  assert.ok(resident - node <= MOST, `${resident} MB are resident, and Node.js alone has ${node} MB`);
});
