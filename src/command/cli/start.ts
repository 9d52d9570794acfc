// Reads the command line, prints help or runs the command, and sets the exit status. main.ts imports it.

import { ErrorWithNextStep } from '../../kernel/errors.js';
import { keepYoungGenerationSmall } from '../agent/heap.js';
import { OutputClosed, outputTerminal, writeError, writeOutput } from '../agent/standardStreams.js';
import { readFlags, splitFlags, UsageError } from '../config/commandLine.js';
import { helpText, usageText } from '../config/help.js';
import { FAILED } from './command.js';
import { COMMAND_NAMES, COMMANDS, HELP } from './definitions.js';
import { errorLines } from './nextStep.js';
import { columnsOf } from './output/output.js';
import { stopSignal } from './signals.js';
import { VERSION } from './version.js';

/** Exit status of an agent that failed, as of kube-proxy. */
const AGENT_FAILED = 1;

/** Users may know it from an earlier version. */
const BENCH_PLACE = 'in a checkout of kube-netlink-proxy, run: npm run bench';

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const split = splitFlags(args, COMMAND_NAMES);
  try {
    if (args[0] === 'bench') throw new ErrorWithNextStep('bench is not in the package', BENCH_PLACE);
    if (split.command === undefined) return await runAgent(args);
    // Imported late, so that the agent does not load the libraries of the other commands.
    const { runCommand } = await import('./commands.js');
    return await runCommand(split);
  } catch (error) {
    // A reader of the output that has read enough, such as head(1), is not a failure.
    if (error instanceof OutputClosed) return 0;
    printError(error, split.command);
    return split.command === undefined ? AGENT_FAILED : FAILED;
  }
}

/** Runs the agent, or prints its help or version. */
async function runAgent(args: readonly string[]): Promise<number> {
  const command = readFlags(args, COMMAND_NAMES);
  switch (command.do) {
    case 'help':
      writeOutput(helpText(COMMANDS, columnsOf(outputTerminal())));
      return 0;
    case 'version':
      writeOutput(command.raw ? rawVersion() : `kube-netlink-proxy ${VERSION}\n`);
      return 0;
    default: {
      // First, because the kernel drops signals to process 1 of a container that have no handler.
      const stop = stopSignal(command);
      keepYoungGenerationSmall();
      // Imported late, so that help and version do not load it.
      const { run } = await import('./run.js');
      return run(command, stop);
    }
  }
}

/** The error is at the end, where users look first, with the next step below it if one is known. */
function printError(error: unknown, command: string | undefined): void {
  if (error instanceof UsageError) {
    const usage = `kube-netlink-proxy help ${command} describes the command.\n\n`;
    writeError(command === undefined || command === HELP ? usageText() : usage);
  }
  for (const line of errorLines(error)) writeError(`${line}\n`);
}

function rawVersion(): string {
  const { node, napi } = process.versions;
  return `${JSON.stringify({ version: VERSION, node, napi, platform: `${process.platform}/${process.arch}` })}\n`;
}

// Exits even if an abandoned batch is still in the kernel.
process.exit(await main());
