// The machine of a report, in words. Pure.
import type { Machine } from '../types.js';
import { numberText } from './units.js';

/** `Linux 6.1.0-30, User Mode Linux, 1 CPU`. */
export function machineLine({ kernel, virtualization, processors }: Machine): string {
  const cpus = `${processors} CPU${processors === 1 ? '' : 's'}`;
  return [`Linux ${kernel}`, virtualization, cpus].filter(Boolean).join(', ');
}

/** The machine and the programs, by name. */
export function machineFacts(machine: Machine): (readonly [name: string, value: string])[] {
  const { kernel, architecture, processor, processors, memory, virtualization, node, version, tools } =
    machine;
  return [
    ['kernel', `Linux ${kernel}, ${architecture}${virtualization ? `, ${virtualization}` : ''}`],
    ['processor', `${processor}, ${processors} CPU${processors === 1 ? '' : 's'}`],
    ['memory', `${numberText(memory / 1e9)} GB`],
    ['Node.js', node],
    ['kube-netlink-proxy', version],
    ...Object.entries(tools),
  ];
}
