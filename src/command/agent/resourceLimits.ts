// Limits of the process and of its control groups below what an agent needs. V8 and libuv end the process, or wait for ever, where a
// limit is hit: a line at the start is the only one that names it. Far lower limits end Node.js before it runs any of this.

/** A limit below what the agent needs. */
interface Shortage {
  /** Its name: `RLIMIT_DATA`, or the path of a file of a control group. */
  readonly limit: string;
  readonly value: number;
  /** The least value with which an agent of few Services works. */
  readonly needed: number;
}

/** The least limits with which an agent of few Services works, as measured: docs/configuration.md. Bytes, or number of tasks. */
export const NEEDED = {
  data: 180_000_000,
  addressSpace: 2_400_000_000,
  memory: 90_000_000,
  /** Processes and threads of the agent, together. */
  tasks: 20,
} as const;

/** Reads a file; undefined if it cannot be read. */
type ReadFile = (path: string) => string | undefined;

/**
 * The limits of this process that are too low. Those that cannot be read are not reported.
 *
 * @param uid that of the process; the kernel does not limit the number of processes of user 0
 */
export function findShortages(read: ReadFile, uid: number): Shortage[] {
  return [...processLimits(read('/proc/self/limits') ?? '', uid), ...groupLimits(read)];
}

/** The number of files that this process may have open; undefined if it cannot be read or is not limited. */
export function mostOpenFiles(read: ReadFile): number | undefined {
  // Node.js raises the soft limit to the hard one when it starts.
  return softLimit(read('/proc/self/limits') ?? '', 'Max open files');
}

/** Rows of /proc/self/limits, and what they limit. */
const PROCESS_LIMITS = [
  { row: 'Max data size', limit: 'RLIMIT_DATA', needed: NEEDED.data },
  { row: 'Max address space', limit: 'RLIMIT_AS', needed: NEEDED.addressSpace },
  { row: 'Max processes', limit: 'RLIMIT_NPROC', needed: NEEDED.tasks },
] as const;

function processLimits(text: string, uid: number): Shortage[] {
  return PROCESS_LIMITS.flatMap(({ row, limit, needed }) => {
    if (limit === 'RLIMIT_NPROC' && uid === 0) return [];
    const value = softLimit(text, row);
    return value !== undefined && value < needed ? [{ limit, value, needed }] : [];
  });
}

/** The soft limit of a row, which counts; undefined for `unlimited`. */
function softLimit(text: string, row: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${row} `));
  return numberIn(line?.slice(row.length).trim().split(/\s+/, 1)[0]);
}

/** Files of control groups, of version 2 and of version 1. */
const GROUP_LIMITS = [
  { controller: 'pids', file: 'pids.max', needed: NEEDED.tasks },
  { controller: 'memory', file: 'memory.max', needed: NEEDED.memory },
  { controller: 'memory', file: 'memory.limit_in_bytes', needed: NEEDED.memory },
] as const;

/** The lowest limit of each kind: those of all groups above that of the process count too. */
function groupLimits(read: ReadFile): Shortage[] {
  const groups = foldersOf(read('/proc/self/cgroup') ?? '');
  const lowest = new Map<string, Shortage>();
  for (const { controller, file, needed } of GROUP_LIMITS) {
    for (const folder of groups.get(controller) ?? groups.get('') ?? []) {
      const limit = `${folder}/${file}`;
      const value = numberIn(read(limit)?.trim());
      if (value === undefined || value >= needed) continue;
      if (value < (lowest.get(controller)?.value ?? needed)) lowest.set(controller, { limit, value, needed });
    }
  }
  return [...lowest.values()];
}

const MOUNT = '/sys/fs/cgroup';

/** The folders of the groups of a process by controller, `` for version 2, from its own group to the root. */
function foldersOf(text: string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    for (const controller of controllers.split(',')) {
      const mount = controller === '' ? MOUNT : `${MOUNT}/${controller}`;
      const folders: string[] = [];
      for (let rest = path; rest !== '' && rest !== '/'; rest = rest.slice(0, rest.lastIndexOf('/')))
        folders.push(mount + rest);
      groups.set(controller, [...folders, mount]);
    }
  }
  return groups;
}

/** Undefined for a text that is not a number: `max`, `unlimited`. */
function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** What a log line says of a shortage. */
export function describeShortage({ limit, value, needed }: Shortage): string {
  return `${limit} is ${value}, and an agent of few Services needs ${needed}: it may be aborted, wait for ever, or start no program`;
}
