// One question to the servers of an agent.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { PATIENCE } from '../../laboratory/patience.js';

/** The status and body of a path on a port of the agent, by default that of health; status 0 if it is closed or does not answer. */
export async function ask(path: string, port = 10_256): Promise<{ status: number; text: string }> {
  try {
    const signal = AbortSignal.timeout(PATIENCE);
    const sent = get({ host: '127.0.0.1', port, path, agent: false, signal });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const part of response.setEncoding('utf8')) text += part;
    return { status: response.statusCode ?? 0, text };
  } catch {
    return { status: 0, text: '' };
  }
}
