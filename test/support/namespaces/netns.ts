// A network namespace for a test. Each namespace has its own IPVS, links and addresses.
import { execFileSync } from 'node:child_process';
import { ask } from './witnesses.js';

/** A named network namespace. */
export interface Namespace {
  readonly name: string;
  /** A value for `netns` options. */
  readonly path: string;
  /** Runs a command inside; its standard output. */
  run(...command: readonly string[]): string;
  remove(): void;
}

let made = 0;

/** Creates an empty namespace with lo up. */
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

/** Namespaces with only lo, and the clients that were opened in them, until they are removed. */
export function emptyNamespaces() {
  const names: string[] = [];
  const opened: { close(): void }[] = [];
  return {
    /** Creates one with lo up or down, and returns its path. With lo down, the kernel rejects all real servers. */
    add(lo: 'up' | 'down' = 'down'): string {
      const name = `knp-${process.pid}-${++made}`;
      execFileSync('ip', ['netns', 'add', name]);
      names.push(name);
      if (lo === 'up') execFileSync('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
      return `/run/netns/${name}`;
    },
    /** Closes the client when the namespaces are removed. */
    keep<Client extends { close(): void }>(client: Client): Client {
      opened.push(client);
      return client;
    },
    remove(): void {
      for (const client of opened.splice(0)) client.close();
      for (const name of names.splice(0)) execFileSync('ip', ['netns', 'del', name]);
    },
  };
}
