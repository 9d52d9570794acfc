// The command completion: the script of a shell.
import type { CommandRunner } from '../command.js';
import { bashScript } from './bash.js';
import { fishScript } from './fish.js';
import { zshScript } from './zsh.js';

/** The script of each shell. */
export const SCRIPTS: Readonly<Record<string, () => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** `completion`. */
export const runCompletion: CommandRunner = async ({ args: [shell = ''], output }) => {
  output.write(SCRIPTS[shell]?.() ?? '');
  return 0;
};
