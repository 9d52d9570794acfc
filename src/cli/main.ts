#!/usr/bin/env node
// The command: reads the command line, and prints or runs.
import { readFileSync } from 'node:fs';
import { helpText, readFlags, UsageError } from '../config/flags.js';
import { run } from './run.js';

/** Exit statuses. */
const FAILED = 1;
const USAGE = 2;

async function main(): Promise<number> {
  try {
    const command = readFlags(process.argv.slice(2));
    switch (command.do) {
      case 'help':
        process.stdout.write(helpText());
        return 0;
      case 'version':
        process.stdout.write(`kube-netlink-proxy ${version()}\n`);
        return 0;
      default:
        return await run(command);
    }
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`kube-netlink-proxy: ${error.message}\nTry kube-netlink-proxy --help\n`);
      return USAGE;
    }
    process.stderr.write(`kube-netlink-proxy: ${error instanceof Error ? error.message : String(error)}\n`);
    return isPlan(process.argv) ? USAGE : FAILED;
  }
}

/** In a plan, 1 means that something would change, so trouble has a status of its own. */
function isPlan(argv: readonly string[]): boolean {
  return argv[2] === 'plan';
}

function version(): string {
  const file = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

process.exitCode = await main();
