// The benchmark as a program of a checkout: reads its arguments, and prints its help or runs it. `npm run bench` builds and starts it.
import { FAILED } from '../src/cli/command.js';
import { errorLines } from '../src/cli/nextStep.js';
import { columnsOf, type Format, processOutput } from '../src/cli/output/output.js';
import { readCommandOf } from '../src/cli/program.js';
import { runBenchCommand } from './cli/bench.js';
import { BENCH } from './cli/definition.js';

async function main(args: readonly string[]): Promise<number> {
  const program = { name: 'npm run', commands: [BENCH] };
  const reading = readCommandOf(program, [BENCH.name, ...args], columnsOf(process.stdout));
  if ('help' in reading) {
    process.stdout.write(reading.help);
    return 0;
  }
  const format = reading.options['output'] as Format;
  return runBenchCommand({ ...reading, output: processOutput(format) });
}

// A reader of the output that has read enough, such as head(1), is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? 0 : FAILED),
);
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  for (const line of errorLines(error)) process.stderr.write(`${line}\n`);
  process.exitCode = FAILED;
}
