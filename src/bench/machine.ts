// The machine and the tools on which a benchmark runs.
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { arch, cpus, release, totalmem } from 'node:os';
import { delimiter, join } from 'node:path';
import { PACKAGE_ROOT } from '../packageRoot.js';
import type { Machine } from './types.js';

/** Tools, and how each prints its version. */
const TOOLS: Readonly<Record<string, readonly string[]>> = {
  ipvsadm: ['--version'],
  ipset: ['version'],
  ip: ['-V'],
  conntrack: ['--version'],
  'iptables-restore': ['--version'],
};

/** Describes the machine. */
export async function describeMachine(): Promise<Machine> {
  const tools: Record<string, string> = {};
  for (const [tool, words] of Object.entries(TOOLS)) {
    if (!hasTool(tool)) continue;
    tools[tool] = await firstLine(tool, words);
  }
  const virtualization = findVirtualization();
  const { version } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as {
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

function firstLine(tool: string, words: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(tool, words, (_error, stdout, stderr) => {
      // ipset without a kernel module ends with an error, after the version.
      resolve((stdout || stderr).split('\n', 1)[0]?.trim() ?? '');
    });
  });
}

/** User Mode Linux names itself in /proc/cpuinfo, and hypervisors in the processor's flags and the machine's product name. */
function findVirtualization(): string | undefined {
  const processor = readFileSync('/proc/cpuinfo', 'utf8');
  if (/^vendor_id\s*:\s*User Mode Linux/m.test(processor)) return 'User Mode Linux';
  const product = '/sys/class/dmi/id/sys_vendor';
  if (existsSync(product) && readFileSync(product, 'utf8').includes('QEMU')) return 'QEMU';
  return undefined;
}
