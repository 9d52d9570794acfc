// Responses of the tests' API server: complete bodies, bodies damaged by a fault, and Status objects.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { constants, gzipSync } from 'node:zlib';

/** A fault of one request. */
export type Fault =
  /** An error instead of the response; `after` is its delay, in ms. */
  | {
      readonly status: number;
      readonly reason?: string;
      readonly retryAfter?: number;
      readonly after?: number;
    }
  /** The connection is reset after this number of bytes of the body, or of a watch's first event. */
  | { readonly reset: number }
  /** The body, or a watch's first event, ends without an error after this number of bytes. */
  | { readonly cut: number }
  /** A watch: this is sent at its start. */
  | { readonly garbage: string }
  /** The body is sent in pieces of this number of bytes. */
  | { readonly pieces: number }
  /** Nothing is sent after this number of bytes of the body. */
  | { readonly stall: number }
  /** This is sent as a body compressed by gzip. */
  | { readonly gzip: Buffer }
  /** The connection is reset without a response. */
  | { readonly hangUp: true }
  /** A list: this is sent as its items. */
  | { readonly items: readonly unknown[] }
  /** There is no response. */
  | { readonly silent: true };

/** Minimum size of a body that is compressed for clients that accept it, in bytes, as in kube-apiserver. */
const COMPRESSED_FROM = 128 * 1024;

/** Sends a body, or the part that the fault permits. */
export function send(response: ServerResponse, status: number, body: string, fault: Fault | undefined): void {
  let bytes: Buffer = Buffer.from(body);
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  const accepted = String(response.req.headers['accept-encoding'] ?? '');
  if (fault && 'gzip' in fault) {
    bytes = fault.gzip;
    headers['Content-Encoding'] = 'gzip';
  } else if (accepted.includes('gzip') && bytes.length >= COMPRESSED_FROM) {
    bytes = gzipSync(bytes, { level: constants.Z_BEST_SPEED });
    headers['Content-Encoding'] = 'gzip';
  }
  if (!response.headersSent) response.writeHead(status, headers);
  if (fault && 'reset' in fault) {
    response.write(bytes.subarray(0, fault.reset), () => response.socket && reset(response.socket));
  } else if (fault && 'cut' in fault) {
    response.end(bytes.subarray(0, fault.cut));
  } else if (fault && 'stall' in fault) {
    response.write(bytes.subarray(0, fault.stall));
  } else if (fault && 'pieces' in fault) {
    writePieces(response, bytes, fault.pieces);
    response.end();
  } else {
    response.end(bytes);
  }
}

/** Each piece is a separate HTTP chunk, and arrives separately. */
export function writePieces(response: ServerResponse, bytes: Buffer, size: number): void {
  for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size));
}

/** Resets a connection. */
export function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Sends an error. */
export function sendStatus(response: ServerResponse, code: number, reason = '', retryAfter?: number): void {
  response.writeHead(code, retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) });
  response.end(JSON.stringify(statusObject(code, reason)));
}

/** A Status object (meta/v1). */
export function statusObject(code: number, reason: string, more: object = {}): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: `refused with ${code}`,
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
