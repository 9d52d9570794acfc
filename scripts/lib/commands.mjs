// Finds and runs other programs.

import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.mjs';

// depmod, ipset and iptables are in these folders, which are often not in an ordinary user's PATH.
const ADMINISTRATION_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** PATH, followed by the folders of administration commands. */
export function fullPath() {
  const folders = (process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin').split(':').filter(Boolean);
  return [...new Set([...folders, ...ADMINISTRATION_FOLDERS])].join(':');
}

/**
 * @param {string} command a name to look for along PATH, or an absolute path of any file
 * @returns {string | undefined} its path, if it is there
 */
export function find(command) {
  if (command.startsWith('/')) return isAccessible(command, constants.F_OK) ? command : undefined;
  return fullPath()
    .split(':')
    .map((folder) => join(folder, command))
    .find((path) => isAccessible(path, constants.X_OK));
}

/**
 * @param {string} path
 * @param {number} mode
 */
function isAccessible(path, mode) {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/**
 * Runs a program with its output on our stderr, because our stdout is for the result.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {boolean} whether it succeeded
 */
export function succeeds(command, args, options = {}) {
  const done = spawnSync(command, args, {
    ...options,
    env: { ...(options.env ?? process.env), PATH: fullPath() },
    stdio: ['ignore', 2, 2],
  });
  if (done.error) throw new Failure(`cannot start ${command}: ${done.error.message}`);
  return done.status === 0;
}

/**
 * Like {@link succeeds}, but throws if the program fails.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 */
export function run(command, args, options) {
  if (!succeeds(command, args, options)) throw new Failure(`${[command, ...args].join(' ')} failed`);
}

/**
 * Runs a program without output.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @returns {{ ok: boolean, stdout: Buffer, stderr: string }}
 */
export function capture(command, args) {
  const done = spawnSync(command, args, {
    env: { ...process.env, PATH: fullPath(), LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 256 * 1024 * 1024,
  });
  if (done.error) throw new Failure(`cannot start ${command}: ${done.error.message}`);
  return { ok: done.status === 0, stdout: done.stdout, stderr: done.stderr.toString() };
}
