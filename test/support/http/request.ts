// Sends requests over a plain socket, so that a test sees every byte of the response.
import { connect, type Socket } from 'node:net';

/** Opens a connection to a listener. */
export function dial(port: number, host = '127.0.0.1'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** The unmodified response. */
export interface Raw {
  /** `HTTP/1.1 200 OK`. */
  readonly status: string;
  /** In the order of the response, without Date. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Sends a request with these lines, and reads until the connection is closed. */
export async function ask(port: number, request = 'GET / HTTP/1.1', body = '', host?: string): Promise<Raw> {
  const socket = await dial(port, host);
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  socket.write(`${request}\r\nHost: test\r\nConnection: close\r\n${length}\r\n${body}`);
  return parse(await readAll(socket));
}

/** The data that a socket receives until it is closed. */
export async function readAll(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of socket as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

/** Splits a response. */
export function parse(text: string): Raw {
  const end = text.indexOf('\r\n\r\n');
  const [status = '', ...headers] = text.slice(0, end).split('\r\n');
  return { status, headers: headers.filter((line) => !line.startsWith('Date:')), body: text.slice(end + 4) };
}
