// An HTTP proxy for tunnels (CONNECT) on 127.0.0.1.
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { KeyPair } from './certificates.js';

/** A running proxy. */
export interface Tunnel {
  readonly url: string;
  /** Received requests: `CONNECT 127.0.0.1:6443`, and the credentials, if any. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** Starts a proxy. With `credentials` (`user:password`), it requires them; with `tls`, it listens with TLS. */
export async function startTunnel(credentials = '', tls?: KeyPair): Promise<Tunnel> {
  const asked: string[] = [];
  const server = tls ? createTlsServer({ ...tls }) : createServer();
  server.on('connect', (request, socket) => {
    const given = request.headers['proxy-authorization']?.replace('Basic ', '') ?? '';
    const user = Buffer.from(given, 'base64').toString();
    asked.push(`CONNECT ${request.url} ${user}`.trimEnd());
    socket.on('error', () => {});
    if (user !== credentials) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const { hostname, port } = new URL(`http://${request.url}`);
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    onward.on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://${credentials ? `${credentials}@` : ''}127.0.0.1:${port}`,
    asked,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
