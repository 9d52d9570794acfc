// Reads the command line into a command and the values of its flags. Syntax and messages are those of Go's pflag:
// `--name=value`, `--name value`, `-v4`, boolean flags without a value, underscores for dashes.
import { canonicalAddress } from '../net/address.js';
import { durationError, parseDuration } from './duration.js';
import { isQuantity, QUANTITY_RULE } from './fieldTypes.js';
import { FLAGS, type Flag, type FlagTypeName, type FlagValue, type VerbosityPattern } from './flags.js';
import {
  isFloat32,
  MAX_INT32,
  MIN_INT32,
  parseBool,
  parseInteger,
  quote,
  splitHostPort,
} from './goSyntax.js';
import { closestTo } from './suggestion.js';
import { isPortRange } from './validation.js';

/** An invalid command line; the message is kube-proxy's if it has one for the case. */
export class UsageError extends Error {}

/** A command that reads or changes the kernel. */
export interface KernelCommand {
  /** `plan` prints the operations that `run` would carry out; `cleanup` removes our state, and reads no objects. */
  readonly do: 'run' | 'plan' | 'cleanup';
  /** Directory or file of manifests; empty: the source is the API server. */
  readonly manifests: string;
  readonly once: boolean;
  /** Output format of a plan. */
  readonly output: 'text' | 'json';
  /** Path of the configuration file, if one was given. */
  readonly config: string | undefined;
  /** URL of the API server; empty: the one in the kubeconfig. */
  readonly master: string;
  /** File to write the configuration to, instead of running. */
  readonly writeConfigTo: string | undefined;
  /** Do only the setup that needs full root privileges, and exit. */
  readonly initOnly: boolean;
  /** Treat every virtual service as ours. */
  readonly ownAll: boolean;
  /** Names of cures, not validated. */
  readonly cures: readonly string[];
  /** Maximum time for which a real server is draining, in ms; undefined: the default. */
  readonly drainBound: number | undefined;
  /** Every flag that was given, by name. */
  readonly given: ReadonlyMap<string, FlagValue>;
}

/** The command that a command line requests. */
export type Command =
  | { readonly do: 'help' }
  | { readonly do: 'version'; readonly raw: boolean }
  | KernelCommand;

/** Reads the arguments after the program's name. Throws {@link UsageError}. */
export function readFlags(args: readonly string[]): Command {
  const { values, positionals } = parseArguments(args);
  const text = (name: string) => (values.get(name) as string | undefined) || undefined;
  const isSet = (name: string) => values.get(name) === true;
  if (isSet('help')) return { do: 'help' };
  const word = commandWord(positionals);
  if (isSet('version') || text('version') === 'raw') return { do: 'version', raw: text('version') === 'raw' };
  if (word !== 'plan' && values.has('output')) throw new UsageError('--output is valid only with plan');
  const changing = ['cleanup', 'init-only'].find(isSet);
  if (word === 'plan' && changing !== undefined) {
    throw new UsageError(`plan changes nothing, but --${changing} does: use only one of them`);
  }
  const drainBound = values.get('drain-timeout') as number | undefined;
  if (drainBound !== undefined && drainBound < 0) {
    throw new UsageError('--drain-timeout must be a duration of 0 or more, for example 1h30m or 10s');
  }
  return {
    do: isSet('cleanup') ? 'cleanup' : word,
    manifests: text('manifests') ?? '',
    once: isSet('once'),
    output: text('output') === 'json' ? 'json' : 'text',
    config: text('config'),
    master: text('master') ?? '',
    writeConfigTo: text('write-config-to'),
    initOnly: isSet('init-only'),
    ownAll: isSet('ipvs-own-all'),
    cures: ((values.get('cures') ?? []) as readonly string[]).filter(Boolean),
    drainBound,
    given: values,
  };
}

const COMMANDS = ['run', 'plan'] as const;

/** `run`, which is the default, or `plan`. Neither takes arguments; the message is kube-proxy's, with our name. */
function commandWord(positionals: readonly string[]): (typeof COMMANDS)[number] {
  const words = positionals.filter(Boolean);
  const [first = 'run'] = words;
  const command = COMMANDS.find((known) => known === first);
  const others = command === undefined ? words : words.slice(1);
  if (command !== undefined && others.length === 0) return command;
  const suggestion = command === undefined ? didYouMean('', closestTo(first, COMMANDS)) : '';
  throw new UsageError(
    `"kube-netlink-proxy" does not take any arguments, got [${others.map(quote).join(' ')}]${suggestion}`,
  );
}

