// The commands as commander reads them: options, arguments, help, and suggestions for misspelt words.

import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { integerRule, isIntegerWithin } from '../../kernel/arguments.js';
import { AGENT_FLAGS, didYouMean, UsageError } from '../config/commandLine.js';
import { FLAGS, type Flag } from '../config/flags.js';
import { FLAG_TYPES } from '../config/flagTypes.js';
import { closestTo } from '../config/suggestion.js';
import { beside, wrapped } from '../config/wrap.js';
import type { CommandDefinition, CommandName, OptionDefinition } from './command.js';
import { COMMANDS, outputOption } from './definitions.js';

/** A program with commands. */
export interface Program<Name extends string> {
  /** The words before the name of a command. */
  readonly name: string;
  readonly commands: readonly CommandDefinition<Name>[];
}

/** The commands of the package. */
const PACKAGE: Program<CommandName> = { name: 'kube-netlink-proxy', commands: COMMANDS };

/** The arguments of a command, read by its definition. */
interface ReadArguments<Name extends string = CommandName> {
  readonly definition: CommandDefinition<Name>;
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** The result: a command to run, or a text to print. */
type Reading<Name extends string = CommandName> = ReadArguments<Name> | { readonly help: string };

/** Flags of the agent that the help of a command lists; the others are in `--help` of the agent. */
const LISTED_FLAGS: ReadonlySet<string> = new Set([
  'config',
  'hostname-override',
  'kubeconfig',
  'manifests',
  'master',
]);

/** Group of these flags in the help. */
const INPUT_GROUP = 'Flags of the agent (kube-netlink-proxy --help lists the others):';

/**
 * Reads the arguments of a command. Throws {@link UsageError}.
 *
 * @param args the command's name and its arguments, without the flags of the agent
 * @param columns width of the help
 */
export function readCommand(args: readonly string[], columns: number): Reading {
  return readCommandOf(PACKAGE, args, columns);
}

/** As {@link readCommand}, of another program. */
export function readCommandOf<Name extends string>(
  { name, commands }: Program<Name>,
  args: readonly string[],
  columns: number,
): Reading<Name> {
  let help = '';
  let found: ReadArguments<Name> | undefined;
  const program = new Command(name).helpCommand(false);
  for (const definition of commands)
    addCommand(program, definition, columns, (read) => {
      found = read;
    });
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .showSuggestionAfterError(false)
      // By default, texts beside long options are not broken on narrow terminals.
      .configureHelp({ minWidthToWrap: 20 })
      .configureOutput({
        writeOut: (text) => {
          help += text;
        },
        writeErr: () => {},
        getOutHelpWidth: () => columns,
      });
  }
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw new UsageError(plainMessage(error, optionsOf(program, args[0])));
  }
  return found ?? { help };
}

/** Adds a command. `act` is called with its arguments if it was given. */
function addCommand<Name extends string>(
  program: Command,
  definition: CommandDefinition<Name>,
  columns: number,
  act: (read: ReadArguments<Name>) => void,
): void {
  const command = program
    .command(definition.name)
    .summary(definition.summary)
    .description(definition.description.replaceAll('\n', ' '))
    .helpOption('-h, --help', 'describe this command');
  for (const { syntax, help, choices } of definition.arguments ?? []) {
    const argument = new Argument(syntax, help);
    command.addArgument(choices ? argument.choices(choices) : argument);
  }
  for (const option of [...definition.options, ...outputOption(definition)]) {
    command.addOption(commanderOption(option));
  }
  if (definition.inputs) {
    for (const [name, flag] of FLAGS) {
      if (!AGENT_FLAGS.has(name)) command.addOption(inputOption(name, flag));
    }
  }
  command.addHelpText('after', () => `\n${footer(program.name(), definition, columns)}`);
  command.action(() => act({ definition, args: command.args, options: command.opts() }));
}

function commanderOption({ flags, help, default: usual, choices, number }: OptionDefinition): Option {
  const option = new Option(flags, help);
  if (choices) option.choices(choices);
  if (number) option.argParser((text) => readNumber(text, number));
  return usual === undefined ? option : option.default(number ? Number(usual) : usual);
}

function readNumber(text: string, { least, whole }: NonNullable<OptionDefinition['number']>): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  const isValid = whole
    ? isIntegerWithin(value, least, LARGEST_NUMBER)
    : value >= least && value <= LARGEST_NUMBER;
  if (isValid) return value;
  const rule = whole
    ? integerRule(least, LARGEST_NUMBER)
    : `must be a number from ${least} to ${LARGEST_NUMBER}`;
  throw new InvalidArgumentError(`It ${rule}.`);
}

/** Largest number of an option: a day in seconds. */
const LARGEST_NUMBER = 86_400;

/** A flag of the agent, for help and suggestions; its value has been read before. */
function inputOption(name: string, { type, help, short }: Flag): Option {
  const placeholder = FLAG_TYPES[type].placeholder;
  const long = placeholder === '' ? `--${name}` : `--${name} <${placeholder}>`;
  const option = new Option(short === undefined ? long : `-${short}, ${long}`, help);
  return LISTED_FLAGS.has(name) ? option.helpGroup(INPUT_GROUP) : option.hideHelp();
}

function footer(program: string, { statuses, examples }: CommandDefinition<string>, columns: number): string {
  return [
    'Exit status:',
    ...statuses.flatMap(([status, meaning]) => beside(`  ${status}`, meaning, 5, columns)),
    '',
    'Examples:',
    ...examples.flatMap(([args, purpose]) => [
      ...wrapped(`  ${program} ${args}`, columns, 6),
      ...beside('', purpose, 6, columns),
    ]),
    '',
  ].join('\n');
}

/** The long names of a command's options, with the flags of the agent that it accepts, without dashes. */
function optionsOf(program: Command, name: string | undefined): string[] {
  const command = program.commands.find((known) => known.name() === name);
  return ['help', ...(command?.options ?? []).flatMap(({ long }) => long?.slice(2) ?? [])];
}

/** commander's message without its prefix. A misspelt option has a suggestion, among hidden options too. */
function plainMessage({ code, message }: CommanderError, options: readonly string[]): string {
  const plain = message.replace(/^error: /, '');
  const [, written] = /^unknown option '--([^'=]*)/.exec(plain) ?? [];
  if (code !== 'commander.unknownOption' || written === undefined) return plain;
  return `unknown option: --${written}${didYouMean('--', closestTo(written, options))}`;
}
