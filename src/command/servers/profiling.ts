// /debug/pprof/: profiles of the process in the formats of Chrome's developer tools, by the names of their counterparts in
// Go's pprof.

import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { getHeapSnapshot } from 'node:v8';
import { integerRule } from '../../kernel/arguments.js';
import { BadRequest, type Handler, plain, type Request, type Response } from './handler.js';

/** Duration of a profile, in seconds: default and maximum. */
const PROFILE_SECONDS = { default: 30, most: 300 } as const;

/** Average number of bytes allocated between two samples; V8's default. */
const SAMPLING_INTERVAL = 32_768;

/** The handlers below /debug/pprof/. Only one profile is taken at a time; the status of other requests is 409. */
export function profilingHandlers(): Record<string, Handler> {
  const alone = oneAtATime();
  return {
    '/debug/pprof': index,
    '/debug/pprof/': (request) => (request.path === '/debug/pprof/' ? index() : absent(request)),
    '/debug/pprof/cmdline': () => plain(200, process.argv.join('\0')),
    '/debug/pprof/profile': alone(async (request) => {
      const seconds = secondsOf(request);
      return download('cpuprofile', await profile(CPU, seconds, request.signal));
    }),
    '/debug/pprof/allocs': alone(async (request) => {
      const seconds = secondsOf(request);
      return download('heapprofile', await profile(ALLOCATIONS, seconds, request.signal));
    }),
    '/debug/pprof/heap': alone(() => download('heapsnapshot', getHeapSnapshot())),
  };
}

/** The inspector methods that start and stop a profile. */
interface Kind {
  readonly start: readonly (readonly [method: string, parameters?: object])[];
  readonly stop: string;
}

const CPU: Kind = { start: [['Profiler.enable'], ['Profiler.start']], stop: 'Profiler.stop' };
const ALLOCATIONS: Kind = {
  start: [['HeapProfiler.startSampling', { samplingInterval: SAMPLING_INTERVAL }]],
  stop: 'HeapProfiler.stopSampling',
};

/** Takes a profile. It ends early if the client disconnects. */
async function profile(kind: Kind, seconds: number, signal: AbortSignal): Promise<string> {
  // Imported late, because few processes are ever profiled.
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connect();
  const post = promisify<string, object | undefined, unknown>(session.post.bind(session));
  try {
    for (const [method, parameters] of kind.start) await post(method, parameters);
    await wait(seconds * 1000, undefined, { signal }).catch(() => {});
    const { profile } = (await post(kind.stop, undefined)) as { profile: unknown };
    return JSON.stringify(profile);
  } finally {
    session.disconnect();
  }
}

function secondsOf({ query }: Request): number {
  const text = query.get('seconds') ?? `${PROFILE_SECONDS.default}`;
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > PROFILE_SECONDS.most) {
    throw new BadRequest(`seconds ${integerRule(1, PROFILE_SECONDS.most)}, found ${JSON.stringify(text)}`);
  }
  return seconds;
}

function oneAtATime(): (handler: Handler) => Handler {
  let busy = false;
  const release = () => {
    busy = false;
  };
  return (handler) => async (request) => {
    if (busy) return plain(409, 'another profile is in progress: retry when it has ended\n');
    busy = true;
    try {
      const response = await handler(request);
      if (typeof response.body === 'string') release();
      else response.body.once('close', release);
      return response;
    } catch (error) {
      release();
      throw error;
    }
  };
}

function download(extension: string, body: Response['body']): Response {
  const headers = { 'Content-Disposition': `attachment; filename="kube-netlink-proxy.${extension}"` };
  return { ...plain(200, '', { 'Content-Type': 'application/json', ...headers }), body };
}

function absent({ path }: Request): Response {
  const name = path.slice('/debug/pprof/'.length);
  return plain(
    404,
    `${JSON.stringify(name)} is not available: this process runs on Node, not Go; /debug/pprof/ lists the profiles\n`,
  );
}

function index(): Response {
  const rows = PROFILES.map(([href, what]) => `<li><a href="${href}">${href}</a>: ${what}</li>`).join('\n');
  return plain(
    200,
    `<!doctype html>\n<title>profiles</title>\n<p>Profiles of this process, for Chrome's developer tools.</p>\n<ul>\n${rows}\n</ul>\n`,
    { 'Content-Type': 'text/html; charset=utf-8' },
  );
}

const PROFILES: readonly (readonly [href: string, what: string])[] = [
  ['/debug/pprof/profile?seconds=10', 'CPU profile of the main thread for this time (.cpuprofile)'],
  ['/debug/pprof/allocs?seconds=10', 'sampled allocations for this time (.heapprofile)'],
  ['/debug/pprof/heap', 'heap snapshot (.heapsnapshot); it blocks the process and doubles its memory'],
  ['/debug/pprof/cmdline', 'command line, separated by NUL'],
];
