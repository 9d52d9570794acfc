// The functions of src/ that one added endpoint calls, in each mode, on the fakes of the kernel: from the event of the source to the end of
// the pass, when every operation is acknowledged. `npm run task -- count-functions` builds and starts it.
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import type { CommandDefinition } from '../src/command/cli/command.js';
import { writeReport } from '../src/command/cli/output/output.js';
import { decodeObject } from '../src/proxy/objects/decode.js';
import type { ObjectChange } from '../src/proxy/objects/types.js';
import { createProxy } from '../src/proxy/proxy.js';
import type { SyncSummary } from '../src/proxy/reconcile/summary.js';
import type { SourceEvents } from '../src/proxy/source/source.js';
import { service, slice } from '../test/support/apiServer/objects.js';
import { TEST_MODES } from '../test/support/fakes/testModes.js';
import type { RawObject } from './apiServer/store.js';
import { type ProgramInvocation, runProgram } from './cli/program.js';

const MODES = ['ipvs', 'iptables', 'nftables'];
/** Services at the start, with two endpoints each. */
const SERVICES = 5;
/** Time until the first audit, in ms. */
const NEVER = 86_400_000;

const COUNT: CommandDefinition<'count-functions'> = {
  name: 'count-functions',
  summary: 'count the functions and files that one added endpoint calls, in each mode',
  description: `Runs the proxy on kernels in memory, without root, with ${SERVICES} Services of 2 endpoints each. Adds an endpoint to one EndpointSlice, and counts
the functions of src/ that are called from the event of the source to the end of the pass, and the files that they are in. The functions of
the fakes (src/kernel/testing) do not count; what these call of other files does.`,
  options: [
    { flags: '--list', help: 'also print each function, as FILE:LINE NAME, in the order of the files' },
  ],
  formats: ['text', 'json'],
  inputs: false,
  statuses: [[0, 'they were counted']],
  examples: [['count-functions --list', 'all of them, to read the code in this order']],
};

/** A function that was called. */
interface Called {
  /** Below the checkout: `src/proxy/proxy.ts`. */
  readonly file: string;
  readonly name: string;
  /** Its place in the compiled file, in characters. */
  readonly offset: number;
}

const coverage = new Session();

/** The functions that were called since the last call, in the order of their files and places. */
async function takeCalled(): Promise<Called[]> {
  const { result } = await coverage.post('Profiler.takePreciseCoverage');
  return result
    .flatMap(({ url, functions }) => {
      const [, path] = /\/dist\/(src\/(?!kernel\/testing\/).*)\.js$/.exec(url) ?? [];
      if (path === undefined) return [];
      return functions.flatMap(({ functionName: name, ranges: [whole] }) =>
        whole && whole.count > 0 ? [{ file: `${path}.ts`, name, offset: whole.startOffset }] : [],
      );
    })
    .sort((one, other) => one.file.localeCompare(other.file) || one.offset - other.offset);
}

/** The functions that one more endpoint of a Service calls. */
async function calledIn(mode: string): Promise<Called[]> {
  const opened = TEST_MODES[mode]?.().open(NEVER) ?? fail(`no mode ${mode}`);
  const { conntrack, rtnetlink, watchHost } = opened.kernel;
  let source: SourceEvents | undefined;
  let ended: (summary: SyncSummary) => void = () => {};
  const proxy = createProxy({
    source: {
      async start(events) {
        source = events;
      },
      stop() {},
    },
    mode: opened.mode,
    ...{ conntrack, rtnetlink, watchHost, nodeName: 'node-a' },
    events: { synced: (summary) => ended(summary), problems: fail, failed: fail, retrying: fail },
  });
  await proxy.start();
  const pass = async (changes: readonly ObjectChange[], first = false) => {
    await setImmediate(); // nothing of the pass before is left to do
    await takeCalled();
    const end = new Promise<SyncSummary>((resolve) => {
      ended = resolve;
    });
    source?.changed(changes);
    if (first) source?.synced();
    const { failures, operations } = await end;
    if (failures.length > 0 || operations === 0) fail(`a pass of ${operations} operations: ${failures}`);
    return takeCalled();
  };
  const initial = [...Array(SERVICES).keys()].flatMap((i) => [
    setting(service(`s${i}`, `10.96.0.${i}`)),
    setting(slice(`s${i}`, [`10.244.${i}.1`, `10.244.${i}.2`])),
  ]);
  await pass(initial, true);
  const called = await pass([setting(slice('s1', ['10.244.1.1', '10.244.1.2', '10.244.1.3']))]);
  await proxy.stop();
  return called;
}

function setting(raw: RawObject): ObjectChange {
  return { type: 'set', object: decodeObject(raw).object ?? fail(`${raw.kind} is invalid`) };
}

function fail(reason: unknown): never {
  throw new Error(inspect(reason));
}

/** `src/proxy/proxy.ts:12 stop`: its line in the source, as the map of the compiled file says. */
function shown({ file, name, offset }: Called): string {
  const compiled = fileURLToPath(new URL(`../${file.replace(/\.ts$/, '.js')}`, import.meta.url));
  const before = readFileSync(compiled, 'utf8').slice(0, offset).split('\n');
  const map = new SourceMap(JSON.parse(readFileSync(`${compiled}.map`, 'utf8')));
  const entry = map.findEntry(before.length - 1, before.at(-1)?.length ?? 0);
  return `${file}:${'originalLine' in entry ? entry.originalLine + 1 : 1} ${name || '(anonymous)'}`;
}

async function run({ options, output }: ProgramInvocation): Promise<number> {
  performance.now = () => 0; // no time slice ends: a slow machine calls the same functions
  coverage.connect();
  await coverage.post('Profiler.enable');
  await coverage.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const counts: { mode: string; functions: number; files: number; called?: string[] }[] = [];
  for (const mode of MODES) {
    const called = await calledIn(mode);
    const files = new Set(called.map(({ file }) => file)).size;
    counts.push({
      ...{ mode, functions: called.length, files },
      ...(options['list'] === true && { called: called.map(shown) }),
    });
  }
  writeReport(output, { counts }, ({ style }) => [
    style('heading', 'MODE      FUNCTIONS  FILES'),
    ...counts.map(
      ({ mode, functions, files }) =>
        `${mode.padEnd(8)}  ${`${functions}`.padStart(9)}  ${`${files}`.padStart(5)}`,
    ),
    ...counts.flatMap(({ mode, called }) => (called ? ['', mode, ...called.map((line) => `  ${line}`)] : [])),
  ]);
  return 0;
}

await runProgram(COUNT, run, 'npm run task --');
