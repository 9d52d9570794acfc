// The command line. A flag that kube-proxy has too sets the field of KubeProxyConfiguration that it names there, and is
// checked with it, so that a flag and a file mean the same.
import { parseArgs } from 'node:util';
import { parseDuration } from './duration.js';

interface Flag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** Field of KubeProxyConfiguration that the flag sets, and how its text is read. */
  readonly sets?: string;
  readonly as?: 'list' | 'number';
  /** Placeholder and text in `--help`. */
  readonly help: readonly [value: string, text: string];
}

const FLAGS = {
  manifests: {
    type: 'string',
    help: [
      'PATH',
      'folder of .yaml, .yml and .json files, or one file, with Services, EndpointSlices and Nodes',
    ],
  },
  once: {
    type: 'boolean',
    help: ['', 'program the kernel, print what was done, and end; 0 when all succeeded'],
  },
  cleanup: {
    type: 'boolean',
    help: ['', 'remove everything of ours from the kernel, tell what is left, and end'],
  },
  config: { type: 'string', help: ['FILE', 'KubeProxyConfiguration; the flags below are then ignored'] },
  'hostname-override': {
    type: 'string',
    help: ['NAME', "this node's name, as endpoints name it (the host's name)"],
  },
  'cluster-cidr': {
    type: 'string',
    sets: 'clusterCIDR',
    help: ['CIDRS', "networks of the cluster's pods, one per family, comma-separated"],
  },
  'detect-local-mode': {
    type: 'string',
    sets: 'detectLocalMode',
    help: ['MODE', 'ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix (ClusterCIDR)'],
  },
  'pod-bridge-interface': {
    type: 'string',
    sets: 'detectLocal.bridgeInterface',
    help: ['NAME', "the pods' bridge, for mode BridgeInterface"],
  },
  'pod-interface-name-prefix': {
    type: 'string',
    sets: 'detectLocal.interfaceNamePrefix',
    help: ['TEXT', "what names of the pods' devices begin with, for mode InterfaceNamePrefix"],
  },
  'nodeport-addresses': {
    type: 'string',
    sets: 'nodePortAddresses',
    as: 'list',
    help: [
      'CIDRS',
      "networks whose host addresses get node ports, comma-separated, or primary: the node's own (every address)",
    ],
  },
  'bind-address': {
    type: 'string',
    sets: 'bindAddress',
    help: ['IP', "this node's own address, above those of its Node object (0.0.0.0: theirs)"],
  },
  'masquerade-all': {
    type: 'boolean',
    sets: 'iptables.masqueradeAll',
    help: ['', 'masquerade all traffic to cluster IPs'],
  },
  'iptables-masquerade-bit': {
    type: 'string',
    sets: 'iptables.masqueradeBit',
    as: 'number',
    help: ['N', 'bit of the packet mark that asks for masquerading, 0 to 31 (14)'],
  },
  'ipvs-scheduler': {
    type: 'string',
    sets: 'ipvs.scheduler',
    help: ['NAME', 'how connections are spread: rr, lc, wrr, sh, mh, … (rr)'],
  },
  'ipvs-strict-arp': {
    type: 'boolean',
    sets: 'ipvs.strictARP',
    help: ['', 'answer ARP for an address only on the device that has it'],
  },
  'ipvs-exclude-cidrs': {
    type: 'string',
    sets: 'ipvs.excludeCIDRs',
    as: 'list',
    help: ['CIDRS', 'networks whose virtual services are never deleted, comma-separated'],
  },
  'ipvs-tcp-timeout': {
    type: 'string',
    sets: 'ipvs.tcpTimeout',
    help: ['TIME', "idle TCP connections are forgotten after it, as in 15m (0: the kernel's)"],
  },
  'ipvs-tcpfin-timeout': {
    type: 'string',
    sets: 'ipvs.tcpFinTimeout',
    help: ['TIME', "TCP connections after a FIN, likewise (0: the kernel's)"],
  },
  'ipvs-udp-timeout': {
    type: 'string',
    sets: 'ipvs.udpTimeout',
    help: ['TIME', "UDP, likewise (0: the kernel's)"],
  },
  'ipvs-sync-period': {
    type: 'string',
    sets: 'ipvs.syncPeriod',
    help: ['TIME', 'after so much quiet, everything in the kernel is looked at and repaired (30s)'],
  },
  'ipvs-own-all': {
    type: 'boolean',
    help: ['', 'delete every virtual service that no Service wants, as kube-proxy does, whoever made it'],
  },
  cures: {
    type: 'string',
    help: ['NAMES', "kube-proxy's faults to cure, comma-separated: see docs/differences.md (none)"],
  },
  'drain-timeout': {
    type: 'string',
    help: ['TIME', 'longest time that connections of a departing endpoint may run on (15m)'],
  },
  v: { type: 'string', short: 'v', help: ['N', 'log verbosity, 0 to 10: debugging from 4 on (0)'] },
  help: { type: 'boolean', short: 'h', help: ['', 'print this'] },
  version: { type: 'boolean', help: ['', 'print the version'] },
} as const satisfies Record<string, Flag>;

