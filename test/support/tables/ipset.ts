// Runs ipset(8) to check the ipset tests, and destroys sets when a test ends.
import { execFileSync, spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';

/** Runs ipset with these arguments and returns its output. */
export function ipset(...args: readonly string[]): string {
  return execFileSync('ipset', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 << 20,
  });
}

/** The entries of a set as `ipset save` prints them, sorted. */
export function savedEntries(name: string): string[] {
  return ipset('save', name)
    .split('\n')
    .filter((line) => line.startsWith(`add ${name} `))
    .map((line) => line.slice(`add ${name} `.length))
    .sort();
}

/** The `create` line of a set as `ipset save` prints it, without the values that the kernel chooses. */
export function savedHeader(name: string): string {
  const [line = ''] = ipset('save', name).split('\n');
  return line.replace(/ bucketsize \d+/, '').replace(/ initval 0x[0-9a-f]+/, '');
}

/** Whether a set of that name exists. */
export function exists(name: string): boolean {
  return ipset('list', '-n').split('\n').includes(name);
}

/** Reserves names for sets. Remaining sets are destroyed when the test ends, in this order. */
export function temporary(context: TestContext, ...names: readonly string[]): void {
  context.after(() => {
    for (const name of names) spawnSync('ipset', ['destroy', name], { stdio: 'ignore' });
  });
}
