// Reads the output of strace: names of system calls, and the files that programs open or execute.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../lib/failure.mjs';

/** @param {string} folder */
function linesOf(folder) {
  return readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
}

/**
 * The names of all calls. A call that strace shows in two parts has its name in the first.
 *
 * @param {string} folder
 */
export function callsIn(folder) {
  const names = new Set(linesOf(folder).flatMap((line) => /^\d+ +([a-z_]\w*)\(/.exec(line)?.[1] ?? []));
  if (names.size === 0) throw new Failure('strace has recorded no system call');
  return [...names].sort();
}

/** `7 openat(AT_FDCWD, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 3` */
const OPENED = /^\d+ +open(?:at)?\((?:AT_FDCWD, )?"(\/[^"]*)", (\S+?)[,)].* (= \d+|<unfinished \.\.\.>)$/;
const EXECUTED = /^\d+ +execve\("(\/[^"]+)", .* (= 0|<unfinished \.\.\.>)$/;

/**
 * The files that were opened or executed: `r PATH`, `w PATH` or `x PATH`, with PID for process ids, in order.
 *
 * @param {string} folder
 * @param {(path: string) => string | undefined} named the path in the image; undefined if the file belongs to the tests
 */
export function filesIn(folder, named) {
  const files = linesOf(folder).flatMap((line) => {
    const [, executed] = EXECUTED.exec(line) ?? [];
    const [, opened, flags = ''] = OPENED.exec(line) ?? [];
    const path = named(
      (executed ?? opened ?? '')
        .replace(/\/+/g, '/')
        .replace(/^\/proc\/(self|\d+)\b/, '/proc/PID')
        .replace(/\/task\/\d+/, '/task/PID'),
    );
    if (path === undefined || path === '') return [];
    if (executed !== undefined) return [`x ${path}`];
    return /O_(WRONLY|RDWR|CREAT|APPEND)/.test(flags) ? [`w ${path}`] : [`r ${path}`];
  });
  return [...new Set(files)].sort();
}
