// What the two parts of the contract of ipset share: sets, and views of what is listed.

import type { Ipset, SetDefinition, SetHeader } from '../../../src/kernel/ipset/types.js';
import { formatEntry } from '../../../src/kernel/ipset/values/entry.js';

export const SET = { name: 'a', type: 'hash:ip,port', family: 4 } as const satisfies SetDefinition;
export const PORTS = {
  name: 'p',
  type: 'bitmap:port',
  range: [30000, 32767],
} as const satisfies SetDefinition;
export const web = { address: '10.0.0.1', protocol: 'tcp', port: 80 } as const;

/** The entries of a set as text, sorted. */
export async function entriesOf(ipset: Ipset, name: string): Promise<string[] | undefined> {
  return (await ipset.get(name))?.entries.map(formatEntry).sort();
}

/** A header without the values that the kernel chooses. */
export function chosen(header: SetHeader): Partial<SetHeader> {
  const { revision: _, bucketSize: __, initval: ___, memorySize: ____, ...rest } = header;
  return rest;
}
