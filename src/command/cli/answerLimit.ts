// A time limit for a source that tries its server again for as long as it takes: a command for people ends instead.
import { ErrorWithNextStep } from '../../kernel/errors.js';
import type { Source } from '../../proxy/source/source.js';

/** The time limit of an API server's answers. */
export class AnswerLimit {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  readonly #seconds: number;
  readonly #clear: () => void;
  #last: Error | undefined;

  /** @param seconds from now, in s */
  constructor(seconds: number) {
    this.#seconds = seconds;
    const end = new AbortController();
    this.signal = end.signal;
    const timer = setTimeout(() => end.abort(), seconds * 1000);
    this.#clear = () => clearTimeout(timer);
  }

  /** Remembers why a request failed: the error at the end names the last reason. */
  failed(error: Error): void {
    this.#last = error;
  }

  /** Throws an Error with the next step if the time is over. */
  check(): void {
    if (!this.signal.aborted) return;
    const last = this.#last === undefined ? '' : `; the last error: ${this.#last.message}`;
    throw new ErrorWithNextStep(
      `the API server did not send its objects within ${this.#seconds} s${last}`,
      'check --kubeconfig, --master and the network, set a longer --timeout, or read objects from files with --manifests',
    );
  }

  /** The source; its start rejects if the objects have not been reported when the time is over. */
  around(source: Source): Source {
    return {
      stop: () => source.stop(),
      start: async (events) => {
        const end = () => source.stop();
        this.signal.addEventListener('abort', end, { once: true });
        if (this.signal.aborted) end();
        let isSynced = false;
        const synced = () => {
          isSynced = true;
          events.synced();
        };
        try {
          await source.start({ ...events, synced });
        } finally {
          this.signal.removeEventListener('abort', end);
          this.#clear();
        }
        if (!isSynced) this.check();
      },
    };
  }
}
