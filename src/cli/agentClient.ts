// Requests to the running agent, on its health and metrics ports.
import { splitHostPort } from '../config/goSyntax.js';
import { joinHostPort } from '../net/address.js';

/** A response of the agent. */
export interface AgentResponse {
  readonly status: number;
  readonly text: string;
}

/** The agent did not answer; the message has the URL, the reason and the action that may help. */
export class NoAnswer extends Error {}

/**
 * Sends a GET request. Rejects with {@link NoAnswer}.
 *
 * @param bindAddress `IP:port` that the agent listens on: a field of its configuration
 * @param milliseconds time limit
 */
export async function askAgent(
  bindAddress: string,
  path: string,
  milliseconds: number,
): Promise<AgentResponse> {
  const url = `http://${reachable(bindAddress)}${path}`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(milliseconds), redirect: 'error' });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw new NoAnswer(`no agent answers at ${url}: ${reasonOf(error, milliseconds)}`);
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

/** fetch hides the system's error in `cause`. */
function reasonOf(error: unknown, milliseconds: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no response within ${milliseconds / 1000} s`;
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return (cause as NodeJS.ErrnoException).code ?? cause.message;
}
