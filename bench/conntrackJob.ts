// The deletion of the UDP flows of some Services, among those of all.

import { addressAt, FIRST_SERVICE } from './cluster.js';
import { type Context, inSandbox, type Job, type Measured, plain, takeStep } from './context.js';
import { Meter } from './cost.js';
import { execAll, spawnAll } from './methods.js';
import { check, type Sandbox } from './sandbox.js';
import type { Step } from './types.js';

/** Services whose flows are deleted, one after another. */
const DELETIONS = 10;
/** Flows of each Service. */
const FLOWS = 4;
/** Lifetime of the flows, in s: longer than a run. */
const LIFETIME = 3600;
const FIRST_CLIENT = 0x0a80_0000;
const FLOWS_IN_CALL = 4096;

/** The deletion by one method. */
export function conntrackJob(step: Step): Job {
  return {
    steps: [step],
    run: (context: Context) =>
      inSandbox(async (sandbox) => {
        await addFlows(sandbox, step.size.services);
        await takeStep(context, step, (window) => window(() => deleteFlows(sandbox, step)));
      }),
  };
}

async function addFlows({ host: { conntrack } }: Sandbox, services: number): Promise<void> {
  const flows = Array.from({ length: services * FLOWS }, (_, place) => ({
    do: 'addFlow' as const,
    flow: {
      protocol: 'udp' as const,
      original: {
        source: addressAt(FIRST_CLIENT, place),
        destination: addressAt(FIRST_SERVICE, place % services),
        sourcePort: 40_000,
        destinationPort: 53,
      },
      timeout: LIFETIME,
    },
  }));
  for (let start = 0; start < flows.length; start += FLOWS_IN_CALL) {
    check(await conntrack.apply(flows.slice(start, start + FLOWS_IN_CALL)));
  }
}

async function deleteFlows({ host: { conntrack } }: Sandbox, { method, size }: Step): Promise<Measured[]> {
  const results: Measured[] = [];
  for (let place = 0; place < Math.min(DELETIONS, size.services); place++) {
    const destination = addressAt(FIRST_SERVICE, place);
    if (method !== 'ours') {
      const commands = [
        { command: ['conntrack', '-D', '-p', 'udp', '--orig-dst', destination], input: '' } as const,
      ];
      results.push(plain(await (method === 'spawn' ? spawnAll(commands) : execAll(commands))(), 1));
      continue;
    }
    const meter = new Meter();
    const { deleted, failures } = await conntrack.delete({
      family: 4,
      protocol: 'udp',
      original: { destination },
    });
    results.push(plain(meter.stop(), 1));
    check(failures);
    if (deleted !== FLOWS) throw new Error(`${deleted} flows of ${destination} were deleted, not ${FLOWS}`);
  }
  return results;
}
