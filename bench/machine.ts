// The machine and the tools on which a benchmark runs.
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { arch, cpus, release, totalmem } from 'node:os';
import { delimiter, join } from 'node:path';
import { packageRoot } from '../src/kernel/packageRoot.js';
import type { Machine } from './types.js';

/** Tools, and how each prints its version, in a line that begins with its name. */
const TOOLS: Readonly<Record<string, readonly string[]>> = {
  ipvsadm: ['--version'],
  ipset: ['version'],
  ip: ['-V'],
  conntrack: ['--version'],
  'iptables-restore': ['--version'],
  nft: ['--version'],
};
/** The names with which the lines of other tools begin. */
const LINE_NAMES: Readonly<Record<string, string>> = { nft: 'nftables' };

/** Describes the machine. */
export async function describeMachine(): Promise<Machine> {
  const tools: Record<string, string> = {};
  for (const [tool, words] of Object.entries(TOOLS)) {
    if (!hasTool(tool)) continue;
    const version = await versionOf(tool, words);
    if (version !== undefined) tools[tool] = version;
  }
  const virtualization = findVirtualization();
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    version: string;
  };
  return {
    kernel: release(),
    architecture: arch(),
    processor: cpus()[0]?.model.trim() || 'unknown',
    processors: cpus().length,
    memory: totalmem(),
    ...(virtualization !== undefined && { virtualization }),
    node: process.version,
    version,
    tools,
  };
}

/** Whether a program is in PATH. */
export function hasTool(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false; // the usual answer of all folders but one
    }
  });
}

/** Undefined if the tool prints none: ipvsadm without its kernel module. */
function versionOf(tool: string, words: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    // The exit status has no meaning: ipset without its kernel module ends with an error, after the version.
    execFile(tool, words, (_error, stdout, stderr) => {
      const lines = `${stdout}\n${stderr}`.split('\n').map((line) => line.trim());
      resolve(lines.find((line) => line.startsWith(`${LINE_NAMES[tool] ?? tool} `)));
    });
  });
}

/** User Mode Linux names itself in /proc/cpuinfo, QEMU in the machine's vendor, and each hypervisor sets a flag of the processor. */
function findVirtualization(): string | undefined {
  const processor = readFileSync('/proc/cpuinfo', 'utf8');
  if (/^vendor_id\s*:\s*User Mode Linux/m.test(processor)) return 'User Mode Linux';
  const vendor = '/sys/class/dmi/id/sys_vendor';
  if (existsSync(vendor) && readFileSync(vendor, 'utf8').includes('QEMU')) return 'QEMU';
  return /^flags\s*:.*\bhypervisor\b/m.test(processor) ? 'virtual machine' : undefined;
}
