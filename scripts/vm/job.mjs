// The guest's job, as a shell script.

import { fullPath } from '../lib/commands.mjs';

/**
 * @typedef {object} Job
 * @property {readonly string[]} command
 * @property {string} folder where it starts
 * @property {string} checkout visible at its own path, whatever is mounted in the guest
 * @property {readonly string[]} writable folders of this machine that the guest may write to
 */

/**
 * @param {Job} job
 * @param {string} modules the folder to show as /lib/modules
 * @returns {string}
 */
export function jobScript(job, modules) {
  const environment = Object.entries({
    ...process.env,
    PATH: fullPath(),
    HOME: process.env['HOME'] ?? '/root',
  });
  const assignments = environment.map(([name, value]) => quote(`${name}=${value}`));
  return [
    `modules=${quote(modules)}`,
    `keep_tmp=${[job.folder, job.checkout].some((path) => path.startsWith('/tmp/')) ? 'yes' : 'no'}`,
    'mount_writable() {',
    '  :',
    ...job.writable.map((path, index) => `  for_writing writable${index} ${quote(path)}`),
    '}',
    // A new session: a signal to its process group must not reach the guest's supervisor.
    'run_command() {',
    `  exec setsid env -i -C ${quote(job.folder)} -- ${assignments.join(' ')} ${job.command.map(quote).join(' ')}`,
    '}',
    '',
  ].join('\n');
}

/**
 * @param {string} text
 */
function quote(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
