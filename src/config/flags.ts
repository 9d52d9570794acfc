// The command line → what it asks for.
import { hint, type ParsedArguments, parseArguments, UsageError } from './commandLine.js';
import { FLAGS } from './flagTable.js';
import type { FlagValue } from './flagTypes.js';
import { quote } from './goSyntax.js';
import { closestTo } from './suggestion.js';

export { UsageError } from './commandLine.js';
export { flagLines, flagTexts, helpText, usageText } from './help.js';

/** A command that has to do with the kernel. */
export interface KernelCommand {
  /** `plan` tells what `run` would do; `cleanup` removes what it did, and needs no source of objects. */
  readonly do: 'run' | 'plan' | 'cleanup';
  /** Folder or file of manifests; empty: none was given, so the API server is the source. */
  readonly manifests: string;
  readonly once: boolean;
  /** How a plan is printed. */
  readonly output: 'text' | 'json';
  /** Path of a configuration file, if one was given. */
  readonly config: string | undefined;
  /** URL of the API server; empty: as the kubeconfig says. */
  readonly master: string;
  /** File to write the configuration to, instead of running. */
  readonly writeConfigTo: string | undefined;
  /** Do what needs full root rights, and end. */
  readonly initOnly: boolean;
  /** Take every virtual service for ours. */
  readonly ownAll: boolean;
  /** Names of cures, unchecked. */
  readonly cures: readonly string[];
  /** Longest time that a real server drains, ms; undefined: the default. */
  readonly drainBound: number | undefined;
  /** Every flag that was given, by name. */
  readonly given: ReadonlyMap<string, FlagValue>;
}

/** What the command line asks for. */
export type Command =
  | { readonly do: 'help' }
  | { readonly do: 'version'; readonly raw: boolean }
  | KernelCommand;

/** Reads the arguments after the program's name. Throws UsageError. */
export function readFlags(args: readonly string[]): Command {
  const parsed = parseArguments(args, FLAGS);
  const { values } = parsed;
  const text = (name: string) => (values.get(name) as string | undefined) || undefined;
  const set = (name: string) => values.get(name) === true;
  if (set('help')) return { do: 'help' };
  const word = commandWord(parsed);
  if (set('version') || text('version') === 'raw') return { do: 'version', raw: text('version') === 'raw' };
  if (word === 'plan') refuseBesidePlan(set);
  else if (values.has('output')) throw new UsageError('--output is for plan alone');
  const drainBound = values.get('drain-timeout') as number | undefined;
  if (drainBound !== undefined && drainBound < 0) {
    throw new UsageError('--drain-timeout must be a duration of 0 or more, as in 1h30m or 10s');
  }
  return {
    do: set('cleanup') ? 'cleanup' : word,
    manifests: text('manifests') ?? '',
    once: set('once'),
    output: text('output') === 'json' ? 'json' : 'text',
    config: text('config'),
    master: text('master') ?? '',
    writeConfigTo: text('write-config-to'),
    initOnly: set('init-only'),
    ownAll: set('ipvs-own-all'),
    cures: ((values.get('cures') ?? []) as readonly string[]).filter(Boolean),
    drainBound,
    given: values,
  };
}

/** A plan changes nothing, so what is there to change something makes no sense beside it. */
function refuseBesidePlan(set: (flag: string) => boolean): void {
  for (const flag of ['cleanup', 'init-only']) {
    if (set(flag))
      throw new UsageError(`plan changes nothing, and --${flag} does: only one of them can be asked for`);
  }
}

const COMMANDS = ['run', 'plan'] as const;

/** `run`, which may be left out, or `plan`. Neither takes arguments: kube-proxy's words, with this program's name. */
function commandWord({ positionals }: ParsedArguments): (typeof COMMANDS)[number] {
  const words = positionals.filter(Boolean);
  const [first = 'run'] = words;
  const command = COMMANDS.find((known) => known === first);
  const others = command === undefined ? words : words.slice(1);
  if (command !== undefined && others.length === 0) return command;
  const meant = command === undefined ? hint('', closestTo(first, COMMANDS)) : '';
  throw new UsageError(
    `"kube-netlink-proxy" does not take any arguments, got [${others.map(quote).join(' ')}]${meant}`,
  );
}
