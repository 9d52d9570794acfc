// The files by which faults reach the programs that a proxy starts.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files that faults need in the environment of the proxy. */
export interface FaultFiles {
  /** The environment of the proxy. */
  readonly environment: NodeJS.ProcessEnv;
  /** While it exists, restore programs fail. */
  readonly failing: string;
  /** The lock of iptables. */
  readonly lock: string;
}

/**
 * Writes programs with the names of iptables-restore, which fail while a file exists, and before which the proxy finds no others. The
 * lock of iptables is a file of the run's own: other programs of this machine do not wait for it.
 */
export function writeFaultFiles(folder: string): FaultFiles {
  const programs = join(folder, 'programs');
  const failing = join(folder, 'restore-fails');
  const lock = join(folder, 'xtables.lock');
  mkdirSync(programs, { recursive: true });
  rmSync(failing, { force: true });
  for (const name of ['iptables-restore', 'ip6tables-restore']) {
    const path = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
    const text = `#!/bin/sh
if [ -e '${failing}' ]; then
  echo '${name}: the judge lets it fail' >&2
  exit 1
fi
exec '${path}' "$@"
`;
    writeFileSync(join(programs, name), text);
    chmodSync(join(programs, name), 0o755);
  }
  const environment = {
    ...process.env,
    ...{ PATH: `${programs}:${process.env['PATH'] ?? ''}`, XTABLES_LOCKFILE: lock },
  };
  return { environment, failing, lock };
}
