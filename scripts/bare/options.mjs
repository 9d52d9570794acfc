// The command line of `npm run bare`.

import { Failure } from '../lib/failure.mjs';

export const HELP = `Usage: npm run bare -- [OPTIONS] [--] COMMAND ARGS…

Runs COMMAND as root in a fresh clone of this checkout, on a machine that has only Debian (its smallest variant), this
machine's Node.js and npm, git and apt. It shows what a new user sees: a program that a developer's machine happens to have is
missing there. Everything that COMMAND installs or writes is lost at the end. The exit status is COMMAND's.

The machine is a root folder, made by debootstrap, in mount and PID namespaces of its own. The first run makes it below
.cache/bare (about 350 MB, a minute), and each run gets a new copy. It shares the network with this machine, and has its
package sources, certificates and npm configuration. The clone has the commits, not uncommitted changes.

  --fresh   make the root folder again, with the newest packages
  --help    print this text

Status 125 means that the machine could not be made. Needs root; installs debootstrap if it is missing.
`;

/**
 * @param {readonly string[]} args
 * @returns {{ help: boolean, fresh: boolean, command: readonly string[] }}
 */
export function parseOptions(args) {
  const options = { help: false, fresh: false };
  const rest = [...args];
  for (let word = rest[0]; word?.startsWith('-'); word = rest[0]) {
    rest.shift();
    if (word === '--') break;
    if (word === '--help') options.help = true;
    else if (word === '--fresh') options.fresh = true;
    else throw new Failure(`unknown option ${word} (see --help)`);
  }
  return { ...options, command: rest };
}
