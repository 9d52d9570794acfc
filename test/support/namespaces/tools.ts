// Reads the kernel's state with standard tools, which share no code with ours.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Scenario, ToolOutput } from '../oracle/oracle.js';

/** Runs a tool in the process's network namespace, and returns its standard output. */
export function tool(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: 'pipe' });
}

/**
 * Runs several tools one after the other, and returns the standard output of each. This process starts only one child,
 * because each start is slow on an emulated machine.
 */
export function tools(...commands: readonly string[]): string[] {
  const script = commands.map((command) => `${command}\nprintf '\\0'\n`).join('');
  return tool('sh', '-ec', script).split('\0').slice(0, -1);
}

/** Runs tools that read their commands from standard input, one after the other: command line and input of each. */
export function feed(commands: readonly (readonly [command: string, input: string])[]): void {
  tool('sh', '-ec', commands.map(([command, input]) => `${command} <<'END'\n${input}END\n`).join(''));
}

/** Creates the links and addresses of a scenario's node. */
export function layOut({ interfaces }: Pick<Scenario, 'interfaces'>): void {
  const links = [...new Set(interfaces.map(({ link }) => link))];
  const lines = [
    'link set lo up',
    ...links.flatMap((link) => [`link add ${link} type dummy`, `link set ${link} up`]),
    ...interfaces.map(({ link, address, prefix }) => {
      return `addr add ${address}/${prefix} dev ${link}${address.includes(':') ? ' nodad' : ''}`;
    }),
  ];
  feed([['ip -batch -', lines.map((line) => `${line}\n`).join('')]]);
}

/**
 * Prints `ipvsadm -S -n` when two listings are equal. The kernel continues a listing at a place in the table of all network namespaces
 * (ip_vs_genl_dump_services()): while another one adds or deletes virtual services, some may be listed twice or left out.
 */
export const VIRTUAL_SERVICES = `last=x
  for listing in $(seq 50); do
    now=$(ipvsadm -S -n)
    if [ "$now" = "$last" ]; then break; fi
    if [ "$listing" = 50 ]; then echo '50 listings of virtual services differ' >&2; exit 1; fi
    last=$now
  done
  if [ -n "$now" ]; then printf '%s\\n' "$now"; fi`;

/** The complete state of a recording. */
export function toolOutput(): ToolOutput {
  const [ipvsadm = '', ipset = '', iptables = '', ip6tables = '', address = ''] = tools(
    VIRTUAL_SERVICES,
    'ipset save',
    'iptables-save',
    'ip6tables-save',
    'ip addr show kube-ipvs0 2>/dev/null || true',
  );
  return {
    ipvsadm,
    ipset,
    iptables,
    ip6tables,
    address,
    sysctl: SYSCTLS.map((name) => `${name.replaceAll('/', '.')} = ${readSysctl(name)}\n`).join(''),
  };
}

/** The settings that ipvs mode may write without corrections. */
export const SYSCTLS = [
  'net/ipv4/vs/conntrack',
  'net/ipv4/vs/conn_reuse_mode',
  'net/ipv4/vs/expire_nodest_conn',
  'net/ipv4/vs/expire_quiescent_template',
  'net/ipv4/ip_forward',
  'net/ipv4/conf/all/arp_ignore',
  'net/ipv4/conf/all/arp_announce',
] as const;

/** A setting's value. */
export function readSysctl(name: string): string {
  return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
}
