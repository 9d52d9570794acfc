// Keeps one resource of the API server in step with what is known here: lists it, follows it, and after whatever goes
// wrong takes up where it stood, or lists again and works out what went meanwhile.
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Problem } from '../../errors.js';
import { isRecord } from '../../fields.js';
import { decodeObject } from '../../objects/decode.js';
import type { KubernetesObject, ObjectChange } from '../../objects/types.js';
import { BACKOFF, Backoff } from './backoff.js';
import { type ApiClient, patience, type Query, readStatus } from './client.js';
import { ApiError, asApiError } from './error.js';
import type { Resource } from './resources.js';
import { Shared } from './shared.js';

/** What a reflector tells. */
export interface ReflectorEvents {
  changed(changes: readonly ObjectChange[]): void;
  problems(problems: readonly Problem[]): void;
  /** A list was read to its end: everything in it has been told, and everything that is not in it is gone. */
  listed(): void;
  /** A request failed, or its answer made no sense; tried again in so many ms. */
  trouble(error: ApiError, retryIn: number): void;
}

/** Times of a reflector. */
export interface ReflectorTimes {
  /** Seconds that a watch may last, at least and at most; the server ends it. Default 300 and 600, as in kube-proxy. */
  readonly watch: readonly [number, number];
  /** Ms beyond the end of a watch after which its connection counts as dead if nothing came; default 30 000. */
  readonly margin: number;
  /**
   * Ms of silence after which a connection counts as dead that has brought a bookmark: the server sends one every minute
   * from then on, through whatever stands between. Default 150 000.
   */
  readonly silence: number;
  /** Ms from the start of a watch to the next one at least, and for which one must last to count as working; default 1000. */
  readonly floor: number;
  readonly backoff: typeof BACKOFF;
}

const TIMES: ReflectorTimes = {
  watch: [300, 600],
  margin: 30_000,
  silence: 150_000,
  floor: 1_000,
  backoff: BACKOFF,
};
/** Items to a page; a server may send more, or all. */
const PAGE = '500';
/** Objects told of in one call. */
const BATCH = 100;

/** Parts of a reflector. */
export interface ReflectorParts {
  readonly client: Pick<ApiClient, 'list' | 'watch'>;
  readonly resource: Resource;
  readonly events: ReflectorEvents;
  readonly shared?: Shared;
  readonly times?: Partial<ReflectorTimes>;
  /** Numbers from 0 up to 1; default Math.random. */
  readonly random?: () => number;
}

/** Reflects one resource. */
export class Reflector {
  readonly #client: Pick<ApiClient, 'list' | 'watch'>;
  readonly #resource: Resource;
  readonly #events: ReflectorEvents;
  readonly #shared: Shared;
  readonly #times: ReflectorTimes;
  readonly #random: () => number;
  readonly #backoff: Backoff;
  /** Objects by `namespace/name`, as told. */
  readonly #known = new Map<string, KubernetesObject>();
  /** Version up to which everything is known; undefined when a list is due. */
  #version: string | undefined;
  /** A list was read: from then on no older state will do. */
  #listedOnce = false;
  /** The watch under way told of something. */
  #progress = false;
  /** The watch under way brought a bookmark. */
  #bookmarked = false;
  /** The watch before made no sense at this very version. */
  #senseless: string | undefined;

  constructor({
    client,
    resource,
    events,
    shared = new Shared(),
    times,
    random = Math.random,
  }: ReflectorParts) {
    this.#client = client;
    this.#resource = resource;
    this.#events = events;
    this.#shared = shared;
    this.#times = { ...TIMES, ...times };
    this.#random = random;
    this.#backoff = new Backoff(random, this.#times.backoff);
  }

