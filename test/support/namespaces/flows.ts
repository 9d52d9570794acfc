// A network namespace with connection tracking, flows of real sockets, and conntrack(8) to check them.
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Flow } from '../../../src/kernel/conntrack/index.js';

export { lineOf } from '../../../src/kernel/testing/flowText.js';

import { joinHostPort } from '../../../src/kernel/net/address.js';

/** Source and destination of a datagram: `10.0.0.9:4000 10.96.0.10:53`. */
export type Datagram = string;

/**
 * A namespace with connection tracking. Datagrams to 10.96.0.10:53 and [fd00:96::a]:53 are sent to port 5353 of
 * 10.0.0.1 and fd00::1, or from ports above 4999 to the second such endpoint. There are no replies.
 */
export class TrackingNamespace {
  readonly path: string;
  readonly #name: string;
  /** One process sends all datagrams, because the start of a process takes seconds in the VM. */
  #sender: Sender | undefined;

  constructor(name: string) {
    this.#name = name;
    this.path = `/run/netns/${name}`;
    execFileSync('ip', ['netns', 'add', name]);
    this.run('sh', '-ec', SET_UP);
  }

  /** Removes the namespace. */
  async delete(): Promise<void> {
    await this.#sender?.end();
    execFileSync('ip', ['netns', 'del', this.#name]);
  }

  /** Runs a command in it, and returns its output. If it fails, the error has its standard error. */
  run(...command: readonly string[]): string {
    const args = ['netns', 'exec', this.#name, ...command];
    return execFileSync('ip', args, { encoding: 'utf8', stdio: 'pipe' });
  }

  /** Sends datagrams from real sockets in the namespace, each from its own socket. */
  async send(...datagrams: readonly Datagram[]): Promise<void> {
    this.#sender ??= new Sender(this.#name);
    await this.#sender.send(datagrams);
  }

  /** Runs conntrack(8). */
  conntrack(...args: readonly string[]): string {
    return this.run('conntrack', ...args);
  }

  /** Runs one conntrack(8) for many lines of arguments. */
  conntrackAll(lines: readonly string[]): void {
    const folder = mkdtempSync(join(tmpdir(), 'knp-conntrack-'));
    try {
      writeFileSync(join(folder, 'lines'), lines.map((line) => `${line}\n`).join(''));
      this.conntrack('-R', join(folder, 'lines'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  /** The output of `conntrack -L` for both families, one line for each flow in the format of lineOf(), sorted. */
  witness(): string[] {
    return ['ipv4', 'ipv6']
      .flatMap((family) => this.conntrack('-L', '-f', family, '-o', 'id').split('\n'))
      .filter((line) => line !== '')
      .map(normalize)
      .sort();
  }
}

class Sender {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #said: AsyncIterator<string>;

  constructor(namespace: string) {
    // -S: without the import of site packages, which takes most of the start.
    const command = ['netns', 'exec', namespace, 'python3', '-IS', '-c', SEND];
    this.#process = spawn('ip', command, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#said = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async send(datagrams: readonly Datagram[]): Promise<void> {
    this.#process.stdin.write(`${datagrams.join(' ')}\n`);
    assert.equal((await this.#said.next()).value, 'sent');
  }

  async end(): Promise<void> {
    const exit = once(this.#process, 'exit');
    this.#process.stdin.end();
    await exit;
  }
}

const SET_UP = `
ip link set lo up
for address in 10.0.0.1 10.0.0.2 10.0.0.9 10.96.0.10 10.96.0.11; do ip addr add $address/32 dev lo; done
for address in fd00::1 fd00::2 fd00::9 fd00:96::a fd00:96::b; do ip addr add $address/128 dev lo nodad; done
iptables-restore <<'END'
*nat
-A OUTPUT -p udp -d 10.96.0.10 --dport 53 --sport 5000:65535 -j DNAT --to-destination 10.0.0.2:5353
-A OUTPUT -p udp -d 10.96.0.10 --dport 53 -j DNAT --to-destination 10.0.0.1:5353
COMMIT
END
ip6tables-restore <<'END'
*nat
-A OUTPUT -p udp -d fd00:96::a --dport 53 --sport 5000:65535 -j DNAT --to-destination [fd00::2]:5353
-A OUTPUT -p udp -d fd00:96::a --dport 53 -j DNAT --to-destination [fd00::1]:5353
COMMIT
END
`;

// Each line has the sources and destinations of some datagrams.
const SEND = `
import socket, sys
def end(text):
    address, port = text.rsplit(":", 1)
    return address.strip("[]"), int(port)
while line := sys.stdin.readline():
    words = line.split()
    for source, destination in zip(words[::2], words[1::2]):
        family = socket.AF_INET6 if "[" in source else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as sender:
            sender.bind(end(source))
            sender.sendto(b"?", end(destination))
    print("sent", flush=True)
`;

/** `udp 17 src=… dst=… sport=… dport=… [UNREPLIED] src=… … mark=0 id=1`: without values that change over time. */
function normalize(line: string): string {
  const [protocol = '', number = '', ...rest] = line.split(/\s+/);
  const seconds = /^\d+$/.test(rest[0] ?? '') ? 1 : 0;
  const kept = rest
    .slice(seconds)
    .filter((word) => !/^(use=|secctx=|packets=|bytes=|delta-time=)/.test(word));
  return [protocol, number, ...kept].join(' ');
}

/** `10.0.0.9:4000 10.96.0.10:53`, the original packets of each flow, sorted. */
export function ends(flows: readonly Flow[]): string[] {
  return flows
    .map(({ original: { source, sourcePort, destination, destinationPort } }) => {
      return `${joinHostPort(source, sourcePort)} ${joinHostPort(destination, destinationPort)}`;
    })
    .sort();
}
