// A web server for the built pages, on this machine alone.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { Failure } from '../lib/failure.mjs';

/** @type {Readonly<Record<string, string>>} */
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

/**
 * @param {string} folder absolute
 * @param {string} base path of the site, `/` or `/NAME/`
 * @param {number} port 0: one that is free
 * @returns {Promise<{ address: string, close: () => void }>} after the server listens
 */
export async function serveSite(folder, base, port) {
  const server = createServer((request, response) => {
    void answer(folder, base, request.url ?? '/').then(({ status, type, body }) =>
      response.writeHead(status, { 'content-type': type }).end(body),
    );
  });
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Failure(`cannot serve on 127.0.0.1:${port}: ${/** @type {Error} */ (error).message}`);
  }
  const bound = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${bound.port}${base}`, close };
}

/**
 * @param {string} folder
 * @param {string} base
 * @param {string} url
 */
async function answer(folder, base, url) {
  const path = pathOf(url);
  const file = path?.startsWith(base) ? normalize(path.slice(base.length - 1)) : undefined;
  const name = file?.endsWith('/') ? `${file}index.html` : file;
  if (name !== undefined) {
    try {
      const type = TYPES[extname(name)] ?? 'application/octet-stream';
      return { status: 200, type, body: await readFile(join(folder, name)) };
    } catch (error) {
      const code = /** @type {NodeJS.ErrnoException} */ (error).code ?? '';
      if (!['ENOENT', 'ENOTDIR', 'EISDIR'].includes(code)) throw error;
    }
  }
  return {
    status: 404,
    type: TYPES['.html'] ?? '',
    body: await readFile(join(folder, '404.html')),
  };
}

/**
 * @param {string} url
 * @returns {string | undefined} its path; undefined if it is none
 */
function pathOf(url) {
  try {
    return decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return undefined;
  }
}
