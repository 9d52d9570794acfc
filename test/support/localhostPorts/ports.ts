// Node ports on localhost for tests: servers, clients, and the input of plans.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { NodePort } from '../../../src/command/localhostPorts/listener.js';
import {
  type LocalhostPortSettings,
  LocalhostPorts,
} from '../../../src/command/localhostPorts/localhostPorts.js';
import { LocalhostPlans } from '../../../src/command/localhostPorts/plans.js';
import { AddressPorts } from '../../../src/kernel/net/addressPorts.js';
import type { Protocol } from '../../../src/kernel/net/protocol.js';
import type { ServicePlanInput } from '../../../src/proxy/services/types.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { closeAfter } from '../closeAfter.js';

/** A server on loopback; `each` gets its connections. */
export async function serve(
  each: (socket: Socket) => void,
  { host = '127.0.0.1', port = 0 } = {},
): Promise<{ readonly port: number; readonly server: Server; readonly sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    each(socket);
  });
  server.listen({ host, port });
  await once(server, 'listening');
  closeAfter({
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  });
  return { port: (server.address() as AddressInfo).port, server, sockets };
}

/** A client of a port. */
export async function dial(port: number, host = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ host, port, allowHalfOpen: true });
  socket.on('error', () => {});
  closeAfter({ close: () => void socket.destroy() });
  await once(socket, 'connect');
  return socket;
}

/** Everything that a socket receives until its end, and whether it ended in order. */
export async function received(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (part: string) => {
    text += part;
  });
  // It may have ended before this call.
  if (socket.readableEnded || socket.closed) return text;
  await new Promise((resolve) => {
    socket.once('end', resolve);
    socket.once('close', resolve);
  });
  return text;
}

/** Whether a connection to the port is refused. */
export async function isRefused(port: number, host = '127.0.0.1'): Promise<boolean> {
  const socket = connect({ host, port });
  const code = await new Promise((resolve) => {
    socket.once('connect', () => resolve(''));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  });
  socket.destroy();
  return code === 'ECONNREFUSED';
}

/** Waits until the condition holds. */
export async function eventually(what: string, condition: () => boolean): Promise<void> {
  for (const deadline = performance.now() + PATIENCE; !condition(); await wait(10)) {
    if (performance.now() > deadline) throw new Error(`not within ${PATIENCE} ms: ${what}`);
  }
}

/** A Service with one node port. */
export interface Given {
  readonly nodePort: number;
  /** Of the cluster list: `127.0.0.1:8080`. */
  readonly endpoints: readonly string[];
  /** Of the local list; default none. */
  readonly local?: readonly string[];
  /** externalTrafficPolicy Local; default false. */
  readonly localPolicy?: boolean;
  readonly affinitySeconds?: number;
  readonly protocol?: Protocol;
  readonly family?: 4 | 6;
}

/** The input of the plan of a Service. */
export function inputOf(given: Given): ServicePlanInput {
  const { nodePort, endpoints, local = [], localPolicy = false, affinitySeconds = 0 } = given;
  const { protocol = 'tcp', family = 4 } = given;
  const frontends = [
    { kind: 'clusterIP', address: '10.96.0.1', port: 80, localPolicy: false, sourceRanges: [] },
    { kind: 'nodePort', address: '', port: nodePort, localPolicy, sourceRanges: [] },
  ];
  const clusterEndpoints = AddressPorts.ofTexts(family, endpoints);
  const localEndpoints = AddressPorts.ofTexts(family, local);
  const port = {
    family,
    portName: '',
    protocol,
    affinitySeconds,
    frontends,
    clusterEndpoints,
    localEndpoints,
  };
  return { service: 'default/web', ports: [port] } as unknown as ServicePlanInput;
}

/** Node ports with what they reported. */
export function open(settings: LocalhostPortSettings = {}, families: readonly (4 | 6)[] = [4]) {
  const told: string[] = [];
  const counts = new Map<number, number>();
  const tell = (what: string) => (port: NodePort) => void told.push(`${what} ${port.family} ${port.port}`);
  const ports = new LocalhostPorts(
    families,
    {
      opened: tell('opened'),
      closed: tell('closed'),
      refused: tell('refused'),
      failed: ({ port }, error) =>
        void told.push(`failed ${port} ${(error as NodeJS.ErrnoException).code ?? error.message}`),
      beyond: (count) => void told.push(`beyond ${count}`),
      listeners: (family, count) => void counts.set(family, count),
    },
    settings,
  );
  closeAfter({ close: () => ports.close() });
  const plans = new LocalhostPlans(families);
  const planned = (service: string, input: ServicePlanInput | undefined) => plans.planned(service, input);
  const apply = () => ports.apply(plans.take());
  const want = (service: string, given: Given | undefined) => {
    planned(service, given && inputOf(given));
    return apply();
  };
  return { ports: { planned, apply, close: () => ports.close() }, told, counts, want };
}
