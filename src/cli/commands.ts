// Runs a command with its own options: reads its arguments, and prints its help or runs it.
import { readInputFlags, type SplitArguments } from '../config/commandLine.js';
import { helpText } from '../config/help.js';
import { COMMANDS, HELP } from './definitions.js';
import { type Format, processOutput } from './output/output.js';
import { readCommand } from './program.js';
import { RUNNERS } from './runners.js';

/** Width of help for an output that is not a terminal, in columns. */
const USUAL_WIDTH = 100;

/** Runs the command; resolves to its exit status. Rejects with an Error, and with UsageError if an argument is invalid. */
export async function runCommand({ command = HELP, flags, others }: SplitArguments): Promise<number> {
  if (command === HELP && others.length === 0) {
    process.stdout.write(helpText(COMMANDS));
    return 0;
  }
  const reading = readCommand([command, ...others], process.stdout.columns || USUAL_WIDTH);
  if ('help' in reading) {
    process.stdout.write(reading.help);
    return 0;
  }
  const { definition, args, options } = reading;
  if (!definition.inputs && flags.length > 0) throw new Error(`${command} has no option ${flags[0]}`);
  const format = (options['output'] ?? definition.formats[0] ?? 'text') as Format;
  const run = await RUNNERS[definition.name]();
  return run({ args, options, flags: readInputFlags(flags), output: processOutput(format) });
}
