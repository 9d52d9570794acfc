// Events of this node's proxy for the cluster (events.k8s.io/v1). Nothing depends on them: they wait in a short queue, and
// events that could not be sent are reported by a callback.
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { ObjectReference } from '../../kernel/errors.js';
import type { ApiClient } from '../../proxy/api/client.js';
import { type ApiError, asApiError } from '../../proxy/api/error.js';
import { BACKOFF } from '../../proxy/api/retryPace.js';
import { Backoff } from '../../proxy/backoff.js';

/** An event. */
export interface ClusterEvent {
  /** `Starting`, `FailedToStartServiceHealthcheck`. */
  readonly reason: string;
  readonly type: 'Normal' | 'Warning';
  /** `StartKubeProxy`, `Listen`. */
  readonly action: string;
  /** For people; cut after 1024 bytes, as the API asks. */
  readonly note: string;
  /**
   * The object that it is about. Without a uid it has kube-proxy's, which knows none: the name of a Node, `namespace/name`
   * of anything else. kube-proxy names no apiVersion of a Service.
   */
  readonly regarding: Partial<ObjectReference> & Pick<ObjectReference, 'kind' | 'name'>;
  /**
   * Every node finds the same and would send it: the event has the same name on all nodes for an hour, so that the API server
   * keeps the first one, and a node sends at most ten such events an hour.
   */
  readonly ofCluster?: boolean;
}

/** Parts of a recorder. */
interface EventRecorderParts {
  readonly client: Pick<ApiClient, 'create'>;
  /** An event was given up: the server refused it, could not be reached for too long, or too many wait. */
  readonly failed: (event: ClusterEvent, reason: string) => void;
  /** Name of this host, part of `reportingInstance`; default the system's. */
  readonly host?: string;
  readonly backoff?: Backoff;
  /** A monotonic clock, in ms. */
  readonly now?: () => number;
  /** The time of day, in ms since 1970. */
  readonly date?: () => number;
}

/**
 * Longest queue, tries for each event, time in which an equal event is not sent again, in ms, and the number of events that are
 * remembered for it: the oldest are forgotten first, and may then be sent again.
 */
const LIMITS = { waiting: 100, tries: 12, quiet: 600_000, remembered: 1000 };
/** Events of all nodes that a node sends in an hour at most, and the hour, in ms. */
const OF_CLUSTER = { most: 10, hour: 3_600_000 };
const LONGEST_NOTE = 1024;
const LONGEST_NAME = 253;

/** Sends events one after another. */
export class EventRecorder {
  readonly #parts: EventRecorderParts;
  readonly #backoff: Backoff;
  readonly #now: () => number;
  readonly #date: () => number;
  readonly #end = new AbortController();
  readonly #waiting: ClusterEvent[] = [];
  /** Recent events, and when they were recorded; the oldest first. */
  readonly #recent = new Map<string, number>();
  /** When events of all nodes were recorded in the last hour. */
  readonly #ofCluster: number[] = [];
  #sending: Promise<void> | undefined;

  constructor(parts: EventRecorderParts) {
    this.#parts = parts;
    this.#backoff = parts.backoff ?? new Backoff(BACKOFF, Math.random);
    this.#now = parts.now ?? (() => performance.now());
    this.#date = parts.date ?? Date.now;
  }

