// What the API server of the tests sends: bodies, whole or as a fault leaves them, and Status objects.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { constants, gzipSync } from 'node:zlib';

/** Something that goes wrong with one request. */
export type Fault =
  /** An error instead of the answer, `after` so many ms. */
  | {
      readonly status: number;
      readonly reason?: string;
      readonly retryAfter?: number;
      readonly after?: number;
    }
  /** The connection is reset after so many bytes of the body, or of a watch's first event. */
  | { readonly reset: number }
  /** The body, or a watch's first event, ends in good order after so many bytes. */
  | { readonly cut: number }
  /** A watch: this is sent at its start. */
  | { readonly garbage: string }
  /** The body comes in pieces of so many bytes. */
  | { readonly pieces: number }
  /** Nothing comes after so many bytes of the body. */
  | { readonly stall: number }
  /** This is sent as a body compressed by gzip. */
  | { readonly gzip: Buffer }
  /** The connection is reset instead of an answer. */
  | { readonly hangUp: true }
  /** A list: this is sent as its items. */
  | { readonly items: readonly unknown[] }
  /** Nothing is ever answered. */
  | { readonly silent: true };

/** Bodies from this size on are compressed for clients that take it; kube-apiserver's. */
const COMPRESSED_FROM = 128 * 1024;

/** Sends a body, or as much of it as the fault lets through. */
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

/** Each piece is a chunk of HTTP, and comes to a reader by itself. */
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

/** What a server answers whose newest version is older than the one asked for: NewTooLargeResourceVersionError. */
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
