#!/usr/bin/env node
// The command: reads the command line, and prints or runs.
import { readFlags, UsageError } from '../config/commandLine.js';
import { helpText, usageText } from '../config/help.js';
import { ConfigurationError } from '../config/load.js';
import { stopSignal } from './signals.js';
import { VERSION } from './version.js';

/** Exit status of what failed. */
const FAILED = 1;
/** Exit status of a plan that cannot be told: 1 means there that something would change. */
const NO_PLAN = 2;

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  // Of a command line that cannot be read, a plan may have been meant.
  let failed = args.includes('plan') ? NO_PLAN : FAILED;
  try {
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
        // At once: the first process of a container that does not listen yet would never hear a signal at all.
        const stop = stopSignal(command);
        // Not before: what only prints need not wait for all that runs.
        const { run } = await import('./run.js');
        return await run(command, stop);
      }
    }
  } catch (error) {
    // The error is last, where a reader looks first.
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

// What a batch that was abandoned still does in the kernel's own time must not keep the process.
process.exit(await main());