/** A command line that makes no sense; its message says which flag, and the rule. */
export class UsageError extends Error {}

/** A command that has to do with the kernel. */
export interface KernelCommand {
  /** `plan` tells what `run` would do; `cleanup` removes what it did, and needs no manifests. */
  readonly do: 'run' | 'plan' | 'cleanup';
  readonly manifests: string;
  readonly once: boolean;
  /** Path of a configuration file, if one was given. */
  readonly config: string | undefined;
  /** Undefined when not given; wins over the file's. */
  readonly hostnameOverride: string | undefined;
  /** Take every virtual service for ours. */
  readonly ownAll: boolean;
  /** Names of cures, unchecked. */
  readonly cures: readonly string[];
  /** Longest time that a real server drains, ms; undefined: the default. */
  readonly drainBound: number | undefined;
  /** 0 to 10. */
  readonly verbosity: number;
  /** The configuration that the flags make, unchecked. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

/** What the command line asks for. */
export type Command = { readonly do: 'help' } | { readonly do: 'version' } | KernelCommand;

/** What `--help` prints. */
export function helpText(): string {
  const lines = Object.entries(FLAGS as Record<string, Flag>).map(
    ([
      name,
      {
        short,
        help: [value, text],
      },
    ]) => {
      const long = name.length === 1 ? '' : `--${name}`;
      const names = [short ? `-${short}` : '', long].filter(Boolean).join(', ');
      return `  ${`${names} ${value}`.trim().padEnd(32)} ${text}`;
    },
  );
  return `kube-netlink-proxy programs Kubernetes Services into the kernel's IPVS, over netlink.

Usage:
  kube-netlink-proxy [run] --manifests PATH [flags]   programs the kernel, and follows changes
  kube-netlink-proxy plan --manifests PATH [flags]    prints what would change in the kernel, and changes nothing
  kube-netlink-proxy --cleanup

Flags, with defaults in parentheses:
${lines.join('\n')}

Manifests are followed as they change, until SIGTERM or SIGINT; the kernel then keeps its state.
Exit status: 0 done, 1 something failed, 2 the command line makes no sense.
Of plan: 0 nothing would change, 1 something would, 2 it cannot be told.
`;
}

/** Reads the arguments after the program's name. Throws UsageError. */
export function readFlags(args: readonly string[]): Command {
  const { values, positionals } = parse(args);
  if (values.help) return { do: 'help' };
  if (values.version) return { do: 'version' };
  const [word = 'run', ...rest] = positionals;
  if (word !== 'run' && word !== 'plan')
    throw new UsageError(`there is no command ${word}; there are run and plan`);
  if (rest.length > 0) throw new UsageError(`${word} takes no arguments, found ${rest.join(' ')}`);
  if (!values.manifests && !values.cleanup) throw new UsageError('--manifests must name a folder or file');
  const hostnameOverride = values['hostname-override']?.trim().toLowerCase();
  if (hostnameOverride === '') throw new UsageError('--hostname-override must not be empty');
  return {
    do: values.cleanup ? 'cleanup' : word,
    manifests: values.manifests ?? '',
    once: values.once ?? false,
    config: values.config,
    hostnameOverride,
    ownAll: values['ipvs-own-all'] ?? false,
    cures: (values.cures ?? '').split(',').filter(Boolean),
    drainBound: milliseconds('--drain-timeout', values['drain-timeout']),
    verbosity: verbosity(values.v ?? '0'),
    configuration: configurationOf(values),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: FLAGS, allowPositionals: true });
  } catch (error) {
    // Node's messages go on with advice about its own API; the first sentence is about the flag.
    throw new UsageError(
      ((error as Error).message.split('. ', 1)[0] ?? '').replace(/^Unknown option/, 'unknown flag'),
    );
  }
}

/** `{'ipvs-scheduler': 'lc'}` → `{ipvs: {scheduler: 'lc'}}`. */
function configurationOf(
  values: Readonly<Record<string, string | boolean | undefined>>,
): Record<string, unknown> {
  const configuration: Record<string, unknown> = {};
  for (const [name, { sets, as }] of Object.entries(FLAGS as Record<string, Flag>)) {
    const value = values[name];
    if (sets === undefined || value === undefined) continue;
    const [parent, child] = sets.split('.') as [string, string | undefined];
    const read = typeof value === 'string' ? readAs(as, value) : value;
    if (child === undefined) configuration[parent] = read;
    else configuration[parent] = { ...(configuration[parent] as object | undefined), [child]: read };
  }
  return configuration;
}

function readAs(as: Flag['as'], text: string): unknown {
  if (as === 'list') return text.split(',');
  // What is no number stays text, and is then refused by the rule of its field.
  return as === 'number' && /^[0-9]+$/.test(text) ? Number(text) : text;
}

function milliseconds(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = parseDuration(text);
  if (value !== undefined && value >= 0) return value;
  throw new UsageError(`${flag} must be a duration of 0 or more, as in 1h30m or 10s, found ${text}`);
}

function verbosity(text: string): number {
  if (/^([0-9]|10)$/.test(text)) return Number(text);
  throw new UsageError(`--v must be an integer from 0 to 10, found ${text}`);
}
