// Limits the reports of a repeated failure: the first failure is reported, then every change of its reason, and otherwise
// one failure every five minutes.
import { performance } from 'node:perf_hooks';

/** Time between two reports of the same failure, in ms. */
const REMIND = 300_000;

/** The current failures, by name. */
export class RepeatedFailures {
  readonly #now: () => number;
  readonly #current = new Map<string, { readonly reason: string; readonly reportedAt: number }>();

  /** @param now monotonic time, in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Records a failure; true if it should be reported. */
  failed(name: string, error: unknown): boolean {
    const reason = reasonOf(error);
    const known = this.#current.get(name);
    const now = this.#now();
    if (known?.reason === reason && now - known.reportedAt < REMIND) return false;
    this.#current.set(name, { reason, reportedAt: now });
    return true;
  }

  /** Records a success; true if it ends a failure, and should be reported. */
  succeeded(name: string): boolean {
    return this.#current.delete(name);
  }

  /** Forgets the failures of all other names. */
  retain(wanted: (name: string) => boolean): void {
    for (const name of this.#current.keys()) if (!wanted(name)) this.#current.delete(name);
  }
}

/** The code of an error, or its text where it has none. */
function reasonOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : String(error);
}
