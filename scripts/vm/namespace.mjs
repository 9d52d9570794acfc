// A new network namespace of this machine's kernel, if the kernel has IPVS and dummy interfaces.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { capture, fullPath } from '../lib/commands.mjs';

// In new namespaces, so that the attempt leaves no state.
const UNSHARE = ['--net', '--mount'];

/** Succeeds if the kernel has IPVS and dummy interfaces. */
export const IPVS_TRIAL = 'ip link add knp-trial type dummy && ipvsadm -Ln && ipset create knp-trial hash:ip';

/**
 * Tries a command in a new network namespace, as root.
 *
 * @param {string} trial a shell command
 * @returns {boolean} whether it succeeds there; false for anybody but root
 */
export function serves(trial) {
  return process.getuid?.() === 0 && capture('unshare', [...UNSHARE, 'sh', '-c', trial]).ok;
}

/**
 * @param {{ command: readonly string[], timeoutSeconds: number }} job
 * @returns {Promise<number>} the exit status
 */
export async function runInNamespace({ command, timeoutSeconds }) {
  // The command has its own named network namespaces and locks; the PID namespace ends the processes that it leaves.
  const setUp =
    'mount -t tmpfs tmpfs /run && mkdir -p /run/lock /run/netns && ip link set lo up && exec "$@"';
  const limited = ['timeout', '--verbose', '--kill-after=5', String(timeoutSeconds), ...command];
  // The command must never outlive this process.
  const child = spawn(
    'setpriv',
    [
      '--pdeathsig',
      'KILL',
      'unshare',
      ...UNSHARE,
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      'sh',
      '-c',
      setUp,
      'sh',
      ...limited,
    ],
    { env: { ...process.env, PATH: fullPath() }, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const [status, signal] = /** @type {[number | null, NodeJS.Signals | null]} */ (await once(child, 'exit'));
  return signal ? 128 + constants.signals[signal] : (status ?? 1);
}
