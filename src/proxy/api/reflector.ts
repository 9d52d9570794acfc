// Keeps the objects of one resource equal to those of the API server: lists them, watches them, and after a failure watches
// from the last version, or lists again and reports deleted objects.
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Problem } from '../../kernel/errors.js';
import { isRecord } from '../input/fields.js';
import { Interning } from '../objects/interning.js';
import type { ObjectChange } from '../objects/types.js';
import { type ApiClient, patience, type Query, readStatus } from './client.js';
import type { Contact } from './contact.js';
import { ApiError, asApiError, refusalText } from './error.js';
import { KnownObjects, ListSeen } from './knownObjects.js';
import type { Resource } from './resources.js';
import { BACKOFF, type Pauses, RetryPace } from './retryPace.js';
import { CHECK_TIMES, type CheckTimes, VersionCheck } from './versionCheck.js';

/** Reports of a reflector. */
export interface ReflectorEvents {
  changed(changes: readonly ObjectChange[]): void;
  problems(problems: readonly Problem[]): void;
  mended?(problems: readonly Problem[]): void;
  /** A list was read to its end: all its objects, and the deletion of all others, were reported. */
  listed(): void;
  /** A request failed, or its answer was malformed. `retryIn`: time until the next try, in ms. */
  trouble(error: ApiError, retryIn: number): void;
}

/** Times of a reflector. */
export interface ReflectorTimes extends Pauses {
  /** Shortest and longest duration of a watch, which the server ends, in s. Default 300 and 600, as in kube-proxy. */
  readonly watch: readonly [number, number];
  /** Time beyond the end of a watch after which a silent connection counts as dead, in ms; default 30 000. */
  readonly margin: number;
  /**
   * Silence after which a connection with bookmarks counts as dead, in ms: the server sends one every minute after the
   * first. Over a connection without bookmarks, the server is asked for one object. Default 150 000.
   */
  readonly silence: number;
  /** Time without a successful answer after which contact with the server is lost, in ms; default 30 000. */
  readonly lost: number;
  /** Shortest time from the start of a watch to the next, and of a watch that counts as working, in ms; default 1000. */
  readonly floor: number;
  /** Pause after an answer that the server does not have the resource, if not every version of Kubernetes has it, in ms; default 600 000. */
  readonly absent: number;
  /** Times of the check whether the server has the version that is watched from. */
  readonly check: CheckTimes;
}

/** The default times. */
export const TIMES: ReflectorTimes = {
  watch: [300, 600],
  margin: 30_000,
  silence: 150_000,
  lost: 30_000,
  floor: 1_000,
  absent: 600_000,
  repeat: 1_000,
  backoff: BACKOFF,
  check: CHECK_TIMES,
};
/** A watch may end this much before its time and still count as ended in time, since clocks differ, in ms. */
const EARLY = 2_000;
/** Items of a page; a server may send more, or all. */
const PAGE = '500';
/** Objects reported in one call. */
const BATCH = 100;
const NO_CHANGES: readonly ObjectChange[] = Object.freeze([]);

/** Parts of a reflector. */
interface ReflectorParts {
  readonly client: Pick<ApiClient, 'list' | 'watch'>;
  readonly resource: Resource;
  readonly events: ReflectorEvents;
  readonly contact?: Pick<Contact, 'heard' | 'failed' | 'absent'>;
  /** Default: an own one. */
  readonly interning?: Interning;
  readonly times?: Partial<ReflectorTimes>;
  /** Numbers from 0 up to 1; default Math.random. */
  readonly random?: () => number;
}

/** Reflects one resource. */
export class Reflector {
  readonly #client: Pick<ApiClient, 'list' | 'watch'>;
  readonly #resource: Resource;
  readonly #events: ReflectorEvents;
  readonly #contact: ReflectorParts['contact'];
  readonly #times: ReflectorTimes;
  readonly #random: () => number;
  readonly #pace: RetryPace;
  readonly #known: KnownObjects;
  readonly #check: VersionCheck;
  /** Version of the known objects; undefined when a list is due. */
  #version: string | undefined;
  /** A list was read: no older state is accepted afterwards. */
  #listedOnce = false;
  /** The watch under way brought an event. */
  #progress = false;
  /** The watch under way brought a bookmark. */
  #bookmarked = false;
  /** Items of the list under way were taken in. */
  #received = false;
  /** Version at which the watch before was malformed. */
  #malformedAt: string | undefined;
  /** The server may be another one than before: its connection broke, or it ended a watch before its time. */
  #doubtful = false;
  /** Time of the last event, bookmark or answer, on the clock of performance.now(), in ms. */
  #heardAt = performance.now();
  /** The watch before brought nothing for too long: that the next one is opened does not show that the server is heard again. */
  #wasSilent = false;
  /** The version that the server's answers show to be missing. */
  #lost: string | undefined;
  /** Ends the watch under way. */
  #interrupt = new AbortController();

