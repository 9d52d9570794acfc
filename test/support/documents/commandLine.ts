// Command lines of the program, as it reads them.
import { COMMAND_NAMES, HELP } from '../../../src/command/cli/definitions.js';
import { readCommand } from '../../../src/command/cli/program.js';
import {
  type Command,
  readFlags,
  readInputFlags,
  splitFlags,
} from '../../../src/command/config/commandLine.js';

/** The command's name, and the command that its flags describe. */
export function requested(args: readonly string[]): { readonly name: string; readonly command: Command } {
  const { command: name, flags } = splitFlags(args, COMMAND_NAMES);
  if (name !== undefined) return { name, command: readInputFlags(flags) };
  const command = readFlags(args, COMMAND_NAMES);
  return { name: command.do, command };
}

/** The program with its arguments, up to the end of the shell's command: alone, or behind `sudo` or a ` -- `. */
const CALL =
  /(?:^|[|;&(]|\bsudo| --)[ \t]*(?:kube-netlink-proxy|node dist\/src\/command\/cli\/main\.js)(?= |$)((?:"[^"]*"|'[^']*'|[^"'|;&)\n])*)/gm;

/** The arguments of each call of the program in a script. In a session with prompts (`$ `), the other lines are output. */
export function callsIn(script: string): string[][] {
  const lines = script.replaceAll(/\\\n/g, ' ').split('\n');
  const typed = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
  return [...(typed.length > 0 ? typed : lines).join('\n').matchAll(CALL)].map(([, args = '']) => {
    const words = args.replace(/ (#|\d?[<>]).*/, '').match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
    return words.map((word) => word.replaceAll(/["']/g, ''));
  });
}

/** The message with which the program refuses arguments; undefined if it accepts them. Runs nothing. */
export function findRefusal(args: readonly string[]): string | undefined {
  try {
    const { name } = requested(args);
    if (!COMMAND_NAMES.includes(name)) return undefined;
    const { others } = splitFlags(args, COMMAND_NAMES);
    readCommand(name === HELP ? [...others, '--help'] : [name, ...others], 80);
    return undefined;
  } catch (error) {
    return `kube-netlink-proxy ${args.join(' ')}: ${(error as Error).message}`;
  }
}
