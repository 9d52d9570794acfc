// Faults of the tests' API server, and the responses that they damage.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type EncodedBody, encodeBody } from '../../../bench/apiServer/responses.js';
import { reset as resetPlain } from '../../../src/command/localhostPorts/relay.js';

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

/** Sends a body, or the part that the fault permits. */
export function sendDamaged(response: ServerResponse, status: number, body: string, fault: Fault): void {
  const { bytes, headers } = bodyOf(response, body, fault);
  if (!response.headersSent) response.writeHead(status, headers);
  if ('reset' in fault) {
    response.write(bytes.subarray(0, fault.reset), () => response.socket && reset(response.socket));
  } else if ('cut' in fault) {
    response.end(bytes.subarray(0, fault.cut));
  } else if ('stall' in fault) {
    response.write(bytes.subarray(0, fault.stall));
  } else if ('pieces' in fault) {
    writePieces(response, bytes, fault.pieces);
    response.end();
  } else {
    response.end(bytes);
  }
}

function bodyOf(response: ServerResponse, body: string, fault: Fault): EncodedBody {
  if (!('gzip' in fault)) return encodeBody(response, body);
  return {
    bytes: fault.gzip,
    headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
  };
}

/** Each piece is a separate HTTP chunk, and arrives separately. */
export function writePieces(response: ServerResponse, bytes: Buffer, size: number): void {
  for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size));
}

/** Resets a connection. */
export function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else resetPlain(socket);
}