  constructor({
    client,
    resource,
    events,
    contact,
    interning = new Interning(),
    times,
    random = Math.random,
  }: ReflectorParts) {
    this.#client = client;
    this.#resource = resource;
    this.#events = events;
    this.#contact = contact;
    this.#times = { ...TIMES, ...times };
    this.#random = random;
    this.#pace = new RetryPace(this.#times, random);
    this.#known = new KnownObjects(resource, interning, events);
    this.#check = new VersionCheck({
      ask: (signal) => this.#askVersion(signal),
      lost: (error) => this.#loseVersion(error),
      trouble: (error, retryIn) => {
        // A watch that brings events shows that the server is heard, whatever it answers to lists.
        if (this.#isSilent) contact?.failed(error);
        events.trouble(error, retryIn);
      },
      times: this.#times.check,
      random,
    });
  }

  /** Runs until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    this.#check.start(signal);
    while (!signal.aborted) {
      const pause = await this.#step(signal);
      // Only the signal ends the wait early, and it ends the loop, too.
      if (pause > 0 && !signal.aborted) await wait(pause, undefined, { signal }).catch(() => {});
    }
    this.#check.stop();
  }

  /** Lists if a list is due, and watches until the watch ends. Resolves to the pause before the next step, in ms. */
  async #step(signal: AbortSignal): Promise<number> {
    const listing = this.#version === undefined;
    const [least, most] = this.#times.watch;
    const seconds = Math.ceil(least + this.#random() * (most - least));
    this.#progress = false;
    this.#received = false;
    this.#interrupt = new AbortController();
    // A refusal may take long, too: the time counts during which events could arrive.
    let watching = Number.POSITIVE_INFINITY;
    const opened = () => {
      watching = performance.now();
      if (!this.#wasSilent) this.#heard();
      if (this.#doubtful) this.#check.doubt();
      this.#doubtful = false;
    };
    let failure: unknown;
    try {
      this.#version ??= await this.#list(signal);
      await this.#watch(this.#version, seconds, opened, signal);
    } catch (error) {
      failure = error;
    }
    // A list is due at once.
    if (signal.aborted || this.#interrupt.signal.aborted) return 0;
    const lasted = performance.now() - watching;
    const worked = this.#progress || lasted >= this.#times.floor;
    const rest = this.#times.floor - lasted;
    if (worked) this.#pace.reset();
    if (failure !== undefined || lasted < seconds * 1000 - EARLY) this.#doubtful = true;
    if (failure !== undefined) {
      const error = asApiError(failure, `watch ${this.#resource.name}`);
      // As client-go does: a watch that worked is opened anew at once when its connection was closed.
      const pause = error.closed && worked ? Math.max(0, rest) : this.#pace.next(error, this.#received);
      return this.#recover(error, pause, listing && !worked);
    }
    // A watch that ends is not a failure, unless it ended at once and without an event.
    return worked ? rest : this.#pace.backOff();
  }

  /** Decides the next step after a failure, and its time; the known objects stay. `listed`: the step that failed began with a list. */
  #recover(error: ApiError, next: number, listed: boolean): number {
    let pause = next;
    this.#wasSilent = error.code === 'ERR_TIMEOUT';
    const isAbsent = error.status === 404 && this.#resource.since !== undefined;
    if (isAbsent) this.#contact?.absent();
    else this.#contact?.failed(error);
    if (error.expired) {
      // The next step is a list, at once, unless this step was one.
      if (!listed) pause = error.retryAfter ?? 0;
      this.#version = undefined;
    } else if (error.code === 'ERR_MALFORMED' && this.#version !== undefined) {
      // The next watch may be well-formed from this version; if not, a list avoids the malformed part.
      if (this.#malformedAt === this.#version) this.#version = undefined;
      this.#malformedAt = this.#version;
    } else if (isAbsent) {
      pause = this.#times.absent;
    }
    this.#events.trouble(error, pause);
    return pause;
  }

  /** Asks for one object, from a server that has the version which is known here. */
  async #askVersion(signal: AbortSignal): Promise<void> {
    const version = this.#version;
    if (version === undefined) return;
    const query = { limit: '1', resourceVersion: version, resourceVersionMatch: 'NotOlderThan' };
    await this.#client.list(this.#resource.path, { ...this.#resource.selectors, ...query }, () => {}, signal);
    this.#heard();
  }

  get #isSilent(): boolean {
    return performance.now() - this.#heardAt >= this.#times.silence;
  }

  /** The server sent something. `listed`: the list has been read to its end. */
  #heard(listed = true): void {
    this.#heardAt = performance.now();
    this.#wasSilent = false;
    this.#contact?.heard(listed);
  }

  #loseVersion(error: ApiError): void {
    // A list is due or under way already.
    if (this.#version === undefined) return;
    this.#lost = this.#version;
    this.#version = undefined;
    this.#interrupt.abort();
    this.#events.trouble(error, 0);
  }

  /** Reads the whole list, and reports deleted objects; resolves to its version. */
  async #list(signal: AbortSignal): Promise<string> {
    // The first list may be read from the server's cache, which spares etcd; a later one must not be older than the
    // known objects.
    const age = this.#listedOnce ? {} : { resourceVersion: '0' };
    let seen = new ListSeen();
    let version: string;
    try {
      version = await this.#listPages({ limit: PAGE }, age, seen, signal);
    } catch (error) {
      if (!(error instanceof ApiError && error.expired) || signal.aborted) throw error;
      // The version of the pages expired before the last page, and may expire again: the list is read without pages.
      this.#events.trouble(error, 0);
      seen = new ListSeen();
      version = await this.#listPages({}, {}, seen, signal);
    }
    this.#report(this.#known.missing(seen));
    this.#listedOnce = true;
    this.#malformedAt = undefined;
    this.#doubtful = false;
    this.#received = false;
    this.#check.listed(this.#lost !== undefined && !isOlder(version, this.#lost));
    this.#lost = undefined;
    this.#heard();
    this.#events.listed();
    return version;
  }

  /** Reads all pages; only the request of the first one may name a version. */
  async #listPages(limit: Query, age: Query, seen: ListSeen, signal: AbortSignal): Promise<string> {
    for (let which = age; ; ) {
      const page = await this.#listPage({ ...this.#resource.selectors, ...limit, ...which }, seen, signal);
      this.#heard(this.#listedOnce);
      if (page.continue === '') return page.resourceVersion;
      which = { continue: page.continue };
    }
  }

  async #listPage(query: Query, seen: ListSeen, signal: AbortSignal) {
    let batch: ObjectChange[] = [];
    try {
      return await this.#client.list(
        this.#resource.path,
        query,
        (item) => {
          this.#received = true;
          const change = this.#known.listed(item, seen);
          if (change && batch.push(change) >= BATCH) {
            this.#report(batch);
            batch = [];
          }
        },
        signal,
      );
    } finally {
      if (!signal.aborted) this.#report(batch);
    }
  }

  async #watch(version: string, seconds: number, opened: () => void, signal: AbortSignal): Promise<void> {
    const query = {
      ...this.#resource.selectors,
      allowWatchBookmarks: 'true',
      resourceVersion: version,
      timeoutSeconds: String(seconds),
    };
    const { margin, silence } = this.#times;
    this.#bookmarked = false;
    const idle = () => (this.#bookmarked ? silence : seconds * 1000 + margin);
    const interrupt = this.#interrupt;
    signal.throwIfAborted();
    const asking = setInterval(() => {
      if (this.#isSilent && !this.#bookmarked) this.#check.doubt();
    }, silence / 5);
    const stop = () => {
      // Whatever the request does then, the process may end.
      clearInterval(asking);
      interrupt.abort();
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      const options = { signal: interrupt.signal, opened, idle };
      for await (const event of this.#client.watch(this.#resource.path, query, options)) {
        if (interrupt.signal.aborted) return;
        this.#report(this.#takeEvent(event));
        this.#progress = true;
      }
    } finally {
      clearInterval(asking);
      signal.removeEventListener('abort', stop);
    }
  }

  /** The changes that an event makes. Their objects are known from now on: they must be reported. */
  #takeEvent(event: unknown): readonly ObjectChange[] {
    const { type, object } = isRecord(event) ? event : {};
    if (type === 'ERROR') throw this.#serverError(object);
    const metadata = isRecord(object) && isRecord(object['metadata']) ? object['metadata'] : {};
    const version = metadata['resourceVersion'];
    if (!isRecord(object) || typeof version !== 'string' || version === '') {
      throw this.#malformedEvent('an event has no resourceVersion');
    }
    const expected = this.#known.expects(object);
    let changes: readonly ObjectChange[] = NO_CHANGES;
    if (type === 'DELETED') {
      changes = this.#known.deleted(object);
    } else if (type === 'ADDED' || type === 'MODIFIED' || !expected) {
      const change = this.#known.changed(object);
      if (change) changes = [change];
    } else if (type === 'BOOKMARK') {
      this.#bookmarked = true;
    } else {
      throw this.#malformedEvent(`an event has type ${JSON.stringify(type)}`);
    }
    this.#heard();
    // The version of an object of another kind is not used.
    if (expected) this.#version = version;
    return changes;
  }

  #report(changes: readonly ObjectChange[]): void {
    for (let i = 0; i < changes.length; i += BATCH) this.#events.changed(changes.slice(i, i + BATCH));
  }

  #serverError(status: unknown): ApiError {
    const { message, reason, retryAfterSeconds } = readStatus(status);
    const code = isRecord(status) && typeof status['code'] === 'number' ? status['code'] : 0;
    return new ApiError({
      // Another error than an expired version may be that of one event. It counts as a malformed line, so that it
      // cannot block the watch for ever.
      code: code === 410 ? 'ERR_STATUS' : 'ERR_MALFORMED',
      operation: `watch ${this.#resource.name}`,
      status: code,
      reason,
      said: refusalText(code, message, reason),
      retryAfter: patience(retryAfterSeconds),
    });
  }

  #malformedEvent(said: string): ApiError {
    return new ApiError({ code: 'ERR_MALFORMED', operation: `watch ${this.#resource.name}`, said });
  }
}

/** Whether a version is older than another; Kubernetes promises that they are numbers since 1.35. */
function isOlder(version: string, other: string): boolean {
  const both = [version, other];
  return !both.every((text) => /^\d+$/.test(text)) || BigInt(version) < BigInt(other);
}
