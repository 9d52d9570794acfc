// The body of an answer, piece by piece, as it was before it was compressed.
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ApiError, asApiError } from './error.js';

/**
 * The pieces of an answer, unpacked, until it ends. Pieces are unpacked as they are read, so that no body, however well it
 * is compressed, takes more memory than its reader keeps. `idle`: time to wait for the next piece, in ms. Throws an
 * ApiError.
 */
export async function* piecesOf(
  response: IncomingMessage,
  what: string,
  idle: () => number,
): AsyncGenerator<Buffer, void> {
  const giveUp = (after: number) => {
    response.destroy(new ApiError({ code: 'ERR_TIMEOUT', operation: what, said: `no data for ${after} ms` }));
  };
  const start = () => {
    const after = Math.round(idle());
    return setTimeout(giveUp, after, after);
  };
  let timer = start();
  try {
    for await (const chunk of unpacked(response, what)) {
      clearTimeout(timer);
      yield chunk as Buffer;
      timer = start();
    }
  } catch (error) {
    throw asApiError(error, what);
  } finally {
    clearTimeout(timer);
  }
}

/** The body as it was before it was compressed. */
function unpacked(response: IncomingMessage, what: string): AsyncIterable<unknown> {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return response;
  if (encoding !== 'gzip') {
    response.destroy();
    throw new ApiError({
      code: 'ERR_MALFORMED',
      operation: what,
      said: `the body is encoded as ${encoding}`,
    });
  }
  return gunzip(response, what);
}

async function* gunzip(response: IncomingMessage, what: string): AsyncGenerator<unknown, void> {
  const unpacker = createGunzip();
  // Every error of the pipeline is thrown to the reader of the unpacker.
  pipeline(response, unpacker, () => {});
  try {
    yield* unpacker;
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (!String(code).startsWith('Z_')) throw error;
    throw new ApiError({ code: 'ERR_MALFORMED', operation: what, said: `gzip: ${message}` });
  }
}