/** ` (did you mean --once?)`; empty if no word is close to the misspelt one. */
function didYouMean(dashes: string, word: string | undefined): string {
  return word === undefined ? '' : ` (did you mean ${dashes}${word}?)`;
}

/** The flags that were given, in order, and the arguments that are not flags. Throws UsageError at the first invalid one. */
function parseArguments(args: readonly string[]) {
  const values = new Map<string, FlagValue>();
  const positionals: string[] = [];
  const set = (name: string, flag: Flag, text: string) => {
    const result = FLAG_TYPES[flag.type].read(text, values.get(name));
    if ('value' in result) {
      values.set(name, result.value);
      return;
    }
    const names = flag.short === undefined ? `--${name}` : `-${flag.short}, --${name}`;
    throw new UsageError(`invalid argument ${quote(text)} for ${quote(names)} flag: ${result.error}`);
  };
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as string;
    /** The next argument, as the value of this flag. */
    const next = (flag: string) => {
      const text = args[++i];
      if (text === undefined) throw new UsageError(`flag needs an argument: ${flag}`);
      return text;
    };
    if (argument === '--') return { values, positionals: [...positionals, ...args.slice(i + 1)] };
    if (argument.startsWith('--')) parseLong(argument, set, next);
    else if (argument.startsWith('-') && argument.length > 1) parseShort(argument, set, next);
    else positionals.push(argument);
  }
  return { values, positionals };
}

type SetFlag = (name: string, flag: Flag, text: string) => void;
type NextArgument = (flag: string) => string;

