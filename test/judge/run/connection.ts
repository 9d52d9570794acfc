// A connection of TCP or a socket of UDP, with one request at a time.
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import type { Reply } from '../core/observations.js';
import { HEALTHY, UNHEALTHY } from '../core/promise.js';
import { SctpClient } from './sctp.js';
import type { DialledTarget } from './traffic.js';

const QUESTION = 'who is there?\n';
/** The question to a health-check node port. */
const PROBE = 'GET /healthz HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n';
const ANY = { 4: '0.0.0.0', 6: '::' } as const;
let sctpClient: SctpClient | undefined;

/** Source ports, above those on which a proxy listens, and below those that the kernel chooses and those of node ports. */
const PORTS = { first: 11_000, count: 18_000 };
let lastPort = 0;

/**
 * The next source port. A socket with the port of an earlier one would continue its flow, and so reach its endpoint, or none: conntrack
 * keeps an attempt of TCP to an address that no Service had for 120 s, without a translation, and the kernel's choice of ports comes back to
 * some of them in this time. No port is used twice within the time of a flow.
 */
function nextPort(): number {
  lastPort = (lastPort + 1) % PORTS.count;
  return PORTS.first + lastPort;
}

/** A connection, which is opened by its first request. */
export class Connection {
  readonly #dialled: DialledTarget;
  #tcp: Socket | undefined;
  #udp: DatagramSocket | undefined;
  #settle: ((reply: Reply) => void) | undefined;
  /** The first failure of a connection; all later requests have it. */
  #failed: Reply | undefined;
  #closed = false;

  constructor(dialled: DialledTarget) {
    this.#dialled = dialled;
  }

  /** Whether it was closed here: the result of a request that was under way says nothing. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Asks who is there; resolves within the time. */
  request(patience: number): Promise<Reply> {
    if (this.#failed) return Promise.resolve(this.#failed);
    if (this.#dialled.target.protocol === 'SCTP') return this.#requestSctp(patience);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#end({ result: 'timeout' }), patience);
      this.#settle = (reply) => {
        clearTimeout(timer);
        resolve(reply);
      };
      if (this.#dialled.target.protocol === 'TCP') this.#sendTcp();
      else this.#sendUdp();
    });
  }

  close(): void {
    this.#closed = true;
    this.#tcp?.destroy();
    this.#udp?.close();
    this.#tcp = undefined;
    this.#udp = undefined;
    this.#failed = { result: 'reset' };
    this.#end(this.#failed);
  }

  #requestSctp(patience: number): Promise<Reply> {
    const { target, from } = this.#dialled;
    sctpClient ??= new SctpClient();
    const { address, port, family } = target;
    return sctpClient.request(
      { address, port, source: from ?? ANY[family], sourcePort: nextPort() },
      patience,
    );
  }

  #sendTcp(): void {
    if (!this.#tcp) {
      const { target, from } = this.#dialled;
      const options = { host: target.address, port: target.port, localPort: nextPort(), noDelay: true };
      this.#tcp = connect({ ...options, ...(from === undefined ? {} : { localAddress: from }) });
      this.#tcp.on('data', (data: Buffer) => this.#answered(data));
      this.#tcp.on('error', (error: NodeJS.ErrnoException) => this.#fail(error));
      this.#tcp.on('close', () => {
        this.#failed ??= { result: 'reset' };
        this.#end(this.#failed);
      });
    }
    this.#tcp.write(this.#dialled.target.kind === 'healthCheck' ? PROBE : QUESTION);
  }

  #sendUdp(): void {
    if (this.#closed) return;
    const known = this.#udp;
    if (known) {
      known.send(QUESTION, (error) => error && this.#end(replyOf(error)));
      return;
    }
    const { target, from } = this.#dialled;
    const socket = createSocket(target.family === 6 ? 'udp6' : 'udp4');
    this.#udp = socket;
    socket.on('message', (data) => this.#answered(data));
    // A connected socket reports a rejection as an error, and can be used further.
    socket.on('error', (error: NodeJS.ErrnoException) => this.#end(replyOf(error)));
    socket.on('connect', () => this.#sendUdp());
    socket.bind(nextPort(), from, () => {
      if (this.#udp === socket) socket.connect(target.port, target.address);
    });
  }

  #answered(data: Buffer): void {
    if (this.#dialled.target.kind === 'healthCheck') {
      this.#end({ result: 'answered', by: statusOf(data.toString()) });
      return;
    }
    const [by, seen] = data.toString().trim().split(' ');
    this.#end({ result: 'answered', ...(by ? { by } : {}), ...(seen ? { seen } : {}) });
  }

  #fail(error: NodeJS.ErrnoException): void {
    this.#failed = replyOf(error);
    this.#end(this.#failed);
  }

  #end(reply: Reply): void {
    this.#settle?.(reply);
    this.#settle = undefined;
  }
}

/** The status of an answer of HTTP. */
function statusOf(text: string): string {
  const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1];
  return [HEALTHY, UNHEALTHY].find((one) => one === `status ${status}`) ?? text.slice(0, 40);
}

function replyOf({ code }: NodeJS.ErrnoException): Reply {
  if (code === 'ECONNREFUSED') return { result: 'refused' };
  if (code === 'ECONNRESET' || code === 'EPIPE') return { result: 'reset' };
  return { result: code === 'ETIMEDOUT' ? 'timeout' : 'unreachable' };
}
