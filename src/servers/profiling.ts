// /debug/pprof/: profiles of the running process, in the formats that Chrome's developer tools open. The names are those
// of Go's pprof where there is a counterpart.
import { Session } from 'node:inspector';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { getHeapSnapshot } from 'node:v8';
import { type Answer, BadRequest, type Handler, plain, type Request } from './answer.js';

/** Seconds of a profile: unless asked otherwise, and at most. */
const PROFILE_SECONDS = { default: 30, most: 300 } as const;

/** Bytes allocated between two samples, on average; V8's own default. */
const SAMPLING_INTERVAL = 32_768;

/** The handlers below /debug/pprof/. One profile is taken at a time; others are answered with 409 meanwhile. */
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

/** What the inspector is told before and after. */
interface Kind {
  readonly start: readonly (readonly [method: string, parameters?: object])[];
  readonly stop: string;
}

const CPU: Kind = { start: [['Profiler.enable'], ['Profiler.start']], stop: 'Profiler.stop' };
const ALLOCATIONS: Kind = {
  start: [['HeapProfiler.startSampling', { samplingInterval: SAMPLING_INTERVAL }]],
  stop: 'HeapProfiler.stopSampling',
};

/** Takes a profile; ends early, with what there is, when the client goes away. */
async function profile(kind: Kind, seconds: number, signal: AbortSignal): Promise<string> {
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
    throw new BadRequest(
      `seconds must be a whole number from 1 to ${PROFILE_SECONDS.most}, found ${JSON.stringify(text)}`,
    );
  }
  return seconds;
}

function oneAtATime(): (handler: Handler) => Handler {
  let busy = false;
  const release = () => {
    busy = false;
  };
  return (handler) => async (request) => {
    if (busy) return plain(409, 'another profile is being taken: try again when it is done\n');
    busy = true;
    try {
      const answer = await handler(request);
      if (typeof answer.body === 'string') release();
      else answer.body.once('close', release);
      return answer;
    } catch (error) {
      release();
      throw error;
    }
  };
}

function download(extension: string, body: Answer['body']): Answer {
  const headers = { 'Content-Disposition': `attachment; filename="kube-netlink-proxy.${extension}"` };
  return { ...plain(200, '', { 'Content-Type': 'application/json', ...headers }), body };
}

function absent({ path }: Request): Answer {
  const name = path.slice('/debug/pprof/'.length);
  return plain(
    404,
    `${JSON.stringify(name)} is no profile of this process, which runs on Node: see /debug/pprof/\n`,
  );
}

function index(): Answer {
  const rows = PROFILES.map(([href, what]) => `<li><a href="${href}">${href}</a>: ${what}</li>`).join('\n');
  return plain(
    200,
    `<!doctype html>\n<title>profiles</title>\n<p>Profiles of this process, for Chrome's developer tools.</p>\n<ul>\n${rows}\n</ul>\n`,
    { 'Content-Type': 'text/html; charset=utf-8' },
  );
}

const PROFILES: readonly (readonly [href: string, what: string])[] = [
  [
    '/debug/pprof/profile?seconds=10',
    'where the main thread spends its time in the next seconds (.cpuprofile)',
  ],
  ['/debug/pprof/allocs?seconds=10', 'a sample of what is allocated in the next seconds (.heapprofile)'],
  [
    '/debug/pprof/heap',
    'everything on the heap (.heapsnapshot); the process stands still while it is taken, and needs as much memory again',
  ],
  ['/debug/pprof/cmdline', 'the command line, its parts separated by NUL'],
];
