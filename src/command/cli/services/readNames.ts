// Reads the names of Services: from manifests or the API server if a flag names them, otherwise from the running agent.

import { namedFrontends } from '../../../proxy/services/namedFrontends.js';
import { nodeFacts } from '../../../proxy/services/nodeFacts.js';
import type { KernelCommand } from '../../config/commandLine.js';
import type { Loaded } from '../../config/load.js';
import { NoAnswer } from '../agentClient.js';
import { agentFrontends } from '../agentFrontends.js';
import type { AnswerLimit } from '../answerLimit.js';
import { readObjects } from '../readObjects.js';
import { namesOf, type ServiceNames } from './names.js';

/** The names from a source, and the number of problems of its objects. */
export interface ReadNames {
  readonly names: ServiceNames;
  readonly problems: number;
}

/**
 * Reads the names. If the agent does not answer, there are none, with the reason. Rejects with an Error if the flags name
 * a source that cannot be read.
 *
 * @param limit of the API server
 */
export async function readNames(
  flags: KernelCommand,
  loaded: Loaded,
  limit: AnswerLimit,
): Promise<ReadNames> {
  const objects = await readObjects(flags, loaded, limit);
  if (objects) {
    const { source, cache, problems } = objects;
    const frontends = namedFrontends(cache, nodeFacts(loaded.nodeName));
    return { names: namesOf({ source }, [...frontends]), problems };
  }
  try {
    const frontends = await agentFrontends(loaded.configuration.metricsBindAddress);
    return { names: namesOf({ source: 'agent' }, frontends), problems: 0 };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const reason = `${error.message}; --manifests or --kubeconfig names other objects`;
    return { names: namesOf({ source: 'none', reason }, []), problems: 0 };
  }
}