  /** Goes on until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const pause = await this.#step(signal);
      if (signal.aborted) return;
      // Nothing but the signal can end the wait early, and the loop ends with it.
      if (pause > 0) await wait(pause, undefined, { signal }).catch(() => {});
    }
  }

  /** Lists if a list is due, and watches until the watch ends. Resolves to the ms to wait before the next step. */
  async #step(signal: AbortSignal): Promise<number> {
    const listing = this.#version === undefined;
    this.#progress = false;
    // A request that is refused may take its time, too: what counts is how long events could have come.
    let watching = Number.POSITIVE_INFINITY;
    const opened = () => {
      watching = performance.now();
    };
    let failure: unknown;
    try {
      this.#version ??= await this.#list(signal);
      await this.#watch(this.#version, opened, signal);
    } catch (error) {
      failure = error;
    }
    if (signal.aborted) return 0;
    const lasted = performance.now() - watching;
    const worked = this.#progress || lasted >= this.#times.floor;
    if (worked) this.#backoff.reset();
    if (failure !== undefined) {
      return this.#recover(asApiError(failure, `watch ${this.#resource.name}`), listing && !worked);
    }
    // The end of a watch is nothing wrong. One that ended at once, having told nothing, is.
    return worked ? this.#times.floor - lasted : this.#backoff.next();
  }

  /** What is known stands; decides what comes next, and when. `listed`: the step that failed began with a list. */
  #recover(error: ApiError, listed: boolean): number {
    let pause = this.#backoff.next();
    if (error.expired) {
      // A list right away, unless that is what led here.
      if (!listed) pause = 0;
      this.#version = undefined;
    } else if (error.code === 'ERR_MALFORMED' && this.#version !== undefined) {
      // The same stretch may be sent better next time; if not, a list leads past it.
      if (this.#senseless === this.#version) this.#version = undefined;
      this.#senseless = this.#version;
    }
    pause = Math.max(pause, error.retryAfter ?? 0);
    this.#events.trouble(error, pause);
    return pause;
  }

  /** Reads the whole list, and works out what went; resolves to its version. */
  async #list(signal: AbortSignal): Promise<string> {
    const seen = new Set<string>();
    // The first list may be somewhat old and so spares etcd; a later one must not lead back behind what is known.
    const age = this.#listedOnce ? {} : { resourceVersion: '0' };
    let version: string;
    try {
      version = await this.#listPages({ limit: PAGE }, age, seen, signal);
    } catch (error) {
      if (!(error instanceof ApiError && error.expired) || signal.aborted) throw error;
      // The server forgot what the pages were taken from before the last one, and may do so again: all at once then.
      this.#events.trouble(error, 0);
      seen.clear();
      version = await this.#listPages({}, {}, seen, signal);
    }
    this.#tell([...this.#known].flatMap(([key, object]) => (seen.has(key) ? [] : this.#forget(key, object))));
    this.#listedOnce = true;
    this.#senseless = undefined;
    this.#events.listed();
    return version;
  }

  /** Reads page after page; only the first one may say how old it may be. */
  async #listPages(limit: Query, age: Query, seen: Set<string>, signal: AbortSignal): Promise<string> {
    for (let which = age; ; ) {
      const page = await this.#listPage({ ...this.#resource.selectors, ...limit, ...which }, seen, signal);
      if (page.continue === '') return page.resourceVersion;
      which = { continue: page.continue };
    }
  }

  async #listPage(query: Query, seen: Set<string>, signal: AbortSignal) {
    let batch: ObjectChange[] = [];
    const { apiVersion, kind, path } = this.#resource;
    try {
      return await this.#client.list(
        path,
        query,
        (item) => {
          const change = this.#take({ ...(isRecord(item) ? item : {}), apiVersion, kind }, seen);
          if (change && batch.push(change) >= BATCH) {
            this.#tell(batch);
            batch = [];
          }
        },
        signal,
      );
    } finally {
      if (!signal.aborted) this.#tell(batch);
    }
  }

  async #watch(version: string, opened: () => void, signal: AbortSignal): Promise<void> {
    const [least, most] = this.#times.watch;
    const seconds = least + this.#random() * (most - least);
    const query = {
      ...this.#resource.selectors,
      allowWatchBookmarks: 'true',
      resourceVersion: version,
      timeoutSeconds: String(Math.ceil(seconds)),
    };
    const { margin, silence } = this.#times;
    this.#bookmarked = false;
    const idle = () => (this.#bookmarked ? silence : seconds * 1000 + margin);
    const options = { signal, opened, idle };
    for await (const event of this.#client.watch(this.#resource.path, query, options)) {
      if (signal.aborted) return;
      this.#takeEvent(event);
      this.#progress = true;
    }
  }

  #takeEvent(event: unknown): void {
    const { type, object } = isRecord(event) ? event : {};
    if (type === 'ERROR') throw this.#serverError(object);
    const metadata = isRecord(object) && isRecord(object['metadata']) ? object['metadata'] : {};
    const version = metadata['resourceVersion'];
    if (!isRecord(object) || typeof version !== 'string' || version === '') {
      throw this.#senselessEvent('an event has no resourceVersion');
    }
    if (type === 'ADDED' || type === 'MODIFIED') {
      const change = this.#take(object);
      if (change) this.#tell([change]);
    } else if (type === 'DELETED') {
      const key = keyOf(metadata);
      const known = this.#known.get(key);
      if (known) this.#tell(this.#forget(key, known));
    } else if (type === 'BOOKMARK') {
      this.#bookmarked = true;
    } else {
      throw this.#senselessEvent(`an event has type ${JSON.stringify(type)}`);
    }
    this.#version = version;
  }

  /** What is known now of the object that the data is about, or nothing when it is known already. */
  #take(raw: Readonly<Record<string, unknown>>, seen?: Set<string>): ObjectChange | undefined {
    const key = keyOf(isRecord(raw['metadata']) ? raw['metadata'] : {});
    const known = this.#known.get(key);
    const { object, problems } = decodeObject(raw);
    const same = known !== undefined && isDeepStrictEqual(known, object);
    if (problems.length > 0 && !same) this.#events.problems(problems);
    // Too much is wrong with it, and what it was before it is no more.
    if (!object) return known && this.#forget(key, known)[0];
    seen?.add(key);
    // A node says every few minutes that it is alive; what a list tells again is nothing new either.
    if (same && (seen || object.kind === 'Node')) return undefined;
    const kept = this.#shared.object(object);
    this.#known.set(key, kept);
    return { type: 'set', object: kept };
  }

  #forget(key: string, object: KubernetesObject): [ObjectChange] {
    this.#known.delete(key);
    return [{ type: 'delete', object }];
  }

  #tell(changes: readonly ObjectChange[]): void {
    for (let i = 0; i < changes.length; i += BATCH) this.#events.changed(changes.slice(i, i + BATCH));
  }

  #serverError(status: unknown): ApiError {
    const { message, reason, retryAfterSeconds } = readStatus(status);
    const code = isRecord(status) && typeof status['code'] === 'number' ? status['code'] : 0;
    return new ApiError({
      // An error in the middle of a stream that is not about its age may be about one event: treated like a line that
      // makes no sense, so that it cannot hold things up for ever.
      code: code === 410 ? 'ERR_STATUS' : 'ERR_MALFORMED',
      operation: `watch ${this.#resource.name}`,
      status: code,
      reason,
      said: `${code} ${message}`,
      retryAfter: patience(retryAfterSeconds),
    });
  }

  #senselessEvent(said: string): ApiError {
    return new ApiError({ code: 'ERR_MALFORMED', operation: `watch ${this.#resource.name}`, said });
  }
}

/** `namespace/name` of an object's metadata. */
function keyOf(metadata: Readonly<Record<string, unknown>>): string {
  return `${String(metadata['namespace'] ?? '')}/${String(metadata['name'] ?? '')}`;
}
