// The benchmark as a program of a checkout. `npm run bench` builds and starts it.
import { runBenchCommand } from './cli/bench.js';
import { BENCH } from './cli/definition.js';
import { runProgram } from './cli/program.js';

await runProgram(BENCH, runBenchCommand);
