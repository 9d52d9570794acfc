// kube-proxy's recorded responses on the health-check ports of Services.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from '../http/request.js';

/** A response. */
export interface RecordedHealth {
  readonly port: number;
  /** Status line, headers and body, without `Date`; undefined without a response. */
  readonly answer: string | undefined;
}

/** The recorded responses of a step. */
export function recordedHealth(step: string): RecordedHealth[] {
  const file = join(step, 'health-check.txt');
  const parts = existsSync(file) ? readFileSync(file, 'utf8').split(/^== /m).slice(1) : [];
  return parts.map((part) => {
    const [port, ...lines] = part.trimEnd().split('\n');
    const answer = lines.join('\n');
    return { port: Number(port), answer: answer.includes('HTTP/1.1') ? answer : undefined };
  });
}

/** The current response on a port of this host, in the same format. */
export async function healthNow(port: number): Promise<string | undefined> {
  try {
    const { status, headers, body } = await ask(port);
    return [status, ...headers.filter((line) => line !== 'Connection: close'), '', body].join('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return undefined;
    throw error;
  }
}
