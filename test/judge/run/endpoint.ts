// The process of an endpoint: answers each line of TCP and each datagram with its name and the address of the client.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { serveParent } from '../../laboratory/namespaceProcess.js';

/** To the process: where it listens, and its name. */
export interface EndpointOrders {
  readonly name: string;
  readonly port: number;
}

serveParent(async ({ name, port }: EndpointOrders): Promise<boolean> => {
  const answer = (address: string | undefined) => `${name} ${(address ?? '').replace(/^::ffff:/, '')}\n`;
  const server = createServer({ noDelay: true }, (socket) => {
    const text = answer(socket.remoteAddress);
    socket.on('data', () => socket.write(text));
    // A client may reset its connection.
    socket.on('error', () => socket.destroy());
  });
  server.listen({ port, host: '::', backlog: 1024 });
  await once(server, 'listening');
  const datagrams = createSocket('udp6');
  datagrams.on('message', (_, from) => datagrams.send(answer(from.address), from.port, from.address));
  datagrams.bind(port, '::');
  await once(datagrams, 'listening');
  return true;
});
