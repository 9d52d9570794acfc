// `npm run task -- judge`: plays histories of a cluster on a proxy, and judges what clients see.

import { mkdirSync } from 'node:fs';
import { comparisonLines, readReports } from './judge/compare.mjs';
import { parseOptions } from './judge/options.mjs';
import { buildNative, buildTypeScript } from './lib/build.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';
import { ensureNodeModules } from './lib/nodeModules.mjs';
import { COMPILER_PACKAGES, ensurePackages, WITNESS_PACKAGES } from './lib/packages.mjs';
import { heading } from './lib/steps.mjs';
import { main as runVm } from './vm/cli.mjs';

const HELP = `Usage: npm run task -- judge [OPTIONS]

Plays histories of a cluster on a proxy: Services, endpoints, the node and the
proxy change and fail, while clients in network namespaces send requests all
the time. Each request is compared with what Kubernetes promises
(docs/judge.md). Exits with status 1 if a rule was broken. Needs root. Runs in
new network namespaces of this machine, in ipvs mode in User Mode Linux.

  --proxy COMMAND   words of the proxy to judge, with {kubeconfig}, {node},
                    {config} and {mode} (default: this project's proxy); quotes
                    make one word of several: 'proxy "--name=a b"'
  --mode MODE       nftables, iptables or ipvs (default nftables)
  --ipvs-rules KIND the rules of ipvs mode: iptables (default), or nftables,
                    for which the kernel of the tests is built
  --seed N          the seed of the first history (default 1); the others
                    follow
  --minutes N       no history begins after this time (default 5)
  --faults LIST     faults that may happen, with commas; all or none (default
                    all): proxyKilled, proxyEnded, proxyStopped, serverDown,
                    serverErrors, serverSilent, serverOlder, serverCompacting,
                    serverForbidden, serverThrottled, serverSlow, modeChanged,
                    chainsFlushed, tablesDeleted,
                    memoryShort, descriptorsShort; in nftables and ipvs mode
                    setsFlushed; in iptables and ipvs mode restoreFails,
                    locksHeld; in ipvs mode setsDestroyed,
                    virtualServicesDeleted, addressesDeleted, conntrackSmall,
                    clockStepped
  --events N        events of a history, at least 2 (default 25)
  --pause MS        the longest pause between two events, in ms (default 1200)
  --programming S   bound from a change to its effect, in s (default 3)
  --recovery S      bound from the end of a fault, or from damage, until all
                    promises hold, in s (default 15)
  --sync-period S   sync period in the configuration of the proxy, in s
                    (default 5)
  --shrink N        play at most N histories to shrink the first failing one
                    (default 30)
  --replay PATH     play the history of this file alone, or those of a folder
  --output FOLDER   the report, failing histories and the log of the proxy
                    (default .cache/judge)
  --compare LIST    play nothing: print the reports in these folders side by
                    side, with commas between the folders
  --help            print this text
`;

/** Time beside that of the histories, in s: start; the last history and each of shrinking, without the pauses between events. */
const START_SECONDS = 300;
const HISTORY_SECONDS = 90;

process.exitCode = await reportFailures('judge', () => judge(process.argv.slice(2)));

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit status
 */
async function judge(args) {
  if (args.includes('--help')) {
    process.stdout.write(HELP);
    return 0;
  }
  const orders = parseOptions(args);
  if (orders.compare) {
    process.stdout.write(`${comparisonLines(readReports(orders.compare)).join('\n')}\n`);
    return 0;
  }
  if (process.getuid?.() !== 0)
    throw new Failure('npm run task -- judge needs root, to create network namespaces');
  heading('Debian packages');
  ensurePackages({ ...COMPILER_PACKAGES, ...WITNESS_PACKAGES });
  ensureNodeModules();
  buildNative();
  buildTypeScript();
  mkdirSync(orders.output, { recursive: true });
  heading(`histories in mode ${orders.mode}`);
  const longest = HISTORY_SECONDS + (orders.steps * orders.pause) / 1000;
  const seconds = START_SECONDS + orders.time / 1000 + (1 + orders.tries) * longest;
  const machine = orders.mode === 'ipvs' ? 'uml' : 'namespace';
  // Debian's User Mode Linux has no NAT of nf_tables.
  const kernel = orders.ipvsRules === 'nftables' ? ['--kernel', 'built'] : [];
  const command = [
    process.execPath,
    '--enable-source-maps',
    'dist/test/judge/run/main.js',
    JSON.stringify(orders),
  ];
  const options = [
    '--machine',
    machine,
    ...kernel,
    '--timeout',
    String(Math.ceil(seconds)),
    '--writable',
    orders.output,
  ];
  return runVm([...options, '--', ...command]);
}
