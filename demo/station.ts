// A process in a network namespace that serves and dials for us: this process cannot enter namespaces itself.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { undoAtExit } from './atExit.js';

/** Serves on these ports, over HTTP and with single datagrams, until the station closes. */
export interface Serve {
  readonly do: 'serve';
  /** What it calls itself. */
  readonly name: string;
  readonly tcp: readonly number[];
  readonly udp: readonly number[];
}

/** Dials once, over a new connection. */
export interface Dial {
  readonly do: 'dial';
  readonly protocol: 'http' | 'udp';
  readonly address: string;
  readonly port: number;
  /** Source address, when it is not to be the kernel's choice. */
  readonly from?: string | undefined;
  /** Longest time to wait, ms. */
  readonly patience: number;
}

/** What a server says. */
export interface Answer {
  /** Its name. */
  readonly by: string;
  /** The client's address as it sees it. */
  readonly sees: string;
}

/** What came of dialling: an answer, or `ECONNREFUSED` and the like, or `no answer`. */
export type Outcome = (Answer | { readonly error: string }) & { readonly milliseconds: number };

/** To the process. */
export interface Request {
  readonly id: number;
  readonly ask: Serve | Dial;
}

/** From the process; id 0 says that it is ready. */
export interface Reply {
  readonly id: number;
  readonly says: { readonly outcome?: Outcome; readonly failure?: string };
}

const PROCESS = fileURLToPath(new URL('./stationProcess.js', import.meta.url));
/** Ms to wait for an answer: long, since the VM may be busy and a lost packet is sent again after a second. */
const PATIENCE = 5000;

/** A process in a namespace. */
export class Station {
  readonly #child: ChildProcess;
  readonly #kill: () => void;
  readonly #waiting = new Map<number, (says: Reply['says']) => void>();
  #last = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#kill = undoAtExit(() => child.kill('SIGKILL'));
    child.on('message', (reply: Reply) => this.#settle(reply));
    child.once('exit', (code, signal) => {
      const failure = `the process in the namespace ended (${signal ?? `status ${code}`})`;
      for (const id of this.#waiting.keys()) this.#settle({ id, says: { failure } });
    });
  }

  /** Starts one; resolves when it is ready. */
  static async open(namespace: string): Promise<Station> {
    const child = spawn('ip', ['netns', 'exec', namespace, process.execPath, PROCESS], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const station = new Station(child);
    await new Promise<void>((resolve, reject) => {
      station.#waiting.set(0, ({ failure }) => (failure ? reject(new Error(failure)) : resolve()));
    });
    return station;
  }

  /** Serves on these ports, over HTTP on TCP's; resolves when it listens. */
  async serve(name: string, { tcp = [], udp = [] }: Partial<Pick<Serve, 'tcp' | 'udp'>>): Promise<void> {
    await this.#ask({ do: 'serve', name, tcp, udp });
  }

  /** Asks over HTTP, by a new connection. */
  dial(address: string, port: number, { from, patience = PATIENCE }: Partial<Dial> = {}): Promise<Outcome> {
    return this.#outcome({ do: 'dial', protocol: 'http', address, port, from, patience });
  }

  /** Asks with one datagram, from a new socket. */
  dialUdp(address: string, port: number, { patience = PATIENCE }: Partial<Dial> = {}): Promise<Outcome> {
    return this.#outcome({ do: 'dial', protocol: 'udp', address, port, patience });
  }

  /** Ends the process. */
  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#kill();
      await ended;
    }
  }

  async #outcome(ask: Dial): Promise<Outcome> {
    const { outcome } = await this.#ask(ask);
    if (!outcome) throw new Error('a station did not say what came of dialling');
    return outcome;
  }

  #ask(ask: Request['ask']): Promise<Reply['says']> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, (says) => (says.failure ? reject(new Error(says.failure)) : resolve(says)));
      this.#child.send({ id, ask } satisfies Request, (error) => {
        if (error) this.#settle({ id, says: { failure: error.message } });
      });
    });
  }

  #settle({ id, says }: Reply): void {
    this.#waiting.get(id)?.(says);
    this.#waiting.delete(id);
  }
}
