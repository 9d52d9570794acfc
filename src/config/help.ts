// What is told of the flags: the text of --help, and every flag's value for the log.
import { defaultConfiguration } from './configuration.js';
import { formatDuration } from './duration.js';
import { FLAGS, type Flag, KUBE_PROXY_FLAGS, OWN_FLAGS } from './flagTable.js';
import { FLAG_TYPES, type FlagValue, type VerbosityPattern } from './flagTypes.js';
import { quote } from './goSyntax.js';

const USAGE = `Usage:
  kube-netlink-proxy [run] [flags]                    programs the kernel, and follows changes
  kube-netlink-proxy plan [flags]                     prints what would change in the kernel, and changes nothing
  kube-netlink-proxy --cleanup
`;

/** What is printed above the error of a command line that makes no sense. */
export function usageText(): string {
  return `${USAGE}
kube-netlink-proxy --help lists the flags.

`;
}

/** What `--help` prints. */
export function helpText(): string {
  return `kube-netlink-proxy programs Kubernetes Services into the kernel's IPVS, over netlink, in kube-proxy's place.

${USAGE}
kube-proxy's flags; those marked * count beside --config too:
${Object.entries<Flag>(KUBE_PROXY_FLAGS).map(describe).join('\n')}

Flags of this program alone; all count beside --config too:
${Object.entries<Flag>(OWN_FLAGS).map(describe).join('\n')}

Changes are followed until SIGTERM or SIGINT; the kernel then keeps its state. SIGHUP is ignored, except on a terminal.
Exit status: 0 done, 1 something failed, or the command line makes no sense.
Of plan: 0 nothing would change, 1 something would, 2 it cannot be told.
`;
}

function describe([name, { short, type, help, beside }]: [string, Flag]): string {
  const names = short === undefined ? `    --${name}` : `-${short}, --${name}`;
  const first = ` ${beside && name in KUBE_PROXY_FLAGS ? '*' : ' '} ${names} ${type.shown}`.trimEnd();
  const absent = defaultText(name);
  const said = absent === '' || absent === 'false' ? '' : ` (default ${absent})`;
  return `${first}\n            ${help}${said}`;
}

/** Every flag with its value, as kube-proxy logs them at verbosity 1: `FLAG: --proxy-mode="ipvs"`. */
export function flagLines(given: ReadonlyMap<string, FlagValue>): string[] {
  return [...flagTexts(given)].map(([name, text]) => `FLAG: --${name}=${quote(text)}`);
}

/** Every flag's value as text, by name without dashes. */
export function flagTexts(given: ReadonlyMap<string, FlagValue>): Map<string, string> {
  const textOf = (name: string, flag: Flag) => {
    const value = given.get(name);
    return value === undefined ? defaultText(name) : valueText(flag, value);
  };
  return new Map([...FLAGS].map(([name, flag]) => [name, textOf(name, flag)]));
}

/** The default of a flag as one would write it; empty where there is none. */
function defaultText(name: string): string {
  const flag = FLAGS.get(name);
  if (flag?.sets === undefined) return flag?.absent ?? (flag?.type === FLAG_TYPES.bool ? 'false' : '');
  // A configuration that says nothing of these is completed with what the flags leave out.
  if (flag.sets === 'detectLocalMode') return '';
  let value: unknown = defaultConfiguration();
  for (const step of flag.sets.split('.')) value = (value as Readonly<Record<string, unknown>>)[step];
  return valueText(flag, value as FlagValue);
}

function valueText({ type }: Flag, value: FlagValue): string {
  if (type === FLAG_TYPES.duration) return formatDuration(value as number);
  if (type === FLAG_TYPES.strings) return `[${(value as readonly string[]).join(',')}]`.replace('[]', '');
  if (type === FLAG_TYPES.vmodule) {
    const patterns = value as readonly VerbosityPattern[];
    return patterns.map(({ filePattern, verbosity }) => `${filePattern}=${verbosity}`).join(',');
  }
  if (type !== FLAG_TYPES.mapStringBool) return String(value);
  const gates = Object.entries(value as Readonly<Record<string, boolean>>);
  return gates.map(([gate, set]) => `${gate}=${set}`).join(',');
}
