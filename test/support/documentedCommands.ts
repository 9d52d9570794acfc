// Commands with their output in a document: blocks of ```console, each with one command.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.js';

/** A command with its output. */
export interface DocumentedCommand {
  /** The arguments after `kube-netlink-proxy`. */
  readonly args: readonly string[];
  readonly output: string;
}

/**
 * The commands of a document.
 *
 * @param path below the root of the checkout
 */
export function documentedCommands(path: string): DocumentedCommand[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const blocks = text.matchAll(/^```console\n\$ kube-netlink-proxy (.*)\n((?:(?!```).*\n)*)```$/gm);
  return [...blocks].map(([, args = '', output = '']) => ({ args: args.split(' '), output }));
}
