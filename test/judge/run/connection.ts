// A connection of TCP or a socket of UDP, with one request at a time.
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import type { Observation } from '../core/observations.js';
import type { DialledTarget } from './traffic.js';

/** The result of a request. */
export type Reply = Pick<Observation, 'result' | 'by' | 'seen'>;

const QUESTION = 'who is there?\n';

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
    this.#tcp.write(QUESTION);
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

function replyOf({ code }: NodeJS.ErrnoException): Reply {
  if (code === 'ECONNREFUSED') return { result: 'refused' };
  if (code === 'ECONNRESET' || code === 'EPIPE') return { result: 'reset' };
  return { result: code === 'ETIMEDOUT' ? 'timeout' : 'unreachable' };
}
