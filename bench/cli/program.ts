// A program of the checkout with one command, which `npm run` builds and starts: reads its arguments, and prints its help or runs it.
import { type CommandDefinition, FAILED, type Invocation } from '../../src/command/cli/command.js';
import { errorLines } from '../../src/command/cli/nextStep.js';
import { columnsOf, type Format, processOutput } from '../../src/command/cli/output/output.js';
import { readCommandOf } from '../../src/command/cli/program.js';

/** Its arguments and options, which have been validated against its definition. */
export type ProgramInvocation = Pick<Invocation, 'args' | 'options' | 'output'>;

/** Runs the program with the arguments of the process, and sets its exit status. `starter`: what a person types before its name. */
export async function runProgram(
  definition: CommandDefinition<string>,
  run: (invocation: ProgramInvocation) => Promise<number> | number,
  starter = 'npm run',
): Promise<void> {
  // A reader of the output that has read enough, such as head(1), is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? 0 : FAILED),
  );
  try {
    process.exitCode = await readAndRun(definition, run, starter);
  } catch (error) {
    for (const line of errorLines(error)) process.stderr.write(`${line}\n`);
    process.exitCode = FAILED;
  }
}

async function readAndRun(
  definition: CommandDefinition<string>,
  run: (invocation: ProgramInvocation) => Promise<number> | number,
  starter: string,
): Promise<number> {
  const program = { name: starter, commands: [definition] };
  const args = [definition.name, ...process.argv.slice(2)];
  const reading = readCommandOf(program, args, columnsOf(process.stdout));
  if ('help' in reading) {
    process.stdout.write(reading.help);
    return 0;
  }
  return run({ ...reading, output: processOutput(reading.options['output'] as Format) });
}
