// Reads the command line into a command and the values of its flags. Syntax and messages are those of Go's pflag:
// `--name=value`, `--name value`, `-v4`, boolean flags without a value, underscores for dashes.

import { FLAGS, type Flag, type FlagValue } from './flags.js';
import { FLAG_TYPES } from './flagTypes.js';
import { quote } from './goSyntax.js';
import { closestTo } from './suggestion.js';

/** The shortest time limit of the API server, in s. */
const LEAST_TIMEOUT = 0.1;

/** An invalid command line; the message is kube-proxy's if it has one for the case. */
export class UsageError extends Error {}

/** A command that reads or changes the kernel. */
export interface KernelCommand {
  /** `plan` computes the operations that `run` would carry out; `cleanup` removes our state, and reads no objects. */
  readonly do: 'run' | 'plan' | 'cleanup';
  /** Directory or file of manifests; empty: the source is the API server. */
  readonly manifests: string;
  readonly once: boolean;
  /** Time limit of the API server with `once`, in s; undefined: the default. */
  readonly timeout: number | undefined;
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
  /** What writes the rules of ipvs mode, not validated; undefined: the default. */
  readonly ipvsRules: string | undefined;
  /** Names of cures, not validated. */
  readonly cures: readonly string[];
  /** Version of kube-proxy to mirror, not validated; empty: that of the configuration file, or the default. */
  readonly mirroredVersion: string;
  /** Settings that Services may have, not validated; undefined: those of the configuration file. */
  readonly serviceSettings: readonly string[] | undefined;
  /** Networks of external IPs, not validated and not empty; undefined: those of the configuration file. */
  readonly serviceExternalIPRange: readonly string[] | undefined;
  /** Networks of load-balancer IPs, not validated and not empty; undefined: those of the configuration file. */
  readonly loadBalancerIPRange: readonly string[] | undefined;
  /** Name of the layout of nftables mode, not validated; undefined: the default. */
  readonly nftablesLayout: string | undefined;
  readonly nftablesFlowTable: readonly string[] | undefined;
  /** Maximum time for which a real server is draining, in ms; undefined: the default. */
  readonly drainBound: number | undefined;
  /** Wait the whole `minSyncPeriod` after each pass. */
  readonly wholeMinSyncPeriod: boolean;
  /** Endpoints on nodes that do not answer get no new connections: `--leave-unreachable-nodes`. */
  readonly leaveUnreachableNodes: boolean;
  /** Send events about objects that are left out. */
  readonly objectEvents: boolean;
  /** Exit when the configuration file changes. */
  readonly exitOnConfigChange: boolean;
  /** Exit if the address of the health server cannot be bound. */
  readonly healthHardFail: boolean;
  /** Every flag that was given, by name. */
  readonly given: ReadonlyMap<string, FlagValue>;
}

/** The command that a command line requests. */
export type Command =
  | { readonly do: 'help' }
  | { readonly do: 'version'; readonly raw: boolean }
  | KernelCommand;

/**
 * Reads the arguments of the agent: those after the program's name. Throws {@link UsageError}.
 *
 * @param commands names of the commands with their own options, for suggestions
 */
export function readFlags(args: readonly string[], commands: readonly string[] = []): Command {
  const { values, positionals } = parseArguments(args);
  const isSet = (name: string) => values.get(name) === true;
  if (isSet('help')) return { do: 'help' };
  checkPositionals(positionals, commands, args[0]);
  const version = values.get('version');
  if (version === true || version === 'raw') return { do: 'version', raw: version === 'raw' };
  return kernelCommand(isSet('cleanup') ? 'cleanup' : 'run', values);
}

/**
 * Reads the flags of the agent that a command with its own options has: they say which configuration and which objects
 * it reads. Throws {@link UsageError}.
 *
 * @param flags as {@link splitFlags} returns them
 */
export function readInputFlags(flags: readonly string[]): KernelCommand {
  return kernelCommand('plan', parseArguments(flags).values);
}

