// Builds the kernel of User Mode Linux that has everything, while tests run that need none.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure } from '../lib/failure.mjs';
import { nodeScript } from '../lib/steps.mjs';
import { BUILT } from '../vm/kernelNames.mjs';

/** @param {AbortSignal} stop ends the build early */
export async function buildUmlKernel(stop) {
  const [program = '', ...args] = nodeScript('scripts/vm.mjs', '--machine', 'uml', '--kernel', BUILT, 'true');
  const child = spawn(program, args, {
    cwd: CHECKOUT,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  // With the compilers that it has started.
  const end = () => child.pid !== undefined && process.kill(-child.pid, 'SIGTERM');
  stop.addEventListener('abort', end);
  const [status, signal] = await once(child, 'exit');
  stop.removeEventListener('abort', end);
  if (status !== 0 && !stop.aborted)
    throw new Failure(`the kernel of the tests was not built (${signal ?? `status ${status}`})`);
}
