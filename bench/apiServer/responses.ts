// Responses of the API server: bodies, and Status objects (meta/v1).
import type { ServerResponse } from 'node:http';
import { constants, gzipSync } from 'node:zlib';

/** Minimum size of a body that is compressed for clients that accept it, in bytes, as in kube-apiserver. */
const COMPRESSED_FROM = 128 * 1024;

/** A body as it is sent, with its headers. */
export interface EncodedBody {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** A body of JSON, compressed if it is long and the client of the response accepts gzip. */
export function encodeBody(response: ServerResponse, body: string): EncodedBody {
  const bytes = Buffer.from(body);
  const headers = { 'Content-Type': 'application/json' };
  const accepted = String(response.req.headers['accept-encoding'] ?? '');
  if (!accepted.includes('gzip') || bytes.length < COMPRESSED_FROM) return { bytes, headers };
  return {
    bytes: gzipSync(bytes, { level: constants.Z_BEST_SPEED }),
    headers: { ...headers, 'Content-Encoding': 'gzip' },
  };
}

/** Sends an error. */
export function sendStatus(response: ServerResponse, code: number, reason = '', retryAfter?: number): void {
  response.writeHead(code, {
    'Content-Type': 'application/json',
    ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
  });
  response.end(JSON.stringify(statusObject(code, reason)));
}

/** What kube-apiserver says with a status, without names. */
const MESSAGES: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'the request is forbidden',
  404: 'the server could not find the requested resource',
  410: 'too old resource version',
  429: 'Too many requests, please try again later.',
  500: 'an error on the server has prevented the request from succeeding',
};

/** A Status object (meta/v1). */
export function statusObject(code: number, reason: string, more: object = {}): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: MESSAGES[code] ?? 'the server rejected the request',
    reason,
    code,
    ...more,
  };
}

/** The response to a resourceVersion newer than the server's newest: NewTooLargeResourceVersionError. */
export function sendTooLarge(
  response: ServerResponse,
  { asked, current, retryAfter }: { asked: number; current: number; retryAfter: number },
): void {
  const status = statusObject(504, 'Timeout', {
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: retryAfter,
    },
  });
  const header = retryAfter > 0 ? { 'Retry-After': `${retryAfter}` } : {};
  response.writeHead(504, { 'Content-Type': 'application/json', ...header });
  response.end(JSON.stringify(status));
}
