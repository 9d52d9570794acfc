// Text about the flags: the usage, the output of --help, and the value of every flag for the log.

import { defaultConfiguration } from './configuration.js';
import { formatDuration } from './duration.js';
import {
  FLAGS,
  type Flag,
  type FlagValue,
  KUBE_PROXY_FLAGS,
  OWN_FLAGS,
  type VerbosityPattern,
} from './flags.js';
import { FLAG_TYPES } from './flagTypes.js';
import { quote } from './goSyntax.js';
import { beside, USUAL_COLUMNS, wrapped } from './wrap.js';

/** A command with its own options: its name, and its purpose in one line. */
interface CommandSummary {
  readonly name: string;
  readonly summary: string;
}

const USES: readonly (readonly [command: string, purpose: string])[] = [
  ['[run] [flags]', 'program the kernel, keep it up to date'],
  ['--cleanup', 'remove all our state from the kernel'],
  ['COMMAND [options]', 'for people; help COMMAND describes one'],
];

function usage(columns: number): string[] {
  const lines = USES.flatMap(([command, purpose]) =>
    beside(`  kube-netlink-proxy ${command}`, purpose, 40, columns),
  );
  return ['Usage:', ...lines, ''];
}

/** The text above the error of an invalid command line. */
export function usageText(): string {
  const lines = usage(USUAL_COLUMNS);
  return `${lines.join('\n')}
kube-netlink-proxy --help lists the commands and the flags.

`;
}

/**
 * The output of `--help`.
 *
 * @param columns of the longest line, unless a word is longer
 */
export function helpText(commands: readonly CommandSummary[], columns: number): string {
  const paragraph = (text: string) => wrapped(text, columns);
  const flags = (group: Readonly<Record<string, Flag>>) =>
    Object.entries(group).flatMap((entry) => describe(entry, columns));
  const lines = [
    ...paragraph(
      'kube-netlink-proxy replaces kube-proxy: it programs Kubernetes Services into the kernel, in ipvs, iptables or nftables mode.',
    ),
    '',
    ...usage(columns),
    'Commands:',
    ...commands.flatMap(({ name, summary }) => beside(`  ${name}`, summary, 14, columns)),
    '',
    ...paragraph('Flags of kube-proxy; those marked * take effect with --config too:'),
    ...flags(KUBE_PROXY_FLAGS),
    '',
    ...paragraph('Flags that kube-proxy does not have; all take effect with --config too:'),
    ...flags(OWN_FLAGS),
    '',
    ...paragraph(
      'SIGTERM and SIGINT end the program, and leave the kernel state as it is. SIGHUP is ignored, except on a terminal.',
    ),
    ...paragraph(
      'Exit status: 0 success, 1 failure or invalid command line. Exit statuses of a command: see its help.',
    ),
  ];
  return `${lines.join('\n')}\n`;
}

/** Stands for a space at which no line is broken. */
const JOINED = '\u00a0';

function describe([name, { short, type, help, withConfig }]: [string, Flag], columns: number): string[] {
  const names = short === undefined ? `    --${name}` : `-${short}, --${name}`;
  const mark = withConfig && name in KUBE_PROXY_FLAGS ? '*' : ' ';
  const first = ` ${mark} ${names} ${FLAG_TYPES[type].placeholder}`.trimEnd();
  const value = defaultText(name);
  const suffix = value === '' || value === 'false' ? '' : ` (default ${value})`;
  // The default is one word: its line is not broken.
  const text = `${help}${suffix.replace('(default ', `(default${JOINED}`)}`;
  return [first, ...beside('', text, 12, columns).map((line) => line.replace(JOINED, ' '))];
}

/** Every flag with its value, as kube-proxy logs them at verbosity 1: `FLAG: --once="true"`. */
export function flagLines(given: ReadonlyMap<string, FlagValue>): string[] {
  return [...flagTexts(given)].map(([name, text]) => `FLAG: --${name}=${quote(text)}`);
}

/** The value of every flag as text, by the flag's name without dashes. */
export function flagTexts(given: ReadonlyMap<string, FlagValue>): Map<string, string> {
  const textOf = (name: string, flag: Flag) => {
    const value = given.get(name);
    return value === undefined ? defaultText(name) : valueText(flag, value);
  };
  return new Map([...FLAGS].map(([name, flag]) => [name, textOf(name, flag)]));
}

/** The default of a flag as command-line text; empty if it has none. */
function defaultText(name: string): string {
  const flag = FLAGS.get(name);
  if (flag?.field === undefined) return flag?.default ?? (flag?.type === 'bool' ? 'false' : '');
  // kube-proxy's flag has no default: a configuration without the field gets it later.
  if (flag.field === 'detectLocalMode') return '';
  let value: unknown = defaultConfiguration();
  for (const step of flag.field.split('.')) value = (value as Readonly<Record<string, unknown>>)[step];
  return valueText(flag, value as FlagValue);
}

function valueText({ type }: Flag, value: FlagValue): string {
  if (type === 'duration') return formatDuration(value as number);
  if (type === 'strings') return `[${(value as readonly string[]).join(',')}]`.replace('[]', '');
  if (type === 'vmodule') {
    const patterns = value as readonly VerbosityPattern[];
    return patterns.map(({ filePattern, verbosity }) => `${filePattern}=${verbosity}`).join(',');
  }
  if (type !== 'mapStringBool') return String(value);
  const gates = Object.entries(value as Readonly<Record<string, boolean>>);
  return gates.map(([gate, set]) => `${gate}=${set}`).join(',');
}
