// The Service of a frontend: from manifests or the API server, if a flag names one, otherwise from the running agent.

import { familyOf } from '../../../kernel/net/address.js';
import type { NamedFrontend } from '../../../proxy/services/namedFrontends.js';
import { nodeFacts } from '../../../proxy/services/nodeFacts.js';
import type { KernelCommand } from '../../config/commandLine.js';
import type { Loaded } from '../../config/load.js';
import type { Dialled } from '../../explain/explanation.js';
import { NoAnswer } from '../agentClient.js';
import { agentFrontends } from '../agentFrontends.js';
import type { AnswerLimit } from '../answerLimit.js';
import { readObjects } from '../readObjects.js';
import { frontendAt, reasonWithoutEndpoints } from './frontendAt.js';
import type { ServiceOfFrontend } from './text.js';

/** A frontend with its Service. */
export interface FoundFrontend {
  readonly service: ServiceOfFrontend;
  readonly isClusterIP: boolean;
}

/**
 * Finds a frontend and its Service. Undefined if no Service has it, or if no flag names objects and no agent answers. Rejects
 * with an Error if the objects that a flag names cannot be read.
 *
 * @param limit of the API server
 */
export async function findFrontend(
  flags: KernelCommand,
  loaded: Loaded,
  dialled: Dialled,
  limit: AnswerLimit,
): Promise<FoundFrontend | undefined> {
  const objects = await readObjects(flags, loaded, limit);
  if (!objects) return fromAgent(loaded.configuration.metricsBindAddress, dialled);
  const { cache } = objects;
  const { nodeName, configuration } = loaded;
  const node = nodeFacts(nodeName, { node: cache.node(nodeName), bindAddress: configuration.bindAddress });
  const owner = frontendAt(cache, node, dialled);
  if (!owner) return undefined;
  const reason = reasonWithoutEndpoints(owner, cache.slices(owner.service));
  const { service, port, frontend, settings } = owner;
  return {
    service: {
      ...{ service, portName: port.portName },
      ...(settings.length > 0 ? { settings } : {}),
      ...(reason === undefined ? {} : { reason }),
    },
    isClusterIP: frontend.kind === 'clusterIP',
  };
}

/** The agent knows names only: why a Service has no endpoint, it does not say. */
async function fromAgent(metricsBindAddress: string, dialled: Dialled): Promise<FoundFrontend | undefined> {
  try {
    const found = namedFrontendAt(await agentFrontends(metricsBindAddress), dialled);
    if (!found) return undefined;
    const { service, portName, kind, settings } = found;
    return {
      service: { service, portName, ...(settings && { settings }) },
      isClusterIP: kind === 'clusterIP',
    };
  } catch (error) {
    // Names add to the explanation, which needs no agent.
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}

/** The frontend with this address and port; otherwise the node port with this port; undefined if there is none. */
function namedFrontendAt(
  frontends: readonly NamedFrontend[],
  { address, port, protocol }: Dialled,
): NamedFrontend | undefined {
  const own = frontends.filter((each) => each.port === port && each.protocol === protocol);
  const family = familyOf(address);
  return (
    own.find((each) => each.address === address) ??
    own.find((each) => each.kind === 'nodePort' && each.family === family)
  );
}
