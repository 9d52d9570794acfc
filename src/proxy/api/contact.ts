// Whether the API server is heard for one resource: its last event, bookmark or answer, and when it counts as lost.
import type { Resource } from './resources.js';

/**
 * - `starting`: the list has not been read to its end, and requests have not failed for long;
 * - `current`: the server is heard, or has not failed to answer for long;
 * - `lost`: for 30 s, no request has succeeded; the objects that are known stay in force;
 * - `absent`: the server does not have the resource, which not every version of Kubernetes has.
 */
export type ContactState = 'starting' | 'current' | 'lost' | 'absent';

/** The contact with the API server for one resource. Times are in ms since 1970. */
export interface ResourceContact {
  readonly resource: Resource['name'];
  readonly state: ContactState;
  /** Since when the state is this one. */
  readonly since: number;
  /** The last event, bookmark or successful answer; undefined before the first. */
  readonly lastContact: number | undefined;
  /** Why the last request failed; undefined after a success. */
  readonly error: string | undefined;
}

/** Follows the contact for one resource. A timer tells that it is lost. */
export class Contact {
  readonly #resource: Resource['name'];
  readonly #changed: (contact: ResourceContact, before: ResourceContact) => void;
  readonly #patience: number;
  #state: ContactState = 'starting';
  #since = Date.now();
  #last: number | undefined;
  #error: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param changed called when the state changes
   * @param patience time without success after which the contact is lost, in ms
   */
  constructor(
    resource: Resource['name'],
    changed: (contact: ResourceContact, before: ResourceContact) => void,
    patience: number,
  ) {
    this.#resource = resource;
    this.#changed = changed;
    this.#patience = patience;
    this.#wait();
  }

  /** The contact now. */
  get now(): ResourceContact {
    return {
      resource: this.#resource,
      state: this.#state,
      since: this.#since,
      lastContact: this.#last,
      error: this.#error,
    };
  }

  /** The server sent an event, a bookmark or an answer. `listed`: the list has been read to its end. */
  heard(listed = true): void {
    this.#last = Date.now();
    this.#error = undefined;
    this.close();
    if (listed) this.#enter('current');
    else if (this.#state !== 'current') this.#wait();
  }

  /** A request failed. */
  failed({ message }: Error): void {
    this.#error = message;
    if (this.#state !== 'lost') this.#wait();
  }

  /** The server does not have the resource. */
  absent(): void {
    this.#last = Date.now();
    this.close();
    this.#enter('absent');
  }

  /** Ends the timer. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#error ??= 'no answer';
      this.#enter('lost');
    }, this.#patience);
  }

  #enter(state: ContactState): void {
    if (state === this.#state) return;
    const before = this.now;
    this.#state = state;
    this.#since = Date.now();
    this.#changed(this.now, before);
  }
}
