// The Service of a frontend, from manifests or the API server, if a flag names one.
import type { KernelCommand } from '../../config/commandLine.js';
import type { Loaded } from '../../config/load.js';
import { type Dialled, frontendAt, reasonWithoutEndpoints } from '../../services/frontendAt.js';
import { nodeFacts } from '../../services/nodeFacts.js';
import { readObjects } from '../readObjects.js';
import type { ServiceOfFrontend } from './text.js';

/** A frontend of the objects. */
export interface FoundFrontend {
  readonly service: ServiceOfFrontend;
  readonly isClusterIP: boolean;
}

/**
 * Finds a frontend and its Service. Undefined if no flag names objects, or no Service has it. Rejects with an Error if
 * the objects cannot be read.
 */
export async function findFrontend(
  flags: KernelCommand,
  loaded: Loaded,
  dialled: Dialled,
): Promise<FoundFrontend | undefined> {
  const objects = await readObjects(flags, loaded);
  if (!objects) return undefined;
  const { cache } = objects;
  const { nodeName, configuration } = loaded;
  const node = nodeFacts(nodeName, { node: cache.node(nodeName), bindAddress: configuration.bindAddress });
  const owner = frontendAt(cache, node, dialled);
  if (!owner) return undefined;
  const reason = reasonWithoutEndpoints(owner);
  const { service, port, frontend } = owner;
  return {
    service: { service, portName: port.portName, ...(reason === undefined ? {} : { reason }) },
    isClusterIP: frontend.kind === 'clusterIP',
  };
}
