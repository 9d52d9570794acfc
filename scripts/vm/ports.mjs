// The host's end of the guest's output ports: QEMU connects each to a Unix socket of ours.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';

/**
 * A port of the guest, by number: the guest knows it as /dev/vport<n>p<number>.
 *
 * @typedef {{ path: string, connected: Promise<import('node:net').Socket>, close: () => void }} Port
 */

/**
 * @param {string} folder
 * @param {string} name
 * @returns {Promise<Port>}
 */
export async function openPort(folder, name) {
  const path = join(folder, name);
  const server = createServer();
  const connected = once(server, 'connection').then(([socket]) => socket);
  server.listen(path);
  await once(server, 'listening');
  return { path, connected, close: () => server.close() };
}

/**
 * Copies a port to one of our streams with back-pressure, and counts the bytes.
 *
 * @param {import('node:net').Socket} socket
 * @param {NodeJS.WritableStream} target
 * @returns {{ reached: (bytes: number) => Promise<void> }} resolves when this number of bytes has been copied
 */
export function copyPort(socket, target) {
  let copied = 0;
  let goal = Number.POSITIVE_INFINITY;
  let arrive = () => {};
  /** @type {Promise<void>} */
  const arrival = new Promise((resolve) => {
    arrive = resolve;
  });
  socket.on('data', (chunk) => {
    copied += chunk.length;
    if (copied >= goal) arrive();
  });
  socket.pipe(target, { end: false });
  return {
    reached(bytes) {
      goal = bytes;
      if (copied >= goal) arrive();
      return arrival;
    },
  };
}

/**
 * Calls back for each line of a port.
 *
 * @param {import('node:net').Socket} socket
 * @param {(line: string) => void} onLine
 */
export function readLines(socket, onLine) {
  let rest = '';
  socket.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}
