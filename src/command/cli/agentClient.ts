// Requests to the running agent, on its health and metrics ports.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { joinHostPort } from '../../kernel/net/address.js';
import { splitHostPort } from '../config/goSyntax.js';

/** A response of the agent. */
interface AgentResponse {
  readonly status: number;
  readonly text: string;
}

/** The agent did not answer; the message has the URL, the reason and the action that may help. */
export class NoAnswer extends Error {}

/** Longest answer, in bytes: the frontends of about 100 000 Services. */
const LONGEST = 64 * 1024 * 1024;

/**
 * Sends a GET request. Rejects with {@link NoAnswer}. This is not fetch(), which refuses some ports.
 *
 * @param bindAddress `IP:port` that the agent listens on: a field of its configuration
 * @param milliseconds time limit; default 5 s
 */
export async function askAgent(
  bindAddress: string,
  path: string,
  milliseconds = 5000,
): Promise<AgentResponse> {
  const url = `http://${reachable(bindAddress)}${path}`;
  const signal = AbortSignal.timeout(milliseconds);
  try {
    // Without an agent of its own, the connection would stay open for other requests.
    const sent = get(url, { signal, agent: false });
    const [response] = (await once(sent, 'response', { signal })) as [IncomingMessage];
    let text = '';
    for await (const part of response.setEncoding('utf8')) {
      text += part;
      if (text.length > LONGEST) throw new Error(`the answer is longer than ${LONGEST} bytes`);
    }
    return { status: response.statusCode ?? 0, text };
  } catch (error) {
    const limit = `no response within ${milliseconds / 1000} s`;
    throw new NoAnswer(`no agent answers at ${url}: ${signal.aborted ? limit : reasonOf(error)}`);
  }
}

/** `IP:port` to connect to: an agent that listens on all addresses is reached on the loopback address. */
function reachable(bindAddress: string): string {
  const parts = splitHostPort(bindAddress);
  if (typeof parts === 'string')
    throw new NoAnswer(`the agent has no server: its address is ${bindAddress || 'blank'}`);
  const { host, port } = parts;
  const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return joinHostPort(loopback[host] ?? host, Number(port));
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error as NodeJS.ErrnoException).code ?? error.message;
}
