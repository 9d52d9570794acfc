// The commands and flags in a common form, for completion and the man page. Pure.
import { AGENT_FLAGS } from '../config/commandLine.js';
import { FLAGS } from '../config/flags.js';
import { FLAG_TYPES } from '../config/flagTypes.js';
import type { CommandDefinition, OptionDefinition } from './command.js';
import { COMMANDS, HELP, outputOption } from './definitions.js';

/** An option or a flag. */
export interface OptionSyntax {
  /** `--output`. */
  readonly long: string;
  /** `-o`. */
  readonly short?: string;
  /** Placeholder of the value; absent if it has none. */
  readonly placeholder?: string;
  readonly help: string;
  /** The value without the option. */
  readonly default?: string;
  readonly choices?: readonly string[];
  /** The value is the path of a file or a folder. */
  readonly path: boolean;
}

/** A command. */
export interface CommandSyntax {
  readonly definition: { readonly name: string; readonly summary: string } & Partial<
    Omit<CommandDefinition, 'name'>
  >;
  /** Its own options. */
  readonly options: readonly OptionSyntax[];
  /** Its own options and the flags of the agent that it accepts. */
  readonly accepted: readonly OptionSyntax[];
  /** Values of its argument, if it has only these. */
  readonly choices?: readonly string[];
  /** Its arguments are paths. */
  readonly paths: boolean;
}

/** Flags whose value is a path. */
const PATH_FLAGS: ReadonlySet<string> = new Set([
  'boot-id-file',
  'config',
  'kubeconfig',
  'machine-id-file',
  'manifests',
  'write-config-to',
]);

/** The flags of the agent. */
export const AGENT_OPTIONS: readonly OptionSyntax[] = [...FLAGS].map(([name, { type, help, short }]) => {
  const { placeholder } = FLAG_TYPES[type];
  return {
    long: `--${name}`,
    ...(short === undefined ? {} : { short: `-${short}` }),
    ...(placeholder === '' ? {} : { placeholder }),
    help,
    path: PATH_FLAGS.has(name),
  };
});

/** The flags of the agent that a command accepts: those that say which configuration and which objects it reads. */
const INPUT_FLAGS = AGENT_OPTIONS.filter(({ long }) => !AGENT_FLAGS.has(long.slice(2)));

const HELP_OPTION: OptionSyntax = { long: '--help', short: '-h', help: 'describe this command', path: false };

/** All commands with their own options, and `help`. */
export const COMMAND_SYNTAX: readonly CommandSyntax[] = [
  ...COMMANDS.map((definition): CommandSyntax => {
    const [argument] = definition.arguments ?? [];
    const options = [...[...definition.options, ...outputOption(definition)].map(optionSyntax), HELP_OPTION];
    return {
      definition,
      options,
      accepted: definition.inputs ? [...options, ...INPUT_FLAGS] : options,
      ...(argument?.choices ? { choices: argument.choices } : {}),
      paths: argument?.syntax.includes('path') ?? false,
    };
  }),
  {
    definition: { name: HELP, summary: 'describe a command' },
    options: [],
    accepted: [],
    choices: COMMANDS.map(({ name }) => name),
    paths: false,
  },
];

/** The names of all commands, except `run`. */
export const NAMES: readonly string[] = COMMAND_SYNTAX.map(({ definition }) => definition.name);

/** All commands with their purposes. */
export const SUMMARIES: readonly Pick<CommandDefinition<string>, 'name' | 'summary'>[] = [
  { name: 'run', summary: 'program the kernel, and keep it up to date' },
  ...COMMAND_SYNTAX.map(({ definition }) => definition),
];

function optionSyntax({ flags, help, default: usual, choices }: OptionDefinition): OptionSyntax {
  const [, short, long = '', placeholder] = /^(?:(-\w), )?(--[\w-]+)(?: <(.*)>)?$/.exec(flags) ?? [];
  return {
    long,
    ...(short === undefined ? {} : { short }),
    ...(placeholder === undefined ? {} : { placeholder }),
    help,
    ...(usual === undefined ? {} : { default: usual }),
    ...(choices === undefined ? {} : { choices }),
    path: false,
  };
}
