// The command line of `npm run bench`: its own options, and those of the benchmark.

import { Failure } from '../lib/failure.mjs';
import { testMachineNamed } from '../vm/testMachines.mjs';

export const HELP = `Usage: npm run bench [-- OPTIONS]

Builds and runs the benchmark. The scenarios of IPVS run in the test machine of the kernel
tests (npm run vm -- --help), the others on this machine's kernel, in network namespaces of their own, if you are root. Both
results are shown as one report. Progress is on standard error.

  --machine NAME      namespace, uml or qemu (default: the first that is available)
  --json              same as -o json
  --help              print this text

  --scenarios, --methods, --sizes, --repetitions, --budget, --sample, --seed, --quick, --system-calls: what is measured
  --targets, -o FORMAT, --folder DIR: what is shown
  --against COMMAND, --pass-pattern PATTERN, --own-flags FLAGS, --rate CHANGES, --seconds COUNT: another
  proxy, in the test machine

\`node dist/bench/main.js --help\` describes them. The document of the repository is written by
\`npm run bench -- --folder docs\`.
`;

/** Options with a value that are for the measurement. */
const MEASURED = [
  '--methods',
  '--sizes',
  '--repetitions',
  '--budget',
  '--sample',
  '--seed',
  '--against',
  '--pass-pattern',
  '--own-flags',
  '--rate',
  '--seconds',
];
/** Options with a value that are for the result. */
const SHOWN = ['-o', '--output', '--folder'];

/**
 * @typedef {object} BenchOptions
 * @property {boolean} help
 * @property {import('../vm/testMachines.mjs').TestMachineName | undefined} machine
 * @property {boolean} against whether another proxy is measured
 * @property {string[] | undefined} scenarios
 * @property {string[]} measured arguments of the measurement
 * @property {string[]} shown arguments of the result
 */

/**
 * @param {readonly string[]} args
 * @returns {BenchOptions}
 */
export function parseOptions(args) {
  /** @type {BenchOptions} */
  const options = {
    help: false,
    machine: undefined,
    against: false,
    scenarios: undefined,
    measured: [],
    shown: [],
  };
  const rest = [...args];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [name = '', inline] = word.split(/=(.*)/s);
    const value = () => {
      const found = inline ?? rest.shift();
      if (!found) throw new Failure(`${name} needs a value (see --help)`);
      return found;
    };
    if (word === '--help') options.help = true;
    else if (word === '--json') options.shown.push('-o', 'json');
    else if (word === '--targets') options.shown.push(word);
    else if (word === '--quick' || word === '--system-calls') options.measured.push(word);
    else if (name === '--machine') options.machine = testMachineNamed(name, value());
    else if (name === '--scenarios') options.scenarios = value().split(',');
    else if (MEASURED.includes(name)) options.measured.push(name, value());
    else if (SHOWN.includes(name)) options.shown.push(name, value());
    else throw new Failure(`unknown option ${word} (see --help)`);
    if (name === '--against') options.against = true;
  }
  return options;
}
