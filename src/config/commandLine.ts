// Parses arguments as Go's pflag does, with its messages: `--name=value`, `--name value`, `-v4`, conditions without a
// value, underscores for dashes.
import type { FlagType, FlagValue } from './flagTypes.js';
import { quote } from './goSyntax.js';
import { closestTo } from './suggestion.js';

/** A command line that makes no sense; the message is kube-proxy's where it has one. */
export class UsageError extends Error {}

/** What parsing has to know of a flag. */
export interface FlagSpecification {
  readonly type: FlagType;
  readonly short?: string;
}

/** The flags that were given, in order, and what is no flag. */
export interface ParsedArguments {
  readonly values: ReadonlyMap<string, FlagValue>;
  readonly positionals: readonly string[];
}

/** Parses the arguments. Throws UsageError at the first flag that is unknown or wrong. */
export function parseArguments(
  args: readonly string[],
  flags: ReadonlyMap<string, FlagSpecification>,
): ParsedArguments {
  const values = new Map<string, FlagValue>();
  const positionals: string[] = [];
  const set = (name: string, flag: FlagSpecification, text: string) => {
    const result = flag.type.parse(text, values.get(name));
    if ('value' in result) {
      values.set(name, result.value);
      return;
    }
    const names = flag.short === undefined ? `--${name}` : `-${flag.short}, --${name}`;
    throw new UsageError(`invalid argument ${quote(text)} for ${quote(names)} flag: ${result.fault}`);
  };
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as string;
    /** The value that stands in the next argument. */
    const following = (what: string) => {
      const next = args[++i];
      if (next === undefined) throw new UsageError(`flag needs an argument: ${what}`);
      return next;
    };
    if (argument === '--') return { values, positionals: [...positionals, ...args.slice(i + 1)] };
    if (argument.startsWith('--')) parseLong(argument, flags, set, following);
    else if (argument.startsWith('-') && argument.length > 1) parseShort(argument, flags, set, following);
    else positionals.push(argument);
  }
  return { values, positionals };
}

/** The end of a message about a misspelt word: ` (did you mean --once?)`; empty when nothing is close to the word. */
export function hint(before: string, meant: string | undefined): string {
  return meant === undefined ? '' : ` (did you mean ${before}${meant}?)`;
}

type Set = (name: string, flag: FlagSpecification, text: string) => void;
type Following = (what: string) => string;

function parseLong(
  argument: string,
  flags: ReadonlyMap<string, FlagSpecification>,
  set: Set,
  following: Following,
): void {
  const [, written = '', text] = /^--([^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
  if (written === '' || written.startsWith('-')) throw new UsageError(`bad flag syntax: ${argument}`);
  const name = written.replaceAll('_', '-');
  const flag = flags.get(name);
  if (!flag) throw new UsageError(`unknown flag: --${written}${hint('--', closestTo(name, flags.keys()))}`);
  set(name, flag, text ?? flag.type.alone ?? following(`--${written}`));
}

function parseShort(
  argument: string,
  flags: ReadonlyMap<string, FlagSpecification>,
  set: Set,
  following: Following,
): void {
  let letters = argument.slice(1);
  while (letters !== '') {
    const letter = letters[0] as string;
    const found = [...flags].find(([, { short }]) => short === letter);
    if (!found) throw new UsageError(`unknown shorthand flag: '${letter}' in -${letters}`);
    const [name, flag] = found;
    if (letters.length > 2 && letters[1] === '=') {
      set(name, flag, letters.slice(2));
      return;
    }
    if (flag.type.alone === undefined) {
      set(name, flag, letters.slice(1) || following(`'${letter}' in -${letters}`));
      return;
    }
    set(name, flag, flag.type.alone);
    letters = letters.slice(1);
  }
}
