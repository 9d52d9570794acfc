// The benchmark as a program of a checkout. `npm run bench` builds and starts it.
import { keepYoungGenerationSmall } from '../src/command/agent/heap.js';
import { runBenchCommand } from './cli/bench.js';
import { BENCH } from './cli/definition.js';
import { runProgram } from './cli/program.js';

// The proxy is measured in this process, which therefore has the settings of the agent.
keepYoungGenerationSmall();
await runProgram(BENCH, runBenchCommand);
