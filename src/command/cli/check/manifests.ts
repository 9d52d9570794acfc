// Checks manifests: the problems of their objects, and addresses that several Services claim.
import { basename, join } from 'node:path';
import type { Problem } from '../../../kernel/errors.js';
import type { ObjectChange } from '../../../proxy/objects/types.js';
import { conflictsOf } from '../../../proxy/reconcile/serviceProblems.js';
import { ServiceCache, type ServiceCacheOptions } from '../../../proxy/services/serviceCache.js';
import { ManifestSource } from '../../../proxy/source/manifests.js';
import type { CheckedProblem } from './report.js';

/** The objects of all checked manifests, and their problems. */
export class CheckedManifests {
  readonly problems: CheckedProblem[] = [];
  /** Files that cannot be read, or are neither YAML nor JSON. */
  readonly unreadable = new Set<string>();
  readonly #changes: ObjectChange[] = [];
  /** Service → the path that it was read from. */
  readonly #origins = new Map<string, string>();

  /**
   * Reads the manifests of a file or a folder. Rejects with the system's error if it cannot be listed.
   *
   * @returns the number of objects that were read
   */
  async read(path: string, isFolder: boolean): Promise<number> {
    const source = new ManifestSource({ path, follow: false });
    let objects = 0;
    await source.start({
      changed: (changes) => {
        objects += changes.length;
        for (const change of changes) {
          this.#changes.push(change);
          const { object } = change;
          if (object.kind === 'Service') this.#origins.set(`${object.namespace}/${object.name}`, path);
        }
      },
      synced() {},
      problems: (problems) => {
        for (const problem of problems) this.#add(problem, fileOf(problem, path, isFolder));
      },
    });
    source.stop();
    return objects;
  }

  /**
   * Adds the addresses and ports that a Service claims, and an older one has, and the problems of settings. Call it after the last
   * read.
   *
   * @param options `externalIPs`: whether external IPs are served; otherwise nobody claims one
   */
  addConflicts(options: Pick<ServiceCacheOptions, 'externalIPs' | 'settingRules'>): void {
    const cache = new ServiceCache(options);
    for (const change of this.#changes) cache.apply(change);
    for (const service of cache.serviceNames()) {
      const file = this.#origins.get(service) ?? '';
      for (const problem of conflictsOf(service, cache.lostClaims(service))) this.#add(problem, file);
      for (const problem of cache.settingProblems(service)) this.#add(problem, file);
    }
  }

  #add({ object, field, value, rule, reason }: Problem, file: string): void {
    // A document that is not YAML has no object.
    if (reason === 'Unreadable' || object === 'text') this.unreadable.add(file);
    const found = value === undefined ? {} : { value };
    this.problems.push({ file, object, field, ...found, rule, level: 'error' });
  }
}

function fileOf({ source }: Problem, path: string, isFolder: boolean): string {
  return source === undefined || !isFolder ? path : join(path, basename(source));
}