function parseLong(argument: string, set: SetFlag, next: NextArgument): void {
  const [, written = '', text] = /^--([^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
  if (written === '' || written.startsWith('-')) throw new UsageError(`bad flag syntax: ${argument}`);
  const name = written.replaceAll('_', '-');
  const flag = FLAGS.get(name);
  if (!flag)
    throw new UsageError(`unknown flag: --${written}${didYouMean('--', closestTo(name, FLAGS.keys()))}`);
  set(name, flag, text ?? impliedValue(flag) ?? next(`--${written}`));
}

/** One letter after a dash, or several flags that need no value: `-v4`, `-v=4`, `-hv4`. */
function parseShort(argument: string, set: SetFlag, next: NextArgument): void {
  let letters = argument.slice(1);
  while (letters !== '') {
    const letter = letters[0] as string;
    const found = [...FLAGS].find(([, { short }]) => short === letter);
    if (!found) throw new UsageError(`unknown shorthand flag: '${letter}' in -${letters}`);
    const [name, flag] = found;
    if (letters.length > 2 && letters[1] === '=') {
      set(name, flag, letters.slice(2));
      return;
    }
    const implied = impliedValue(flag);
    if (implied === undefined) {
      set(name, flag, letters.slice(1) || next(`'${letter}' in -${letters}`));
      return;
    }
    set(name, flag, implied);
    letters = letters.slice(1);
  }
}

/** The text that a flag without a value has (pflag's NoOptDefVal); undefined if it needs a value. */
function impliedValue({ type }: Flag): string | undefined {
  return type === 'bool' || type === 'version' ? 'true' : undefined;
}

/** The value of a text, or the reason why it has none, in kube-proxy's words. */
type ReadResult = { readonly value: FlagValue } | { readonly error: string };

/** A type of flags. */
interface FlagType {
  /** The value's placeholder in `--help`; empty if the flag needs no value. */
  readonly placeholder: string;
  /** Reads a value; `before` is the flag's value so far. */
  read(text: string, before: FlagValue | undefined): ReadResult;
}

const parseError = (parser: string, text: string, reason: string) => ({
  error: `strconv.${parser}: parsing ${quote(text)}: ${reason}`,
});

/** The types of flags. */
export const FLAG_TYPES: Readonly<Record<FlagTypeName, FlagType>> = {
  string: { placeholder: 'string', read: (text) => ({ value: text }) },
  bool: { placeholder: '', read: readBool },
  /** `--version`: a boolean, or `raw`. */
  version: { placeholder: '', read: (text) => (text === 'raw' ? { value: text } : readBool(text)) },
  int32: {
    placeholder: 'int32',
    read(text) {
      const value = parseInteger(text, MIN_INT32, MAX_INT32);
      return typeof value === 'string' ? parseError('ParseInt', text, value) : { value };
    },
  },
  float32: {
    placeholder: 'float32',
    read(text) {
      const form = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
      if (!form.test(text)) return parseError('ParseFloat', text, 'invalid syntax');
      const value = Number(text);
      return isFloat32(value) ? { value } : parseError('ParseFloat', text, 'value out of range');
    },
  },
  duration: {
    placeholder: 'duration',
    read(text) {
      const value = parseDuration(text);
      return value === undefined ? { error: durationError(text) } : { value };
    },
  },
  /** An IP address; empty text changes nothing. */
  ip: {
    placeholder: 'ip',
    read(text, before) {
      if (text === '') return { value: before ?? '' };
      return canonicalAddress(text) === undefined
        ? { error: `${quote(text)} is not a valid IP address` }
        : { value: text };
    },
  },
  /** An IP address with or without a port; empty text changes nothing. */
  ipport: {
    placeholder: 'ipport',
    read(text, before) {
      if (text === '') return { value: before ?? '' };
      if (canonicalAddress(text) !== undefined) return { value: text };
      const parts = splitHostPort(text);
      if (typeof parts === 'string') {
        return { error: `${quote(text)} is not in a valid format (ip or ip:port): ${parts}` };
      }
      if (canonicalAddress(parts.host) === undefined) {
        return { error: `${quote(parts.host)} is not a valid IP address` };
      }
      const port = /^\d+$/.test(parts.port) ? Number(parts.port) : Number.NaN;
      return port <= 65_535 ? { value: text } : { error: `${quote(parts.port)} is not a valid number` };
    },
  },
  'port-range': {
    placeholder: 'port-range',
    read: (text) =>
      isPortRange(text) ? { value: text } : { error: `${quote(text)} is not a valid port range` },
  },
  /** Values separated by commas; a repeated flag appends to the list. */
  strings: {
    placeholder: 'strings',
    read: (text, before) => ({
      value: [...((before as readonly string[] | undefined) ?? []), ...(text === '' ? [] : text.split(','))],
    }),
  },
  /** `Name=true,Other=false`; a repeated flag adds to the map. */
  mapStringBool: { placeholder: 'mapStringBool', read: readGates },
  /** A log level. */
  level: {
    placeholder: 'Level',
    read(text) {
      const value = readLevel(text);
      return typeof value === 'string' ? parseError('ParseUint', text, value) : { value };
    },
  },
  /** `file=2,other*=3`; a repeated flag appends to the list. */
  vmodule: { placeholder: 'pattern=N,...', read: readPatterns },
  /** An output format. */
  output: {
    placeholder: 'text|json',
    read: (text) =>
      text === 'text' || text === 'json'
        ? { value: text }
        : { error: `${quote(text)} is neither text nor json` },
  },
  quantity: {
    placeholder: 'quantity',
    read: (text) => (isQuantity(text) ? { value: text } : { error: QUANTITY_RULE }),
  },
};

function readBool(text: string): ReadResult {
  const value = parseBool(text);
  return value === undefined ? parseError('ParseBool', text, 'invalid syntax') : { value };
}

function readLevel(text: string) {
  return /^\d+$/.test(text) ? parseInteger(text.replace(/^0+(?=\d)/, ''), 0, MAX_INT32) : 'invalid syntax';
}

function readGates(text: string, before: FlagValue | undefined): ReadResult {
  const gates: Record<string, boolean> = { ...(before as Readonly<Record<string, boolean>> | undefined) };
  for (const pair of text.split(',').filter(Boolean)) {
    const [, name = '', written = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
    if (!pair.includes('=')) return { error: 'malformed pair, expect string=bool' };
    const value = parseBool(written.trim());
    if (value === undefined) {
      const { error } = parseError('ParseBool', written.trim(), 'invalid syntax');
      return { error: `invalid value of ${name.trim()}: ${written.trim()}, err: ${error}` };
    }
    gates[name.trim()] = value;
  }
  return { value: gates };
}

function readPatterns(text: string, before: FlagValue | undefined): ReadResult {
  const patterns = [...((before as readonly VerbosityPattern[] | undefined) ?? [])];
  for (const entry of text.split(',').filter(Boolean)) {
    const [filePattern = '', written = '', ...more] = entry.split('=');
    if (filePattern === '' || written === '' || more.length > 0) {
      return { error: `${quote(entry)} does not have the pattern=N format` };
    }
    const verbosity = readLevel(written);
    if (typeof verbosity === 'string') {
      return {
        error: `parsing verbosity in ${quote(entry)}: ${parseError('ParseUint', written, verbosity).error}`,
      };
    }
    patterns.push({ filePattern, verbosity });
  }
  return { value: patterns };
}
