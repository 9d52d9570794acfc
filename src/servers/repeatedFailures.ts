// Which of the failures that repeat themselves are worth a report: the first, one with another reason, and one now and
// then while it lasts.
import { performance } from 'node:perf_hooks';

/** Time between two reports of a failure that lasts, in ms. */
const REMIND = 300_000;

/** The failures that last, by name. */
export class RepeatedFailures {
  readonly #now: () => number;
  readonly #lasting = new Map<string, { readonly reason: string; readonly reportedAt: number }>();

  /** `now`: time of a clock that never jumps, in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes in a failure; true when it is to be reported. */
  failed(name: string, error: unknown): boolean {
    const reason = reasonOf(error);
    const known = this.#lasting.get(name);
    const now = this.#now();
    if (known?.reason === reason && now - known.reportedAt < REMIND) return false;
    this.#lasting.set(name, { reason, reportedAt: now });
    return true;
  }

  /** Takes in that something works; true when it had failed before, and that is to be reported. */
  succeeded(name: string): boolean {
    return this.#lasting.delete(name);
  }

  /** Drops the others without a report. */
  retain(wanted: (name: string) => boolean): void {
    for (const name of this.#lasting.keys()) if (!wanted(name)) this.#lasting.delete(name);
  }
}

/** The code of an error, or its text where it has none. */
function reasonOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : String(error);
}
