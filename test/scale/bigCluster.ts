// Starts the large cluster of cluster.ts, and sends changes to it.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../support/paths.js';

/** An API server in another process. */
export class BigCluster {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(services: number, endpoints: number): Promise<BigCluster> {
    const script = join(ROOT, 'dist/test/scale/cluster.js');
    const child = spawn(process.execPath, [script, `${services}`, `${endpoints}`], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    for await (const url of lines) return new BigCluster(child, url);
    throw new Error('the API server ended before it printed its URL');
  }

  /** Removes an endpoint, or adds it again: one change for each call. */
  change(): void {
    this.#child.stdin?.write('\n');
  }

  close(): void {
    this.#child.kill();
  }
}
