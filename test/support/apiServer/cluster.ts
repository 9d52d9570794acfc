// A source on a server, and what it told: the state that a proxy would hold at any moment.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { describeProblem } from '../../../src/errors.js';
import type { KubernetesObject } from '../../../src/objects/types.js';
import { ApiSource, type ApiSourceOptions, type ApiTrouble } from '../../../src/source/api/apiSource.js';
import { ApiClient } from '../../../src/source/api/client.js';
import { type ConnectionOptions, connectToApi } from '../../../src/source/api/connection.js';
import { identityOf } from '../../../src/source/manifestFile.js';

/** Times in tests: everything that takes seconds takes tens of milliseconds. */
export const QUICK = {
  watch: [300, 600],
  margin: 30_000,
  floor: 20,
  backoff: { first: 20, most: 200 },
} as const;

/** A source that is followed. */
export class Follower {
  /** Objects by identity, as told. */
  readonly objects = new Map<string, KubernetesObject>();
  /** `set Service demo/web`, one for each change. */
  readonly changes: string[] = [];
  readonly troubles: ApiTrouble[] = [];
  readonly problems: string[] = [];
  synced = 0;
  readonly #source: ApiSource;
  readonly #client: ApiClient;

  private constructor(client: ApiClient, options: Partial<ApiSourceOptions>) {
    this.#client = client;
    this.#source = new ApiSource({
      client,
      nodeName: 'node-a',
      trouble: (trouble) => this.troubles.push(trouble),
      times: QUICK,
      ...options,
    });
  }

  /** Follows the server that the options lead to. Resolves at once: nothing was told yet. */
  static async start(
    connect: ConnectionOptions,
    options: Partial<ApiSourceOptions> & {
      timeouts?: ConstructorParameters<typeof ApiClient>[1]['timeouts'];
    } = {},
  ): Promise<Follower> {
    const client = new ApiClient(await connectToApi(connect), {
      userAgent: 'kube-netlink-proxy/test',
      rate: { qps: -1, burst: 0 },
      ...(options.timeouts ? { timeouts: options.timeouts } : {}),
    });
    const follower = new Follower(client, options);
    follower.#start();
    return follower;
  }

  close(): void {
    this.#source.stop();
    this.#client.close();
  }

  /** Identities of all objects, sorted. */
  get identities(): string[] {
    return [...this.objects.keys()].sort();
  }

  #start(): void {
    this.#source.start({
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
    });
  }
}

/** Waits until something is so; fails after some seconds, saying what was waited for. */
export async function until(what: string, so: () => boolean, limit = 10_000): Promise<void> {
  const end = performance.now() + limit;
  while (!so()) {
    if (performance.now() > end) assert.fail(`waited ${limit} ms in vain until ${what}`);
    await wait(5);
  }
}
