// A network namespace of a test's own: IPVS, links and addresses are each namespace's.
import { execFileSync } from 'node:child_process';
import { ask } from './witnesses.js';

/** A named network namespace. */
export interface Namespace {
  readonly name: string;
  /** What `netns` options take. */
  readonly path: string;
  /** Runs a command inside; its standard output. */
  run(...command: readonly string[]): string;
  remove(): void;
}

let made = 0;

/** Makes an empty namespace with lo up. */
export function makeNamespace(): Namespace {
  const name = `knp-${process.pid}-${++made}`;
  execFileSync('ip', ['netns', 'add', name]);
  execFileSync('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
  return {
    name,
    path: `/run/netns/${name}`,
    run: (...command) => ask(name, ...command),
    remove: () => execFileSync('ip', ['netns', 'del', name]),
  };
}
