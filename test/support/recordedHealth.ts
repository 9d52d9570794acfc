// What kube-proxy answered on the health-check ports of Services, as it was recorded.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from './request.js';

/** An answer. */
export interface RecordedHealth {
  readonly port: number;
  /** Status line, headers and body, without `Date`; undefined where nobody answered. */
  readonly answer: string | undefined;
}

/** What was recorded at a step. */
export function recordedHealth(step: string): RecordedHealth[] {
  const file = join(step, 'health-check.txt');
  const parts = existsSync(file) ? readFileSync(file, 'utf8').split(/^== /m).slice(1) : [];
  return parts.map((part) => {
    const [port, ...lines] = part.trimEnd().split('\n');
    const answer = lines.join('\n');
    return { port: Number(port), answer: answer.includes('HTTP/1.1') ? answer : undefined };
  });
}

/** What is answered on a port of this host now, in the same form. */
export async function healthNow(port: number): Promise<string | undefined> {
  try {
    const { status, headers, body } = await ask(port);
    return [status, ...headers.filter((line) => line !== 'Connection: close'), '', body].join('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return undefined;
    throw error;
  }
}
