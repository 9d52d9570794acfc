// Reads the names of Services: from manifests or the API server if a flag names them, otherwise from the running agent.
import type { KernelCommand } from '../../config/commandLine.js';
import { loadConfiguration } from '../../config/load.js';
import { excerpt } from '../../errors.js';
import { isRecord } from '../../input/fields.js';
import { type NamedFrontend, namedFrontends } from '../../services/namedFrontends.js';
import { nodeFacts } from '../../services/nodeFacts.js';
import { askAgent, NoAnswer } from '../agentClient.js';
import { readObjects } from '../readObjects.js';
import { namesOf, type ServiceNames } from './names.js';

/** Time limit of the agent's answer, in ms. */
const ANSWER_LIMIT = 5000;

/** The names from a source, and the number of problems of its objects. */
export interface ReadNames {
  readonly names: ServiceNames;
  readonly problems: number;
}

/**
 * Reads the names. If the agent does not answer, there are none, with the reason. Rejects with an Error if the flags name
 * a source that cannot be read.
 */
export async function readNames(flags: KernelCommand): Promise<ReadNames> {
  const loaded = loadConfiguration(flags);
  const objects = await readObjects(flags, loaded);
  if (objects) {
    const { source, cache, problems } = objects;
    const frontends = namedFrontends(cache, nodeFacts(loaded.nodeName));
    return { names: namesOf({ source }, [...frontends]), problems };
  }
  try {
    return { names: await fromAgent(loaded.configuration.metricsBindAddress), problems: 0 };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const reason = `${error.message}; --manifests or --kubeconfig names other objects`;
    return { names: namesOf({ source: 'none', reason }, []), problems: 0 };
  }
}

/** The names that the running agent knows. Rejects with {@link NoAnswer}. */
async function fromAgent(metricsBindAddress: string): Promise<ServiceNames> {
  const { status, text } = await askAgent(metricsBindAddress, '/services', ANSWER_LIMIT);
  if (status === 404)
    throw new NoAnswer(`the program at ${metricsBindAddress} has no /services: it may be kube-proxy`);
  return namesOf({ source: 'agent' }, decodeFrontends(text, metricsBindAddress));
}

/** Any program may listen on the port: its answer is validated. Throws {@link NoAnswer}. */
export function decodeFrontends(text: string, from: string): NamedFrontend[] {
  try {
    const answer: unknown = JSON.parse(text);
    const listed = isRecord(answer) ? answer['frontends'] : undefined;
    if (Array.isArray(listed) && listed.every(isFrontend)) return listed;
  } catch {
    // The error below describes it.
  }
  throw new NoAnswer(
    `the program at ${from} is not the agent: /services is ${JSON.stringify(excerpt(text, 60))}`,
  );
}

function isFrontend(value: unknown): value is NamedFrontend {
  if (!isRecord(value)) return false;
  const texts = ['service', 'portName', 'kind', 'address', 'protocol'];
  return texts.every((field) => typeof value[field] === 'string') && Number.isInteger(value['port']);
}
