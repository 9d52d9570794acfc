// The process of a LabHost: a server and client in its network namespace, controlled by its parent.
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, request as post } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Answer, Ask, Dial, Outcome, Reset, Serve } from './labHost.js';
import { serveParent } from './namespaceProcess.js';
import { PATIENCE } from './patience.js';

serveParent(async (ask: Ask): Promise<Outcome | undefined> => {
  if (ask.do === 'dial') return dial(ask);
  if (ask.do === 'serve') await serve(ask);
  else if (ask.do === 'serveAt') {
    for (const { protocol, address, port } of ask.sockets) {
      const name = `${address} ${port}`;
      await (protocol === 'tcp' ? serveHttp(name, port, address) : serveUdp(name, port, address));
    }
  } else reset(ask);
  return undefined;
});

/** Responds with the server's name and the client's address, and with as many bytes as were sent. */
async function serve({ name, tcp, udp }: Serve): Promise<void> {
  for (const port of tcp) await serveHttp(name, port, '::');
  for (const port of udp) await serveUdp(name, port, '::');
}

async function serveHttp(name: string, port: number, address: string): Promise<void> {
  // Never close idle connections.
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const { length } = (await request.setEncoding('utf8').toArray()).join('');
    response.end(`${answer(name, request.socket.remoteAddress, length)}\n`);
  });
  server.listen(port, address);
  await once(server, 'listening');
}

async function serveUdp(name: string, port: number, address: string): Promise<void> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', ({ length }, { address, port }: RemoteInfo) =>
    socket.send(answer(name, address, length), port, address),
  );
  socket.bind(port, address);
  await once(socket, 'listening');
}

function answer(name: string, address: string | undefined, length: number): string {
  const told: Answer = { by: name, sees: (address ?? '').replace(/^::ffff:/, '') };
  return JSON.stringify(told).padEnd(length);
}

/** Ignores an error after the response. */
const LATER = () => {};

/** Keeps the open connection. A test sees its end with its next request: no probe of the kernel meets it before (by default after 1 s). */
const KEPT = new Agent({ keepAlive: true, keepAliveMsecs: PATIENCE, maxSockets: 1 });

/** Without `keep`, each request has a new connection: IPVS schedules only new connections. */
async function dial(ask: Dial): Promise<Outcome> {
  const started = performance.now();
  const signal = AbortSignal.timeout(ask.patience);
  const told = ask.protocol === 'http' ? askHttp(ask, signal) : askUdp(ask, signal);
  const answer = await told.catch((error: Error & { code?: unknown }) => ({
    error: signal.aborted ? 'no answer' : String(error.code ?? error.message),
  }));
  return { ...answer, milliseconds: performance.now() - started };
}

async function askHttp({ address, port, from, keep, size }: Dial, signal: AbortSignal): Promise<Answer> {
  const agent = keep ? KEPT : false;
  const options = { host: address, port, agent, signal, ...(from ? { localAddress: from } : {}) };
  const request = size === undefined ? get(options) : post({ ...options, method: 'POST' });
  request.on('error', LATER);
  if (size !== undefined) request.end('?'.repeat(size));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const text = (await response.setEncoding('utf8').toArray()).join('');
  return {
    ...(JSON.parse(text) as Answer),
    ...(keep ? { kept: request.reusedSocket } : {}),
    ...(size === undefined ? {} : { size: text.length }),
  };
}

function reset({ address, port }: Reset): void {
  const [socket] = KEPT.freeSockets[KEPT.getName({ host: address, port })] ?? [];
  if (!socket) throw new Error(`no open connection with ${address}, port ${port}`);
  socket.resetAndDestroy();
}

async function askUdp({ address, port, from, size }: Dial, signal: AbortSignal): Promise<Answer> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  try {
    socket.on('error', LATER);
    if (from) {
      socket.bind(0, from);
      await once(socket, 'listening', { signal });
    }
    // A connected socket reports a rejection as an error.
    socket.connect(port, address);
    await once(socket, 'connect', { signal });
    socket.send('?'.repeat(size ?? 1));
    const [message] = (await once(socket, 'message', { signal })) as [Buffer];
    return {
      ...(JSON.parse(message.toString()) as Answer),
      ...(size === undefined ? {} : { size: message.length }),
    };
  } finally {
    socket.close();
  }
}
