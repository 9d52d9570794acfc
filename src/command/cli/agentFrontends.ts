// The frontends of Services as the running agent knows them.
import { escapedControls, excerpt } from '../../kernel/errors.js';
import { isRecord } from '../../proxy/input/fields.js';
import type { NamedFrontend } from '../../proxy/services/namedFrontends.js';
import { askAgent, NoAnswer } from './agentClient.js';

/**
 * The frontends that the running agent knows. Rejects with {@link NoAnswer}.
 *
 * @param metricsBindAddress `IP:port` of the agent's metrics
 */
export async function agentFrontends(metricsBindAddress: string): Promise<NamedFrontend[]> {
  const { status, text } = await askAgent(metricsBindAddress, '/services');
  if (status === 404)
    throw new NoAnswer(`the program at ${metricsBindAddress} has no /services: it may be kube-proxy`);
  return decodeFrontends(text, metricsBindAddress);
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
  const { settings = [] } = value;
  if (!Array.isArray(settings) || !settings.every(isOneLine)) return false;
  const texts = ['service', 'portName', 'kind', 'address', 'protocol'];
  return texts.every((field) => isOneLine(value[field])) && Number.isInteger(value['port']);
}

function isOneLine(value: unknown): boolean {
  return typeof value === 'string' && escapedControls(value) === value;
}
