// A source on a server, and the objects that it has reported: the state of a proxy.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { parseSelectors } from '../../../bench/apiServer/store.js';
import { describeProblem } from '../../../src/kernel/errors.js';
import { ApiSource, type ApiSourceOptions, type ApiTrouble } from '../../../src/proxy/api/apiSource.js';
import { ApiClient } from '../../../src/proxy/api/client.js';
import { type ConnectionOptions, connectToApi } from '../../../src/proxy/api/connection.js';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../../src/proxy/objects/types.js';
import { identityOf } from '../../../src/proxy/source/manifestFile.js';
import type { Source } from '../../../src/proxy/source/source.js';
import { PATIENCE } from '../../laboratory/patience.js';
import type { ApiServer } from './server.js';

/** Times in tests: tens of ms instead of seconds. */
export const QUICK = {
  watch: [300, 600],
  margin: 30_000,
  floor: 20,
  repeat: 20,
  backoff: { first: 20, most: 200, spread: 1 },
  check: { interval: [600_000, 1_200_000], pause: 100 },
} as const;

/** Options of a follower: those of its source, and the times of its client. */
export type FollowerOptions = Partial<ApiSourceOptions> & {
  timeouts?: ConstructorParameters<typeof ApiClient>[1]['timeouts'];
};

/** Follows a source. */
export class Follower {
  /** Objects by identity, as reported. */
  readonly objects = new Map<string, KubernetesObject>();
  /** Reported changes: `set Service demo/web`. */
  readonly changes: string[] = [];
  readonly troubles: ApiTrouble[] = [];
  readonly problems: string[] = [];
  readonly mended: string[] = [];
  synced = 0;
  /** Resolves when the source has started. */
  started: Promise<void> = Promise.resolve();
  readonly #source: Source;
  #client: ApiClient | undefined;

  private constructor(make: (trouble: (trouble: ApiTrouble) => void) => Source) {
    this.#source = make((trouble) => this.troubles.push(trouble));
  }

  /** Follows a source, which is created with a callback for its failures. */
  static of(make: (trouble: (trouble: ApiTrouble) => void) => Source): Follower {
    const follower = new Follower(make);
    follower.start();
    return follower;
  }

  /** Follows the server of the options. Resolves before the first report. */
  static async start(connect: ConnectionOptions, options: FollowerOptions = {}): Promise<Follower> {
    const { follower } = await Follower.open(connect, options);
    follower.start();
    return follower;
  }

  /** A source, and a follower that has not started. */
  static async open(
    connect: ConnectionOptions,
    options: FollowerOptions = {},
  ): Promise<{ source: ApiSource; follower: Follower }> {
    const { timeouts, ...others } = options;
    const client = new ApiClient(await connectToApi(connect), {
      userAgent: 'kube-netlink-proxy/test',
      rate: { qps: -1, burst: 0 },
      ...(timeouts ? { timeouts } : {}),
    });
    const base = { client, nodeName: 'node-a', times: QUICK };
    let source: ApiSource | undefined;
    const follower = new Follower((trouble) => {
      source = new ApiSource({ ...base, trouble, ...others });
      return source;
    });
    follower.#client = client;
    return { source: source as ApiSource, follower };
  }

  close(): void {
    this.#source.stop();
    this.#client?.close();
  }

  /** Identities of all objects, sorted. */
  get identities(): string[] {
    return [...this.objects.keys()].sort();
  }

  start(): void {
    this.started = this.#source.start({
      changed: (changes) => {
        for (const { type, object } of changes) {
          const identity = identityOf(object);
          this.changes.push(`${type} ${identity}`);
          if (type === 'set') this.objects.set(identity, object);
          else assert.ok(this.objects.delete(identity), `${identity} was deleted twice`);
        }
      },
      synced: () => {
        this.synced++;
      },
      problems: (problems) => this.problems.push(...problems.map(describeProblem)),
      mended: (problems) => this.mended.push(...problems.map(describeProblem)),
    });
  }
}

/** Waits until a follower has exactly the server's objects for node-a; fails with the difference. */
export async function agrees(follower: Follower, server: ApiServer, limit = PATIENCE): Promise<void> {
  const selected = [
    ...server.store.list(
      'Service',
      parseSelectors('!service.kubernetes.io/service-proxy-name', 'spec.clusterIP!=None'),
    ),
    ...server.store.list('EndpointSlice', parseSelectors('!service.kubernetes.io/headless', '')),
    ...server.store.list('Node', parseSelectors('', 'metadata.name=node-a')),
  ];
  const expected = new Map(
    selected.flatMap((raw) => {
      const { object } = decodeObject(raw);
      return object ? [[identityOf(object), object]] : [];
    }),
  );
  const end = performance.now() + limit;
  while (!isDeepStrictEqual(follower.objects, expected) && performance.now() < end) await wait(5);
  assert.deepEqual(follower.objects, expected);
}

/** Waits until a condition is true; fails with its description. */
export async function until(what: string, so: () => boolean, limit = PATIENCE): Promise<void> {
  const end = performance.now() + limit;
  while (!so()) {
    if (performance.now() > end) assert.fail(`timeout after ${limit} ms: ${what}`);
    await wait(5);
  }
}
