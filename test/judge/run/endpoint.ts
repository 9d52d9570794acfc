// The process of an endpoint: answers each line of TCP, each datagram, and connections of SCTP, with its name and the address of the client.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { serveParent } from '../../laboratory/namespaceProcess.js';
import { serveSctp } from './sctp.js';

/** To the process: where it listens, and its name. */
export interface EndpointOrders {
  readonly name: string;
  readonly port: number;
  /** Whether it answers SCTP too. */
  readonly sctp: boolean;
}

serveParent(async ({ name, port, sctp }: EndpointOrders): Promise<boolean> => {
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
  if (sctp) await serveSctp(name, port);
  return true;
});
