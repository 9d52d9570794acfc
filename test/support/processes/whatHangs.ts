// What the processes below one of Node do, for the error of a test whose script does not end.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { tool } from '../namespaces/tools.js';

/** Time in which Node.js writes its report, in ms. It writes none while its thread is in a call of the addon. */
const REPORT_TIME = 5000;

/** Options of Node with which {@link whatHangs} finds the stack of JavaScript. */
export const reporting = (folder: string): string[] => [
  '--report-on-signal',
  '--report-signal=SIGUSR2',
  `--report-directory=${folder}`,
];

/** All processes, the threads of this one with the kernel's functions in which they wait, and its stack of JavaScript. */
export async function whatHangs(pid: number, folder: string): Promise<string> {
  const processes = tool('ps', '-e', '-o', 'pid,ppid,stat,wchan:24,etimes,args');
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) =>
    ['comm', 'wchan', 'syscall'].map((name) => read(`/proc/${pid}/task/${thread}/${name}`)).join(' '),
  );
  process.kill(pid, 'SIGUSR2');
  await wait(REPORT_TIME);
  const reports = readdirSync(folder).map((name) => stackIn(read(join(folder, name))));
  return [processes, ...threads, ...reports].join('\n');
}

/** Empty if the process has ended, or the kernel does not tell. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

function stackIn(report: string): string {
  const { javascriptStack, libuv } = JSON.parse(report) as {
    javascriptStack: { message: string; stack?: string[] };
    libuv: { type: string; is_active: boolean }[];
  };
  const handles = libuv.filter(({ is_active }) => is_active).map(({ type }) => type);
  return [javascriptStack.message, ...(javascriptStack.stack ?? []), `active: ${handles.join(' ')}`].join(
    '\n',
  );
}
