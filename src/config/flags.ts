// The command line → settings. Names, defaults and meaning are kube-proxy's where kube-proxy has the flag.
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { type Family, familyOf } from '../net/address.js';
import { formatNetwork, parseNetwork } from '../net/network.js';

/** What the command line says. */
export interface Settings {
  readonly manifests: string;
  /** Program the kernel once and end. */
  readonly once: boolean;
  /** Name of this node, as endpoints name it: trimmed, in lower case. */
  readonly nodeName: string;
  /** Networks of the cluster's pods, one per family. */
  readonly clusterCIDRs: { readonly [family in Family]?: string };
  readonly masqueradeAll: boolean;
  /** Bit of the packet mark that asks for masquerading: 0–31. */
  readonly masqueradeBit: number;
  readonly scheduler: string;
  readonly strictARP: boolean;
  readonly nodePortAddresses: readonly string[];
  /** 0 (only what matters) to 10. */
  readonly verbosity: number;
}

/** A command line that makes no sense; its message says which flag, and the rule. */
export class UsageError extends Error {}

const FLAGS = {
  manifests: { type: 'string' },
  once: { type: 'boolean', default: false },
  'hostname-override': { type: 'string' },
  'cluster-cidr': { type: 'string', default: '' },
  'masquerade-all': { type: 'boolean', default: false },
  'iptables-masquerade-bit': { type: 'string', default: '14' },
  'ipvs-scheduler': { type: 'string', default: 'rr' },
  'ipvs-strict-arp': { type: 'boolean', default: false },
  'nodeport-addresses': { type: 'string', default: '' },
  v: { type: 'string', short: 'v', default: '0' },
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', default: false },
} as const;

/** What `--help` prints. */
export const HELP = `kube-netlink-proxy: programs Kubernetes Services into the kernel's IPVS, over netlink.

Usage:
  kube-netlink-proxy [run] --manifests PATH [flags]

Where objects come from:
  --manifests PATH            a folder of .yaml, .yml and .json files, or one file, with Services, EndpointSlices and
                              Nodes; followed as it changes
  --once                      program the kernel once, print what was done, and end: 0 when all of it succeeded

The node:
  --hostname-override NAME    name of this node, as endpoints name it (default: the host's name)
  --nodeport-addresses CIDRS  networks whose host addresses get node ports, comma-separated (default: every address)

Traffic:
  --cluster-cidr CIDRS        networks of the cluster's pods, one per family, comma-separated; traffic to cluster IPs
                              from elsewhere is masqueraded
  --masquerade-all            masquerade all traffic to cluster IPs
  --iptables-masquerade-bit N bit of the packet mark that asks for masquerading, 0 to 31 (default 14)
  --ipvs-scheduler NAME       how connections are spread: rr, lc, wrr, sh, mh, … (default rr)
  --ipvs-strict-arp           answer ARP for an address only on the device that has it

Other:
  -v, --v N                   log verbosity, 0 to 10 (default 0)
  -h, --help                  print this
      --version               print the version
`;

/** What to do: print something and end, or run. */
export type Command = { readonly do: 'help' | 'version' } | { readonly do: 'run'; readonly settings: Settings };

/** Reads the arguments after the program's name. Throws UsageError. */
export function readFlags(args: readonly string[]): Command {
  const { values, positionals } = parse(args);
  if (values.help) return { do: 'help' };
  if (values.version) return { do: 'version' };
  const [command = 'run', ...rest] = positionals;
  if (command !== 'run') throw new UsageError(`there is no command ${command}; there is run`);
  if (rest.length > 0) throw new UsageError(`run takes no arguments, found ${rest.join(' ')}`);
  if (!values.manifests) throw new UsageError('--manifests must name a folder or file');
  const nodeName = (values['hostname-override'] ?? hostname()).trim().toLowerCase();
  if (nodeName === '') throw new UsageError('--hostname-override must not be empty');
  return {
    do: 'run',
    settings: {
      manifests: values.manifests,
      once: values.once,
      nodeName,
      clusterCIDRs: perFamily('--cluster-cidr', networks('--cluster-cidr', values['cluster-cidr'])),
      masqueradeAll: values['masquerade-all'],
      masqueradeBit: integer('--iptables-masquerade-bit', values['iptables-masquerade-bit'], 0, 31),
      scheduler: scheduler(values['ipvs-scheduler']),
      strictARP: values['ipvs-strict-arp'],
      nodePortAddresses: networks('--nodeport-addresses', values['nodeport-addresses']),
      verbosity: integer('--v', values.v, 0, 10),
    },
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: FLAGS, allowPositionals: true });
  } catch (error) {
    // Node's messages go on with advice about its own API; the first sentence is about the flag.
    throw new UsageError(((error as Error).message.split('. ', 1)[0] ?? '').replace(/^Unknown option/, 'unknown flag'));
  }
}

function integer(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^[0-9]+$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(`${flag} must be an integer from ${min} to ${max}, found ${text}`);
}

function networks(flag: string, text: string): string[] {
  const texts = text.split(',').map((part) => part.trim());
  return texts.filter(Boolean).map((part) => {
    const network = parseNetwork(part);
    if (!network) throw new UsageError(`${flag} must be networks in CIDR notation, found ${part}`);
    return formatNetwork(network);
  });
}

function perFamily(flag: string, found: readonly string[]): { [family in Family]?: string } {
  const byFamily: { [family in Family]?: string } = {};
  for (const network of found) {
    const family = familyOf(network);
    if (byFamily[family] !== undefined) throw new UsageError(`${flag} must have one network per family, found ${found}`);
    byFamily[family] = network;
  }
  return byFamily;
}

/** `IP_VS_SCHEDNAME_MAXLEN` (16) less the terminator. */
function scheduler(name: string): string {
  if (/^[a-z0-9_-]{1,15}$/.test(name)) return name;
  throw new UsageError(`--ipvs-scheduler must be the name of a scheduler, at most 15 characters, found ${name}`);
}
