// A listener of the servers, and the end of its connections, for tests.
import type { Socket } from 'node:net';
import type { Handler } from '../../../src/command/servers/handler.js';
import { type ListenAddress, listen } from '../../../src/command/servers/listen.js';
import { LIMITS, type Limits } from '../../../src/command/servers/serve.js';
import { closeAfter } from '../closeAfter.js';

/** A free port of the loopback address. */
const LOOPBACK: ListenAddress = { address: '127.0.0.1', port: 0 };

/** Opens a listener until the end of the test, and collects its failures. */
export async function openListener(handler: Handler, limits: Partial<Limits> = {}, where = LOOPBACK) {
  const failures: unknown[] = [];
  const listener = await listen(where, handler, (error) => failures.push(error), { ...LIMITS, ...limits });
  closeAfter(listener);
  return { ...listener, failures };
}

/** Resolves to the time until a socket was closed, in ms. */
export async function closing(socket: Socket): Promise<number> {
  const start = performance.now();
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
  return performance.now() - start;
}
