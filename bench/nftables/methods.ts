// The methods that make the changes of a proxy in nftables mode: the raw limit, and nft.
import { setTimeout as sleep } from 'node:timers/promises';
import { loadBenchAddon } from '../addon.js';
import {
  type Context,
  eachOf,
  inSandbox,
  type Job,
  type Measured,
  plain,
  stepOf,
  takeStep,
} from '../context.js';
import { costOf } from '../cost.js';
import { execAll, type Run, spawnAll } from '../methods.js';
import { BETWEEN } from '../proxyRun.js';
import { LIVES, type Life } from '../scenarios.js';
import type { MethodName, ScenarioName, Size, Step } from '../types.js';
import { prepareLists } from './lists.js';
import {
  AT_ONCE,
  CHANGES,
  CHANGES_AT_ONCE,
  type Counts,
  type Pass,
  type RecordedLife,
  recordNftables,
} from './record.js';
import { scriptCommand } from './script.js';
import { ShortNames, transactionsOf } from './transactions.js';

/** Methods that make changes on a programmed kernel, in the order in which they share the recorded ones. */
const CHANGERS = ['raw', 'toolBatch', 'execFile'] as const satisfies readonly MethodName[];
/** The kinds of changes. */
const KINDS = ['endpoint', 'service', 'endpoints'] as const satisfies readonly (keyof Counts & keyof Life)[];

/** The full programming by one method, in an empty kernel. */
export function nftablesFullJob(step: Step, life: RecordedLife): Job {
  return {
    steps: [step],
    run: (context) =>
      inSandbox(() =>
        takeStep(context, step, async (window) => {
          const { full } = await recordNftables({ life, size: step.size, seed: context.options.seed });
          const run = prepare(step.method, full, new ShortNames());
          return [plain(await window(run), full.length)];
        }),
      ),
  };
}

/** The later changes by every method, on a kernel that the raw limit has programmed. */
export function nftablesKernelJob(steps: readonly Step[], size: Size, life: RecordedLife): Job {
  return {
    steps,
    run: (context) =>
      inSandbox(async () => {
        const { seed } = context.options;
        const recording = await recordNftables({ life, size, seed }, countsOf(LIVES[life]));
        const names = new ShortNames();
        await prepare('raw', recording.full, names)();
        await measureLists(context, { steps }, LIVES[life]);
        for (const kind of KINDS) {
          const scenario = LIVES[life][kind];
          if (scenario)
            await measureChanges(context, { steps }, { scenario, passes: recording[kind], names });
        }
      }),
  };
}

/** The changes of a life by all methods. */
function countsOf({ service, endpoints }: Life): Counts {
  const methods = CHANGERS.length;
  return {
    endpoint: CHANGES * methods,
    service: service ? CHANGES * methods : 0,
    endpoints: endpoints ? CHANGES_AT_ONCE * methods : 0,
    atOnce: AT_ONCE,
  };
}

async function measureLists(
  context: Context,
  job: Pick<Job, 'steps'>,
  { restart, audit, layout }: Life,
): Promise<void> {
  for (const scenario of [restart, audit]) {
    await takeStep(context, stepOf(job, scenario, 'raw'), async (window) => [
      plain(await window(prepareLists(layout)), 0),
    ]);
  }
}

/**
 * Changes of one kind. Each method makes its share of them, in order: those of a method that is not measured are left out. Each change is after
 * a pause, as a change by the proxy: without it, the CPU's caches still have the sets that the kernel walks.
 */
async function measureChanges(
  context: Context,
  job: Pick<Job, 'steps'>,
  {
    scenario,
    passes,
    names,
  }: { readonly scenario: ScenarioName; readonly passes: readonly Pass[]; readonly names: ShortNames },
): Promise<void> {
  const share = passes.length / CHANGERS.length;
  for (const [place, method] of CHANGERS.entries()) {
    const step = stepOf(job, scenario, method);
    const runs = passes.slice(place * share, (place + 1) * share).map((pass) => {
      const run = prepare(method, pass, names);
      return async (): Promise<Measured> => {
        await sleep(BETWEEN);
        return plain(await run(), pass.length);
      };
    });
    if (step) await takeStep(context, step, (window) => window(() => eachOf(runs)));
  }
}

/** Makes a pass ready. */
export function prepare(method: MethodName, pass: Pass, names: ShortNames): Run {
  if (method === 'toolBatch') return spawnAll([scriptCommand(pass)]);
  if (method === 'execFile') return execAll([scriptCommand(pass)]);
  const messages = Buffer.concat(transactionsOf(pass, names));
  const transactions = new (loadBenchAddon().PreparedTransactions)(messages);
  return async () => costOf(transactions.send());
}