function kernelCommand(what: KernelCommand['do'], values: ReadonlyMap<string, FlagValue>): KernelCommand {
  const text = (name: string) => (values.get(name) as string | undefined) || undefined;
  const words = (name: string) => (values.get(name) as readonly string[] | undefined)?.filter(Boolean);
  // An empty list would allow every address, whatever the file says.
  const ranges = (name: string) => (words(name)?.length ? words(name) : undefined);
  const isSet = (name: string) => values.get(name) === true;
  const drainBound = values.get('drain-timeout') as number | undefined;
  if (drainBound !== undefined && drainBound < 0) {
    throw new UsageError('--drain-timeout must be a duration of 0 or more, for example 1h30m or 10s');
  }
  return {
    do: what,
    manifests: text('manifests') ?? '',
    once: isSet('once'),
    timeout: readTimeout(values),
    config: text('config'),
    master: text('master') ?? '',
    writeConfigTo: text('write-config-to'),
    initOnly: isSet('init-only'),
    ownAll: isSet('ipvs-own-all'),
    ipvsRules: values.get('ipvs-rules') as string | undefined,
    cures: words('cures') ?? [],
    mirroredVersion: text('mirrored-version') ?? '',
    serviceSettings: words('service-settings'),
    serviceExternalIPRange: ranges('service-external-ip-range'),
    loadBalancerIPRange: ranges('loadbalancer-ip-range'),
    nftablesFlowTable: words('nftables-flow-table'),
    nftablesLayout: values.get('nftables-layout') as string | undefined,
    drainBound,
    wholeMinSyncPeriod: isSet('whole-min-sync-period'),
    leaveUnreachableNodes: isSet('leave-unreachable-nodes'),
    objectEvents: isSet('object-events'),
    exitOnConfigChange: isSet('exit-on-config-change'),
    healthHardFail: isSet('healthz-bind-hard-fail'),
    given: values,
  };
}

/** An agent tries the API server for as long as it takes: it has no limit. */
function readTimeout(values: ReadonlyMap<string, FlagValue>): number | undefined {
  const seconds = values.get('timeout') as number | undefined;
  if (seconds === undefined) return undefined;
  if (seconds < LEAST_TIMEOUT)
    throw new UsageError(`--timeout must be ${LEAST_TIMEOUT} or more, in s, for example 30`);
  if (values.get('once') !== true)
    throw new UsageError('--timeout needs --once, or a command: plan --timeout 30');
  return seconds;
}

/**
 * The only argument of the agent that is not a flag is `run`. The message is kube-proxy's, with our name; the first word of a command line,
 * however, is meant as a command.
 */
function checkPositionals(
  positionals: readonly string[],
  commands: readonly string[],
  start: string | undefined,
): void {
  const words = positionals.filter(Boolean);
  const [first] = words;
  const others = first === 'run' ? words.slice(1) : words;
  if (others.length === 0) return;
  const suggestion =
    first === 'run' ? '' : didYouMean('', closestTo(others[0] as string, ['run', ...commands]));
  if (first === start && first !== 'run') throw new UsageError(`unknown command: ${first}${suggestion}`);
  throw new UsageError(
    `"kube-netlink-proxy" does not take any arguments, got [${others.map(quote).join(' ')}]${suggestion}`,
  );
}

/** ` (did you mean --once?)`; empty if no word is close to the misspelt one. */
export function didYouMean(dashes: string, word: string | undefined): string {
  return word === undefined ? '' : ` (did you mean ${dashes}${word}?)`;
}

/** The flags that were given, in order, and the arguments that are not flags. Throws UsageError at the first invalid one. */
function parseArguments(args: readonly string[]) {
  const values = new Map<string, FlagValue>();
  const positionals: string[] = [];
  for (const token of tokensOf(args)) {
    if ('error' in token) throw new UsageError(token.error);
    if ('words' in token) positionals.push(...token.words);
    else for (const setting of token.settings) setFlag(values, setting);
  }
  return { values, positionals };
}

function setFlag(values: Map<string, FlagValue>, { name, flag, text }: Setting): void {
  const result = FLAG_TYPES[flag.type].read(text, values.get(name));
  if ('value' in result) {
    values.set(name, result.value);
    return;
  }
  const names = flag.short === undefined ? `--${name}` : `-${flag.short}, --${name}`;
  throw new UsageError(`invalid argument ${quote(text)} for ${quote(names)} flag: ${result.error}`);
}