  /**
   * Sends an event soon, unless it is one of the last 1000 and was recorded in the last ten minutes, or too many of those of all
   * nodes were recorded in the last hour. Never throws.
   */
  record(event: ClusterEvent): void {
    if (this.#end.signal.aborted) return;
    if (this.#waiting.length >= LIMITS.waiting) {
      this.#parts.failed(event, 'too many events wait');
      return;
    }
    const short = { ...event, note: shortNote(event.note) };
    const key = JSON.stringify(short);
    if (this.#isRecent(key) || (short.ofCluster && !this.#mayTellForAll())) return;
    this.#remember(key);
    this.#waiting.push(short);
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  /** Resolves once every waiting event has been sent or given up, at the latest after the given time, in ms. */
  async flush(milliseconds: number): Promise<void> {
    await Promise.race([this.#sending, wait(milliseconds, undefined, { ref: false })]);
  }

  /** Sends no more. Resolves once nothing is under way. */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#sending;
  }

  #isRecent(key: string): boolean {
    const now = this.#now();
    for (const [oldest, at] of this.#recent) {
      if (now - at < LIMITS.quiet) break;
      this.#recent.delete(oldest);
    }
    return this.#recent.has(key);
  }

  #remember(key: string): void {
    this.#recent.set(key, this.#now());
    if (this.#recent.size <= LIMITS.remembered) return;
    for (const oldest of this.#recent.keys()) {
      this.#recent.delete(oldest);
      return;
    }
  }

  #mayTellForAll(): boolean {
    const now = this.#now();
    const first = this.#ofCluster[0];
    if (first !== undefined && now - first >= OF_CLUSTER.hour) this.#ofCluster.shift();
    if (this.#ofCluster.length >= OF_CLUSTER.most) return false;
    this.#ofCluster.push(now);
    return true;
  }

  async #send(): Promise<void> {
    for (let event = this.#waiting.shift(); event; event = this.#waiting.shift()) {
      const error = await this.#sendOne(event);
      if (this.#end.signal.aborted) return;
      if (error) this.#parts.failed(event, error.message);
    }
  }

  /** Resolves to the error of an event that was given up. */
  async #sendOne(event: ClusterEvent): Promise<ApiError | undefined> {
    const { signal } = this.#end;
    const body = eventObject(event, this.#parts.host ?? hostname(), this.#date());
    const path = `/apis/events.k8s.io/v1/namespaces/${body.metadata.namespace}/events`;
    this.#backoff.reset();
    for (let tries = 1; ; tries++) {
      try {
        await this.#parts.client.create(path, body, signal);
        return undefined;
      } catch (thrown) {
        const error = asApiError(thrown, 'create event');
        // The try before succeeded, and only its answer was lost; or another node has sent the event of all nodes.
        if (error.status === 409) return undefined;
        const hopeless = error.status >= 400 && error.status < 500 && ![401, 429].includes(error.status);
        if (hopeless || signal.aborted || tries === LIMITS.tries) return error;
        const pause = Math.max(this.#backoff.next(), error.retryAfter ?? 0);
        // Nothing but the signal ends the wait early; the next try then fails with it.
        await wait(pause, undefined, { signal }).catch(() => {});
      }
    }
  }
}

/** A note as the API takes it. It is also what the recorder remembers. */
function shortNote(note: string): string {
  // A character has one byte at least: only so many are encoded.
  return Buffer.from(note.slice(0, LONGEST_NOTE)).subarray(0, LONGEST_NOTE).toString().replace(/�$/, '');
}

/** The API object of an event, as kube-proxy's recorder makes it: an event on a Node is in namespace default. */
function eventObject(event: ClusterEvent, host: string, now: number) {
  const { reason, type, action, note, regarding } = event;
  const namespace = regarding.namespace ?? 'default';
  const uid = regarding.namespace === undefined ? regarding.name : `${namespace}/${regarding.name}`;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace, name: event.ofCluster ? commonName(event, now) : uniqueName(regarding.name, now) },
    eventTime: new Date(now).toISOString().replace('Z', '000Z'),
    reportingController: 'kube-netlink-proxy',
    reportingInstance: `kube-netlink-proxy-${host}`.slice(0, 128),
    reason,
    type,
    action,
    note,
    regarding: { uid, ...regarding },
  };
}

let serial = 0;

/**
 * The name of the object and the time, in ns since 1970 and in hexadecimal; a counter replaces the part below a
 * millisecond, so that no two are equal. Names have 253 characters at most, and so may a Node's.
 */
function uniqueName(name: string, milliseconds: number): string {
  serial = (serial + 1) % 1_000_000;
  return withSuffix(name, (BigInt(milliseconds) * 1_000_000n + BigInt(serial)).toString(16));
}

/** The name that all nodes give to an event about an object, with this reason, in this hour. */
function commonName({ reason, regarding }: ClusterEvent, milliseconds: number): string {
  const { kind, namespace, name, uid } = regarding;
  const hour = Math.floor(milliseconds / OF_CLUSTER.hour);
  const parts = JSON.stringify([kind, namespace, name, uid, reason, hour]);
  return withSuffix(name, createHash('sha256').update(parts).digest('hex').slice(0, 16));
}

function withSuffix(name: string, suffix: string): string {
  return `${name.slice(0, LONGEST_NAME - suffix.length - 1).replace(/[^a-z0-9]+$/, '')}.${suffix}`;
}
