// Ports of TCP for tests that need the number before they listen.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that Linux gives to clients, and to servers that ask for any (`net.ipv4.ip_local_port_range`): they take none meanwhile. */
const [FIRST, LAST] = [10_000, 30_000] as const;

/** A port on which nothing listens now. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const server = createServer();
    const port = randomInt(FIRST, LAST);
    try {
      await once(server.listen({ host, port }), 'listening');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue;
      throw error;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
