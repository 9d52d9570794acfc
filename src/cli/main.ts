#!/usr/bin/env node
// The entry point of the command: reads the command line, prints help or runs the command, and sets the exit status.
import { readFlags, UsageError } from '../config/commandLine.js';
import { helpText, usageText } from '../config/help.js';
import { ConfigurationError } from '../config/load.js';
import { stopSignal } from './signals.js';
import { VERSION } from './version.js';

/** Exit status of a failure. */
const FAILED = 1;
/** Exit status of a failed plan, where 1 means that there are changes, and of a failed explain. */
const NO_PLAN = 2;

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  // An invalid command line with the word plan may be a plan.
  let failed = args.includes('plan') || args[0] === 'explain' ? NO_PLAN : FAILED;
  try {
    if (args[0] === 'explain') {
      const { explainCommand } = await import('./explain/arguments.js');
      return await explainCommand(args.slice(1));
    }
    const command = readFlags(args);
    failed = command.do === 'plan' ? NO_PLAN : FAILED;
    switch (command.do) {
      case 'help':
        process.stdout.write(helpText());
        return 0;
      case 'version':
        process.stdout.write(command.raw ? rawVersion() : `kube-netlink-proxy ${VERSION}\n`);
        return 0;
      default: {
        // First, because the kernel drops signals to process 1 of a container that have no handler.
        const stop = stopSignal(command);
        // Imported late, so that help and version do not load it.
        const { run } = await import('./run.js');
        return await run(command, stop);
      }
    }
  } catch (error) {
    // The error is the last line, where users look first.
    if (error instanceof UsageError) process.stderr.write(usageText());
    const message = error instanceof Error ? error.message : String(error);
    const lines = error instanceof ConfigurationError ? message.split('\n') : [message];
    for (const line of lines) process.stderr.write(`Error: ${line}\n`);
    return failed;
  }
}

function rawVersion(): string {
  const { node, napi } = process.versions;
  return `${JSON.stringify({ version: VERSION, node, napi, platform: `${process.platform}/${process.arch}` })}\n`;
}

// Exits even if an abandoned batch is still in the kernel.
process.exit(await main());
