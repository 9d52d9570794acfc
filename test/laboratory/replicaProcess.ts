// The process of Replicas.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { serveParent } from './namespaceProcess.js';
import type { ReplicaAsk, ReplicaSays } from './replica.js';

/** Time between the two halves of a response, in ms, so that connections are in use during changes. */
const ANSWER_TAKES = 150;

interface Replica {
  readonly server: Server;
  readonly sockets: Set<Socket>;
  retiring: boolean;
}

const replicas = new Map<string, Replica>();

serveParent(async (ask: ReplicaAsk): Promise<ReplicaSays> => {
  if (ask.do === 'serve') return serve(ask.address, ask.port);
  const replica = replicas.get(ask.address) as Replica;
  if (ask.do === 'end') return end(replica, ask.patience);
  replica.retiring = true;
  return { open: replica.sockets.size };
});

async function serve(address: string, port: number): Promise<ReplicaSays> {
  // Never close idle connections.
  const server = createServer({ keepAliveTimeout: 0 }, (_, response) => answer(address, response));
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  replicas.set(address, { server, sockets, retiring: false });
  server.listen(port, address);
  await once(server, 'listening');
  return { open: 0 };
}

/** Sends its own address in two halves. While retiring, this is the last response of the connection. */
async function answer(address: string, response: ServerResponse): Promise<void> {
  if (replicas.get(address)?.retiring) response.setHeader('connection', 'close');
  response.write(`${address} `);
  await delay(ANSWER_TAKES);
  response.end(address);
}

async function end({ server, sockets }: Replica, patience: number): Promise<ReplicaSays> {
  const deadline = performance.now() + patience;
  while (sockets.size > 0 && performance.now() < deadline) await delay(20);
  const open = sockets.size;
  const closed = once(server, 'close');
  server.close();
  for (const socket of sockets) socket.destroy();
  await closed;
  return { open };
}
