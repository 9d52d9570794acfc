// Runs a command with another root folder, in new mount and PID namespaces.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { CLONE } from './root.mjs';

// pivot_root, because in a chroot unshare fails, and User Mode Linux needs namespaces. The shell stays process 1 of the PID
// namespace, because process 1 must reap orphans.
const SET_UP = `
set -e
root=$1; shift
mount --make-rprivate /
mount --bind "$root" "$root"
cd "$root"
mkdir -p old
mount --rbind /dev dev
mount --rbind /sys sys
mount -t tmpfs tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t proc proc proc
pivot_root . old
umount -l /old
rmdir /old
cd ${CLONE}
"$@"
`;

// Certificates, proxies and the terminal; everything else of the environment is that of a new machine.
const PASSED =
  /^(CI|TERM|COLUMNS|NO_COLOR|FORCE_COLOR|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|SSL_CERT_(FILE|DIR)|KNP_STEPS_START|\w*_(CERTS|CAINFO|CA_BUNDLE))$/;
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
};

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * @param {string} root
 * @param {readonly string[]} command
 * @returns {Promise<number>} its exit status; 128 + N if signal N ended it
 */
export async function enter(root, command) {
  const passed = Object.entries(process.env).filter(([name]) => PASSED.test(name));
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
  const child = spawn('unshare', [...namespaces, 'bash', '-c', SET_UP, 'bare', root, ...command], {
    env: { ...Object.fromEntries(passed), ...ENVIRONMENT },
    stdio: 'inherit',
  });
  /** @type {NodeJS.Signals | undefined} */
  let interrupted;
  /** @param {NodeJS.Signals} signal */
  const interrupt = (signal) => {
    interrupted = signal;
    // The end of unshare ends all processes of the PID namespace. unshare itself ignores other signals.
    child.kill('SIGKILL');
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    const [status, signal] = /** @type {[number | null, NodeJS.Signals | null]} */ (
      await once(child, 'close')
    );
    const ended = interrupted ?? signal;
    return ended ? 128 + constants.signals[ended] : (status ?? 1);
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}
