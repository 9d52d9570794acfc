// `npm run demo`: on a fresh clone, gets what is missing, builds, and shows a Service reach a kernel.

import { buildNative, buildTypeScript } from './lib/build.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';
import { BUILD_PACKAGES, ensurePackages } from './lib/packages.mjs';
import { heading } from './lib/steps.mjs';
import { ensureNodeModules } from './test/prepare.mjs';
import { main as runVm } from './vm/cli.mjs';

const HELP = `Usage: npm run demo [-- --vm]

Lays out a client, two nodes and three web servers in network namespaces, runs kube-netlink-proxy on examples/
there, sends requests through virtual IPs, and edits a manifest meanwhile. Takes about a minute; the first time
some more, to install what is missing (Debian packages, as root or through sudo, after saying which; npm
packages), to build, and to download a kernel.

Runs where the kernel has IPVS: in a VM that it boots itself, or as root in a fresh network namespace of this
machine if its kernel will do. Exits with 0 only if every request was answered by a server that should.

  --vm    boot the VM even where a network namespace would do
  --help  show this text
`;

// Ten times what it takes in a VM on a busy machine.
const LIMIT_SECONDS = '600';

process.exitCode = await reportFailures('demo', () => demo(process.argv.slice(2)));

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit status
 */
async function demo(args) {
  const unknown = args.find((word) => word !== '--vm' && word !== '--help');
  if (unknown !== undefined) throw new Failure(`unknown option ${unknown} (see --help)`);
  if (args.includes('--help')) {
    process.stdout.write(HELP);
    return 0;
  }
  heading('Debian packages');
  const { cmake: _onlyForTests, ...packages } = BUILD_PACKAGES;
  ensurePackages(packages);
  ensureNodeModules();
  buildNative();
  buildTypeScript();
  heading('a kernel with IPVS');
  // In the VM standard output is no terminal; the demo cannot tell that ours is one.
  if (process.stdout.isTTY && !process.env['NO_COLOR']) process.env['FORCE_COLOR'] = '1';
  const command = [process.execPath, '--enable-source-maps', 'dist/demo/main.js'];
  return runVm([...args, '--timeout', LIMIT_SECONDS, '--', ...command]);
}
