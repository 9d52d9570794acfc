// A proxy with an API server of objects in memory, in a new network namespace.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServer } from '../apiServer/server.js';
import type { RawObject } from '../apiServer/store.js';
import { NODE_NAME } from '../cluster.js';
import { inSandbox } from '../context.js';
import type { Sandbox } from '../sandbox.js';
import { ProxyProcess } from './proxyProcess.js';
import type { ProxyCommand } from './types.js';

/**
 * Measures a proxy in a new network namespace, into which it moves the thread, and ends it.
 *
 * @param objects of the API server
 * @param measure starts the proxy by its first argument
 */
export function withProxy<T>(
  command: ProxyCommand,
  objects: readonly RawObject[],
  measure: (start: () => ProxyProcess, server: ApiServer, sandbox: Sandbox) => Promise<T>,
): Promise<T> {
  return inSandbox(async (sandbox) => {
    const folder = mkdtempSync(join(tmpdir(), 'kube-netlink-proxy-bench-'));
    const server = await new ApiServer().start();
    for (const object of objects) server.store.set(object);
    let proxy: ProxyProcess | undefined;
    const start = () => {
      const kubeconfig = join(folder, 'kubeconfig');
      writeFileSync(kubeconfig, kubeconfigFor(server.url));
      proxy = new ProxyProcess(command, { kubeconfig, node: NODE_NAME });
      return proxy;
    };
    try {
      return await measure(start, server, sandbox);
    } finally {
      await proxy?.end();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

/** A kubeconfig for a server without authentication, in JSON, which is YAML too. */
function kubeconfigFor(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bench', cluster: { server } }],
    users: [{ name: 'bench', user: {} }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    'current-context': 'bench',
  });
}
