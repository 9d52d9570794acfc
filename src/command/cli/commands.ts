// Runs a command with its own options: reads its arguments, and prints its help or runs it.
import { outputTerminal, writeOutput } from '../agent/standardStreams.js';
import { didYouMean, readInputFlags, type SplitArguments, UsageError } from '../config/commandLine.js';
import { helpText } from '../config/help.js';
import { closestTo } from '../config/suggestion.js';
import type { CommandName, CommandRunner } from './command.js';
import { COMMAND_NAMES, COMMANDS, HELP } from './definitions.js';
import { columnsOf, type Format, processOutput } from './output/output.js';
import { readCommand } from './program.js';

/** Runs the command; resolves to its exit status. Rejects with an Error, and with UsageError if an argument is invalid. */
export async function runCommand({ command, flags, others }: SplitArguments): Promise<number> {
  const words = command === undefined || command === HELP ? describedBy(others) : [command, ...others];
  if (words === undefined) {
    writeOutput(helpText(COMMANDS, columnsOf(outputTerminal())));
    return 0;
  }
  const reading = readCommand(words, columnsOf(outputTerminal()));
  if ('help' in reading) {
    writeOutput(reading.help);
    return 0;
  }
  const { definition, args, options } = reading;
  if (!definition.inputs && flags.length > 0) throw new UsageError(`${command} has no option ${flags[0]}`);
  const format = (options['output'] ?? definition.formats[0] ?? 'text') as Format;
  const run = await RUNNERS[definition.name]();
  return run({ args, options, flags: readInputFlags(flags), output: processOutput(format) });
}

/** The arguments that print what `help` describes; undefined for the help of the agent. */
function describedBy([word, ...others]: readonly string[]): string[] | undefined {
  if (others.length > 0) throw new UsageError(`${HELP} has one argument, found ${others.length + 1}`);
  if (word === undefined || ['run', HELP, '-h', '--help'].includes(word)) return undefined;
  if (COMMAND_NAMES.includes(word)) return [word, '--help'];
  throw new UsageError(
    `unknown command: ${word}${didYouMean('', closestTo(word, ['run', ...COMMAND_NAMES]))}`,
  );
}

// The functions that run the commands with their own options. Each is loaded when it is needed.

/** Loads the function of a command. */
const RUNNERS: Readonly<Record<CommandName, () => Promise<CommandRunner>>> = {
  services: async () => (await import('./services/services.js')).runServices,
  top: async () => (await import('./services/top.js')).runTop,
  status: async () => (await import('./status/status.js')).runStatus,
  check: async () => (await import('./check/check.js')).runCheck,
  plan: async () => (await import('./plan.js')).runPlan,
  diff: async () => (await import('./diff.js')).runDiff,
  explain: async () => (await import('./explain/explain.js')).runExplain,
  completion: async () => (await import('./completion/completion.js')).runCompletion,
  man: async () => (await import('./manPage.js')).runMan,
};
