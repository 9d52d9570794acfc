// Jobs of the library alone: one operation after another, and batches of 1 000. Real servers; without IPVS, addresses.

import { addressAt, FIRST_SERVICE } from './cluster.js';
import { type Context, inSandbox, type Job, type Measured, plain, takeStep } from './context.js';
import { adderOf } from './methods.js';
import type { Phase, ServedService } from './phases.js';
import { check, type Sandbox, VIRTUAL_LINK } from './sandbox.js';
import type { MethodName, Step } from './types.js';
import { served } from './workloads.js';

/** Operations that are measured together as one operation each, because a clock read costs as much as one. */
const ROUND_TRIPS = 500;
/** Operations before those that are measured: V8 compiles a function after it has run often. */
const WARM_UP = 2000;
const BATCH = 1000;
/** Batches in one run. */
const BATCHES = 5;

/** One of the two scenarios of the library, by one method. */
export function libraryJob(step: Step & { readonly scenario: 'oneOperation' | 'batch' }): Job {
  const [size, runs] = step.scenario === 'batch' ? [BATCH, BATCHES] : [ROUND_TRIPS, 1];
  return {
    steps: [step],
    run: (context: Context) =>
      inSandbox((sandbox) =>
        takeStep(context, step, async (window) => {
          const results: Measured[] = [];
          const prepare = async (run: number, operations: number) => {
            if (!sandbox.ipvs) await renewLink(sandbox);
            return adderOf(adderNameOf(step), 0)([phaseOf(sandbox, run, operations)], sandbox);
          };
          await (await prepare(runs, WARM_UP))();
          for (let run = 0; run < runs; run++) {
            results.push(plain(await window(await prepare(run, size)), size));
          }
          return results;
        }),
      ),
  };
}

/** Makes the link anew: the kernel takes longer for each address, the more the link has. */
async function renewLink({ host, linkKind }: Sandbox): Promise<void> {
  if (await host.rtnetlink.getLink(VIRTUAL_LINK)) {
    check(await host.rtnetlink.apply([{ do: 'deleteLink', link: VIRTUAL_LINK }]));
  }
  check(await host.rtnetlink.apply([{ do: 'addLink', name: VIRTUAL_LINK, kind: linkKind }]));
}

/** Single operations of the library are those of the method `single`. */
function adderNameOf({ scenario, method }: Step): MethodName {
  return scenario === 'oneOperation' && method === 'ours' ? 'single' : method;
}

/** Additions of which none exists yet. @param run a virtual service of its own for each */
function phaseOf({ ipvs }: Sandbox, run: number, size: number): Phase {
  if (ipvs) {
    // The virtual service is one of the operations.
    return {
      kind: 'services',
      services: [served(addressAt(FIRST_SERVICE, run), run, size - 1)] satisfies ServedService[],
    };
  }
  const addresses = Array.from({ length: size }, (_, place) => addressAt(FIRST_SERVICE, place));
  return { kind: 'addresses', link: VIRTUAL_LINK, addresses };
}
