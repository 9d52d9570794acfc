// A process in a network namespace that serves requests of this process, which cannot enter namespaces itself.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { undoAtExit } from './atExit.js';

/** To the process. */
interface Request<Ask> {
  readonly id: number;
  readonly ask: Ask;
}

/** From the process; id 0 means that it is ready. */
interface Reply<Says> {
  readonly id: number;
  readonly says?: Says;
  /** The error of a failed request. */
  readonly failure?: string;
}

/** The parent's side: sends requests to a script in a namespace. */
export class NamespaceProcess<Ask, Says> {
  readonly #child: ChildProcess;
  readonly #kill: () => void;
  readonly #waiting = new Map<number, (reply: Reply<Says>) => void>();
  #last = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#kill = undoAtExit(() => child.kill('SIGKILL'));
    child.on('message', (reply: Reply<Says>) => this.#settle(reply));
    child.once('exit', (code, signal) => {
      const failure = `the process in the namespace ended (${signal ?? `status ${code}`})`;
      for (const id of this.#waiting.keys()) this.#settle({ id, failure });
    });
  }

  /**
   * Starts one; resolves when it is ready.
   *
   * @param script one that calls {@link serveParent}
   */
  static async open<Ask, Says>(namespace: string, script: string): Promise<NamespaceProcess<Ask, Says>> {
    const child = spawn('ip', ['netns', 'exec', namespace, process.execPath, script], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const opened = new NamespaceProcess<Ask, Says>(child);
    await new Promise<void>((resolve, reject) => {
      opened.#waiting.set(0, ({ failure }) => (failure ? reject(new Error(failure)) : resolve()));
    });
    return opened;
  }

  /** Resolves to the response; rejects with the error. */
  ask(ask: Ask): Promise<Says> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ says, failure }) => {
        if (failure) reject(new Error(failure));
        else resolve(says as Says);
      });
      this.#child.send({ id, ask } satisfies Request<Ask>, (error) => {
        if (error) this.#settle({ id, failure: error.message });
      });
    });
  }

  /** Ends the process. */
  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#kill();
      await ended;
    }
  }

  #settle(reply: Reply<Says>): void {
    this.#waiting.get(reply.id)?.(reply);
    this.#waiting.delete(reply.id);
  }
}

/** The process's side: responds to the parent. Requests may run in parallel. */
export function serveParent<Ask, Says>(handle: (ask: Ask) => Promise<Says>): void {
  const tell = (reply: Reply<Says>) => process.send?.(reply);
  process.on('message', ({ id, ask }: Request<Ask>) => {
    handle(ask).then(
      (says) => tell({ id, says }),
      (error: Error) => tell({ id, failure: error.message }),
    );
  });
  // The parent has ended.
  process.once('disconnect', () => process.exit(0));
  tell({ id: 0 });
}
