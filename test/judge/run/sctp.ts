// Connections of SCTP, which a program in Perl opens: Node.js has no sockets of it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Reply } from '../core/observations.js';

/** Beside the source of this module, from its compiled form. */
const PROGRAM = fileURLToPath(new URL('../../../../test/judge/run/sctp.pl', import.meta.url));

/** Whether this kernel has SCTP (CONFIG_IP_SCTP). */
export function hasSctp(): boolean {
  const words = ['-MSocket', '-e', 'exit(socket(my $s, AF_INET, SOCK_STREAM, 132) ? 0 : 1)'];
  return spawnSync('perl', words).status === 0;
}

/** Answers on a port with a name and the address of the client, until this process ends; resolves when it listens. */
export async function serveSctp(name: string, port: number): Promise<void> {
  const child = spawn('perl', [PROGRAM, 'serve', name, String(port)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([status]) => {
    throw new Error(`${PROGRAM} serve ended with status ${status}`);
  });
  await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => {});
}

/** A place to which a connection is opened, and where it comes from. */
export interface SctpPath {
  readonly address: string;
  readonly port: number;
  readonly source: string;
  readonly sourcePort: number;
}

/** Opens connections, one request each. */
export class SctpClient {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #last = 0;

  constructor() {
    const child = spawn('perl', [PROGRAM, 'dial'], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [id, result, by, seen] = line.split(' ');
      const reply = { result: result as Reply['result'], ...(by ? { by } : {}), ...(seen ? { seen } : {}) };
      this.#waiting.get(Number(id))?.(reply);
      this.#waiting.delete(Number(id));
    });
  }

  /** Asks who is there; resolves within the time, in ms. */
  request({ address, port, source, sourcePort }: SctpPath, patience: number): Promise<Reply> {
    const id = ++this.#last;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        resolve({ result: 'timeout' });
      }, patience);
      this.#waiting.set(id, (reply) => {
        clearTimeout(timer);
        resolve(reply);
      });
      this.#child.stdin?.write(`${id} ${address} ${port} ${source} ${sourcePort}\n`);
    });
  }
}
