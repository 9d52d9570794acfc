// The Service of a frontend, from manifests or the API server, if a flag names one.
import { access, constants } from 'node:fs/promises';
import { openApi } from '../../agent/api.js';
import { openLog } from '../../agent/log.js';
import type { KernelCommand } from '../../config/commandLine.js';
import { fileError } from '../../config/goSyntax.js';
import type { Loaded } from '../../config/load.js';
import { type Dialled, frontendAt, reasonWithoutEndpoints } from '../../services/frontendAt.js';
import { nodeFacts } from '../../services/nodeFacts.js';
import { ServiceCache } from '../../services/serviceCache.js';
import { ManifestSource } from '../../source/manifests.js';
import type { Source } from '../../source/source.js';
import { VERSION } from '../version.js';
import type { ServiceOfFrontend } from './text.js';

/**
 * Finds the Service of a frontend. Undefined if no flag names objects, or no Service has it. Rejects with an Error if
 * the objects cannot be read.
 */
export async function serviceOf(
  flags: KernelCommand,
  loaded: Loaded,
  dialled: Dialled,
): Promise<ServiceOfFrontend | undefined> {
  const cache = await readObjects(flags, loaded);
  if (!cache) return undefined;
  const { nodeName, configuration } = loaded;
  const node = nodeFacts(nodeName, { node: cache.node(nodeName), bindAddress: configuration.bindAddress });
  const owner = frontendAt(cache, node, dialled);
  if (!owner) return undefined;
  const reason = reasonWithoutEndpoints(owner);
  const { service, port } = owner;
  return { service, portName: port.portName, ...(reason === undefined ? {} : { reason }) };
}

async function readObjects(flags: KernelCommand, loaded: Loaded): Promise<ServiceCache | undefined> {
  const { manifests: path, master } = flags;
  if (path !== '') {
    await access(path, constants.R_OK).catch((error: unknown) => {
      throw new Error(`--manifests: ${fileError(error, path)}`);
    });
    return readAll(new ManifestSource({ path, follow: false }));
  }
  if (master === '' && !flags.given.has('kubeconfig')) return undefined;
  const { configuration, nodeName } = loaded;
  const log = openLog(configuration.logging);
  const metrics = { requestFailed() {} };
  const api = await openApi({
    configuration,
    master,
    nodeName,
    allNodes: false,
    version: VERSION,
    log,
    metrics,
  });
  try {
    return await readAll(api.source);
  } finally {
    api.close();
  }
}

/** All objects that a source reports at its start. */
async function readAll(source: Source): Promise<ServiceCache> {
  const cache = new ServiceCache();
  await new Promise<void>((resolve, reject) => {
    source
      .start({
        changed(changes) {
          for (const change of changes) cache.apply(change);
        },
        synced: resolve,
        problems() {},
      })
      .catch(reject);
  });
  source.stop();
  return cache;
}
