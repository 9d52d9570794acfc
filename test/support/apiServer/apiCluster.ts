// The test's API server with objects from manifests.
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { RawObject } from '../../../bench/apiServer/store.js';
import { ApiServer, type ApiServerOptions } from './server.js';

/** A running API server with objects from manifests. */
export class ApiCluster {
  readonly server: ApiServer;
  #objects = new Map<string, RawObject>();

  private constructor(server: ApiServer) {
    this.server = server;
  }

  static async start(options: ApiServerOptions = {}): Promise<ApiCluster> {
    return new ApiCluster(await new ApiServer(options).start());
  }

  /** Replaces the objects of the cluster by those of a manifest: sets new and changed objects, and deletes the others. */
  hold(text: string): void {
    const objects = new Map(
      parseAllDocuments(text)
        .flatMap((document) => (document.toJS() as RawObject | null) ?? [])
        .map((object) => [
          `${object.kind} ${object.metadata['namespace'] ?? ''}/${object.metadata.name}`,
          object,
        ]),
    );
    for (const [key, object] of this.#objects) if (!objects.has(key)) this.server.store.delete(object);
    for (const [key, object] of objects) {
      if (!isDeepStrictEqual(this.#objects.get(key), object)) this.server.store.set(object);
    }
    this.#objects = objects;
  }

  close(): Promise<void> {
    return this.server.close();
  }
}
