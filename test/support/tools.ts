// The kernel's state as the ordinary tools print it: witnesses that share nothing with our own code.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ToolOutput } from './oracle.js';

/** Runs a tool in the process's network namespace; its standard output. */
export function tool(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: 'pipe' });
}

/** Everything that a recording holds. */
export function toolOutput(): ToolOutput {
  return {
    ipvsadm: tool('ipvsadm', '-S', '-n'),
    ipset: tool('ipset', 'save'),
    iptables: tool('iptables-save'),
    ip6tables: tool('ip6tables-save'),
    address: tool('sh', '-c', 'ip addr show kube-ipvs0 2>/dev/null || true'),
    sysctl: SYSCTLS.map((name) => `${name.replaceAll('/', '.')} = ${readSysctl(name)}\n`).join(''),
  };
}

/** Settings that ipvs mode may write. */
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
