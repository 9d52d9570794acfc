// The process of a Crowd.
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { CrowdAsk, CrowdOrders, CrowdReport } from './crowd.js';
import { serveParent } from './namespaceProcess.js';
import { PATIENCE } from './patience.js';

/** Pause of a client after a request, as a multiple of the request's duration, to not overload a slow machine. */
const REST = 2.5;

class Clients {
  readonly #orders: CrowdOrders;
  readonly #began = performance.now();
  readonly #answers: Record<string, number> = {};
  readonly #failures: string[] = [];
  #requests = 0;
  #stopping = false;
  #all: Promise<unknown> = Promise.resolve();

  constructor(orders: CrowdOrders) {
    this.#orders = orders;
  }

  /** Resolves when each client has its first response. */
  async start(): Promise<void> {
    const { keepAlive, short } = this.#orders;
    const firsts: Promise<void>[] = [];
    const all = Array.from({ length: keepAlive + short }, (_, i) => {
      return new Promise<void>((ended) => {
        firsts.push(new Promise((first) => this.#run(i < keepAlive, first).then(ended)));
      });
    });
    this.#all = Promise.all(all);
    await Promise.all(firsts);
  }

  async stop(): Promise<CrowdReport> {
    this.#stopping = true;
    await this.#all;
    return this.report;
  }

  get report(): CrowdReport {
    return { requests: this.#requests, failures: this.#failures, answers: this.#answers };
  }

  async #run(keeps: boolean, first: () => void): Promise<void> {
    const { perConnection = Number.POSITIVE_INFINITY, pause = 0 } = this.#orders;
    let agent = keeps && keptConnection();
    for (let sent = 1; !this.#stopping; sent++) {
      const began = performance.now();
      await this.#request(agent);
      first();
      if (agent && sent % perConnection === 0) {
        agent.destroy();
        agent = keptConnection();
      }
      if (!this.#stopping) await delay(Math.max(pause, REST * (performance.now() - began)));
    }
    if (agent) agent.destroy();
  }

  async #request(agent: Agent | false): Promise<void> {
    const began = performance.now();
    this.#requests += 1;
    try {
      const by = await ask(this.#orders, agent);
      this.#answers[by] = (this.#answers[by] ?? 0) + 1;
    } catch (error) {
      const { code, message } = error as Error & { code?: unknown };
      const at = (began - this.#began).toFixed(0);
      const took = (performance.now() - began).toFixed(0);
      const kind = agent ? 'a kept connection' : 'a connection of its own';
      this.#failures.push(`at ${at} ms, over ${kind}, after ${took} ms: ${code ?? message}`);
    }
  }
}

/** Local ports of connections for one request, below those that the kernel chooses (net.ipv4.ip_local_port_range). */
const [FIRST_PORT, PORTS] = [1024, 31_744];

let nextPort = Math.floor(Math.random() * PORTS);

/**
 * A local port that was not used for long. When IPVS forgets a connection, 2 minutes after its end, the kernel deletes the flow of the same
 * addresses and ports (`ip_vs_conn_drop_conntrack`), even if another connection has it meanwhile, which a rule translates.
 */
function freshPort(): number {
  nextPort = (nextPort + 1) % PORTS;
  return FIRST_PORT + nextPort;
}

const keptConnection = () => new Agent({ keepAlive: true, maxSockets: 1 });

/** The server that responded. A response is the server's address twice; half a response is an error. */
async function ask(
  { address, port, patience = PATIENCE }: CrowdOrders,
  agent: Agent | false,
): Promise<string> {
  const options = { host: address, port, agent, signal: AbortSignal.timeout(patience) };
  const request = get(agent ? options : { ...options, localPort: freshPort() });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const text = (await response.setEncoding('utf8').toArray()).join('');
  const [by, again] = text.split(' ');
  if (!by || by !== again) throw new Error(`invalid response ${JSON.stringify(text)}`);
  return by;
}

let clients: Clients | undefined;

serveParent(async (asked: CrowdAsk): Promise<CrowdReport | undefined> => {
  if (asked === 'stop') return clients?.stop();
  if (asked === 'report') return clients?.report;
  clients = new Clients(asked);
  await clients.start();
  return undefined;
});
