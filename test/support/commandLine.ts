// The command that a complete command line requests, as the program decides it.
import { COMMAND_NAMES } from '../../src/cli/definitions.js';
import { type Command, readFlags, readInputFlags, splitFlags } from '../../src/config/commandLine.js';

/** The command's name, and the command that its flags describe. */
export function requested(args: readonly string[]): { readonly name: string; readonly command: Command } {
  const { command: name, flags } = splitFlags(args, COMMAND_NAMES);
  if (name !== undefined) return { name, command: readInputFlags(flags) };
  const command = readFlags(args, COMMAND_NAMES);
  return { name: command.do, command };
}
