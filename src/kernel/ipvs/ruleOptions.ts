// The command line of ipvsadm 1.31, as far as it changes IPVS: a line of its rules → a command and the values of its options.

/** A command of ipvsadm, by its long name. */
export type Command =
  | ('add-service' | 'edit-service' | 'delete-service' | 'clear' | 'zero')
  | ('add-server' | 'edit-server' | 'delete-server')
  | ('set' | 'start-daemon' | 'stop-daemon');

/** Values of options by their long names; an option without a value has an empty text. */
export type Values = ReadonlyMap<string, string>;

/** A line that has been read. */
export interface Rule {
  readonly command: Command;
  readonly values: Values;
  /** The arguments that belong to no option: the timeouts of `--set`. */
  readonly rest: readonly string[];
}

/** Whether an option has a value: always, never, or if the next word is not an option. */
type Kind = 'value' | 'plain' | 'optional';
interface Option {
  readonly long: string;
  readonly short?: string;
  readonly kind: Kind;
}

const SERVICE = ['tcp-service', 'udp-service', 'sctp-service', 'fwmark-service', 'ipv6'];
const SETTINGS = ['scheduler', 'persistent', 'netmask', 'pe', 'ops', 'sched-flags'];
const SERVER = [
  ...['gatewaying', 'ipip', 'masquerading', 'weight', 'u-threshold', 'l-threshold'],
  ...['tun-type', 'tun-port', 'tun-nocsum', 'tun-csum', 'tun-remcsum'],
];
const DAEMON = ['mcast-interface', 'syncid', 'sync-maxlen', 'mcast-group', 'mcast-port', 'mcast-ttl'];

/** The options that each command takes. */
const TAKES: Readonly<Record<Command, readonly string[]>> = {
  'add-service': [...SERVICE, ...SETTINGS],
  'edit-service': [...SERVICE, ...SETTINGS],
  'delete-service': SERVICE,
  clear: [],
  zero: SERVICE,
  'add-server': [...SERVICE, 'real-server', ...SERVER],
  'edit-server': [...SERVICE, 'real-server', ...SERVER],
  'delete-server': [...SERVICE, 'real-server'],
  set: [],
  'start-daemon': DAEMON,
  'stop-daemon': [],
};

const OPTIONS: readonly Option[] = [
  { long: 'add-service', short: 'A', kind: 'plain' },
  { long: 'edit-service', short: 'E', kind: 'plain' },
  { long: 'delete-service', short: 'D', kind: 'plain' },
  { long: 'clear', short: 'C', kind: 'plain' },
  { long: 'zero', short: 'Z', kind: 'plain' },
  { long: 'add-server', short: 'a', kind: 'plain' },
  { long: 'edit-server', short: 'e', kind: 'plain' },
  { long: 'delete-server', short: 'd', kind: 'plain' },
  { long: 'set', kind: 'plain' },
  { long: 'start-daemon', kind: 'value' },
  { long: 'stop-daemon', kind: 'value' },
  { long: 'tcp-service', short: 't', kind: 'value' },
  { long: 'udp-service', short: 'u', kind: 'value' },
  { long: 'sctp-service', kind: 'value' },
  { long: 'fwmark-service', short: 'f', kind: 'value' },
  { long: 'ipv6', short: '6', kind: 'plain' },
  { long: 'scheduler', short: 's', kind: 'value' },
  { long: 'pe', kind: 'value' },
  { long: 'persistent', short: 'p', kind: 'optional' },
  { long: 'netmask', short: 'M', kind: 'value' },
  { long: 'ops', short: 'o', kind: 'plain' },
  { long: 'sched-flags', short: 'b', kind: 'value' },
  { long: 'real-server', short: 'r', kind: 'value' },
  { long: 'gatewaying', short: 'g', kind: 'plain' },
  { long: 'ipip', short: 'i', kind: 'plain' },
  { long: 'masquerading', short: 'm', kind: 'plain' },
  { long: 'weight', short: 'w', kind: 'value' },
  { long: 'u-threshold', short: 'x', kind: 'value' },
  { long: 'l-threshold', short: 'y', kind: 'value' },
  { long: 'tun-type', kind: 'value' },
  { long: 'tun-port', kind: 'value' },
  { long: 'tun-nocsum', kind: 'plain' },
  { long: 'tun-csum', kind: 'plain' },
  { long: 'tun-remcsum', kind: 'plain' },
  { long: 'mcast-interface', kind: 'value' },
  { long: 'syncid', kind: 'value' },
  { long: 'sync-maxlen', kind: 'value' },
  { long: 'mcast-group', kind: 'value' },
  { long: 'mcast-port', kind: 'value' },
  { long: 'mcast-ttl', kind: 'value' },
];
const BY_NAME: ReadonlyMap<string, Option> = new Map(
  OPTIONS.flatMap((option): [string, Option][] => [
    [`--${option.long}`, option],
    ...(option.short ? [[`-${option.short}`, option] as [string, Option]] : []),
  ]),
);

/** A rule that a line breaks: the word, and what is wrong with it. */
export class InvalidLine extends Error {}

/** Reads a line; throws a InvalidLine. The line may begin with `ipvsadm`, as for `ipvsadm -R`. */
export function readRule(line: string): Rule {
  const words = line.trim().split(/\s+/);
  if (words[0] === 'ipvsadm') words.shift();
  const values = new Map<string, string>();
  const rest: string[] = [];
  while (words.length > 0) {
    const word = words.shift() as string;
    if (word.startsWith('-') && word.length > 1) readOption(word, words, values);
    else rest.push(word);
  }
  const commands = [...values.keys()].filter((name): name is Command => Object.hasOwn(TAKES, name));
  const [command] = commands;
  if (command === undefined) throw new InvalidLine('has no command that changes IPVS');
  if (commands.length > 1) throw new InvalidLine(`has two commands, --${commands.join(' and --')}`);
  for (const name of values.keys()) {
    if (name !== command && !TAKES[command].includes(name)) {
      throw new InvalidLine(`--${name} is not an option of --${command}`);
    }
  }
  if (command !== 'set' && rest.length > 0) throw new InvalidLine(`${rest[0]} belongs to no option`);
  return { command, values, rest };
}

/** Reads one option, and its value from the word or from the next one. */
function readOption(word: string, words: string[], values: Map<string, string>): void {
  const isLong = word.startsWith('--');
  const end = isLong && word.includes('=') ? word.indexOf('=') : word.length;
  const name = isLong ? word.slice(0, end) : word.slice(0, 2);
  const option = BY_NAME.get(name);
  if (!option) throw new InvalidLine(`${name} is not an option of a change`);
  if (values.has(option.long)) throw new InvalidLine(`--${option.long} is given twice`);
  const attached = isLong
    ? end < word.length
      ? word.slice(end + 1)
      : undefined
    : word.slice(2) || undefined;
  if (option.kind === 'plain') {
    if (isLong && attached !== undefined) throw new InvalidLine(`${name} has no value`);
    values.set(option.long, '');
    // Letters of plain options may share a dash: `-At ADDRESS`.
    if (attached !== undefined) readOption(`-${attached}`, words, values);
    return;
  }
  values.set(option.long, attached ?? valueFor(option, words));
}

function valueFor({ long, kind }: Option, words: string[]): string {
  const [next] = words;
  if (kind === 'optional') return next === undefined || next.startsWith('-') ? '' : (words.shift() as string);
  if (next === undefined) throw new InvalidLine(`--${long} needs a value`);
  return words.shift() as string;
}