/** Flags that only the agent has: a command with its own options has its own help and time limit, and starts nothing. */
export const AGENT_FLAGS: ReadonlySet<string> = new Set([
  'cleanup',
  'help',
  'init-only',
  'once',
  'timeout',
  'version',
  'write-config-to',
]);

/** The arguments of a command with its own options. */
export interface SplitArguments {
  /** The command; undefined if the arguments are those of the agent. */
  readonly command: string | undefined;
  /** Flags of the agent, with their values, as they were written. */
  readonly flags: readonly string[];
  /** All other arguments after the command and before it. */
  readonly others: readonly string[];
}

/**
 * Divides arguments into the command's name, the agent's flags and all others. The command may follow flags.
 *
 * @param commands names of the commands with their own options
 */
export function splitFlags(args: readonly string[], commands: readonly string[]): SplitArguments {
  const flags: string[] = [];
  const others: string[] = [];
  let command: string | undefined;
  for (const token of tokensOf(args)) {
    if ('words' in token && command === undefined && token.words[0] !== undefined) [command] = token.words;
    else if ('settings' in token && !token.settings.some(({ name }) => AGENT_FLAGS.has(name))) {
      flags.push(...token.written);
    } else others.push(...token.written);
  }
  return { command: commands.find((name) => name === command), flags, others };
}

/** A flag with the text of its value. */
interface Setting {
  readonly name: string;
  readonly flag: Flag;
  readonly text: string;
}

/** One or more arguments that belong together, as they were written, and their meaning. */
type Token = { readonly written: readonly string[] } & (
  | { readonly settings: readonly Setting[] }
  | { readonly words: readonly string[] }
  | { readonly error: string }
);

function* tokensOf(args: readonly string[]): Generator<Token> {
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as string;
    if (argument === '--') {
      yield { written: args.slice(i), words: args.slice(i + 1) };
      return;
    }
    if (!argument.startsWith('-') || argument === '-') {
      yield { written: [argument], words: [argument] };
      continue;
    }
    const start = i;
    /** The next argument, as the value of this flag. */
    const next = () => args[++i];
    const meaning = argument.startsWith('--') ? longFlag(argument, next) : shortFlags(argument, next);
    yield { written: args.slice(start, i + 1), ...meaning };
  }
}

type Meaning = { readonly settings: readonly Setting[] } | { readonly error: string };

/** @param next takes the next argument as the value of the flag; undefined if there is none */
type NextArgument = () => string | undefined;

function longFlag(argument: string, next: NextArgument): Meaning {
  const [, written = '', text] = /^--([^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
  if (written === '' || written.startsWith('-')) return { error: `bad flag syntax: ${argument}` };
  const name = written.replaceAll('_', '-');
  const flag = FLAGS.get(name);
  if (!flag) return { error: `unknown flag: --${written}${didYouMean('--', closestTo(name, FLAGS.keys()))}` };
  const value = text ?? impliedValue(flag) ?? next();
  return value === undefined ? needsArgument(`--${written}`) : { settings: [{ name, flag, text: value }] };
}

/** One letter after a dash, or several flags that need no value: `-v4`, `-v=4`, `-hv4`. */
function shortFlags(argument: string, next: NextArgument): Meaning {
  const settings: Setting[] = [];
  let letters = argument.slice(1);
  while (letters !== '') {
    const letter = letters[0] as string;
    const found = [...FLAGS].find(([, { short }]) => short === letter);
    if (!found) return { error: `unknown shorthand flag: '${letter}' in -${letters}` };
    const [name, flag] = found;
    if (letters.length > 2 && letters[1] === '=') {
      return { settings: [...settings, { name, flag, text: letters.slice(2) }] };
    }
    const implied = impliedValue(flag);
    if (implied === undefined) {
      const value = letters.slice(1) || next();
      if (value === undefined) return needsArgument(`'${letter}' in -${letters}`);
      return { settings: [...settings, { name, flag, text: value }] };
    }
    settings.push({ name, flag, text: implied });
    letters = letters.slice(1);
  }
  return { settings };
}

function needsArgument(flag: string): { readonly error: string } {
  return { error: `flag needs an argument: ${flag}` };
}

/** The text that a flag without a value has (pflag's NoOptDefVal); undefined if it needs a value. */
function impliedValue({ type }: Flag): string | undefined {
  return type === 'bool' || type === 'version' ? 'true' : undefined;
}
