// Connections to the API server: kept open between requests, and never used again once the credentials have changed.
import { Agent as PlainAgent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { TlsOptions } from './connection.js';
import { tunnelAgent } from './httpProxy.js';

const OPTIONS = {
  keepAlive: true,
  // A watch occupies its connection; other requests are few at a time.
  maxFreeSockets: 2,
  scheduling: 'lifo',
  // Node.js's 250 ms for each address of a server are too short across regions.
  autoSelectFamilyAttemptTimeout: 2_000,
} as const;

/** The connections of one client. */
export class Agents {
  readonly #encrypted: boolean;
  readonly #proxy: URL | undefined;
  readonly #limit: number;
  #tls: TlsOptions | undefined;
  #agent: PlainAgent | undefined;
  /** Agents that are not used again, and still have requests under way. */
  #retired: PlainAgent[] = [];

  /** `encrypted`: the server speaks TLS. `proxy`: the HTTP proxy in front of it. `limit`: time that it may take to answer, in ms. */
  constructor(encrypted: boolean, proxy: URL | undefined, limit: number) {
    this.#encrypted = encrypted;
    this.#proxy = proxy;
    this.#limit = limit;
  }

  /** The agent for these TLS options. A request through it has to carry the options, too. */
  for(tls: TlsOptions): PlainAgent {
    if (this.#agent && this.#tls === tls) return this.#agent;
    if (this.#agent) this.#retire(this.#agent);
    this.#tls = tls;
    this.#agent = this.#make();
    return this.#agent;
  }

  #make(): PlainAgent {
    if (!this.#encrypted) return new PlainAgent(OPTIONS);
    return this.#proxy ? tunnelAgent(this.#proxy, OPTIONS, this.#limit) : new TlsAgent(OPTIONS);
  }

  /** Closes every connection, including those in use. */
  close(): void {
    for (const agent of this.#retired) agent.destroy();
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  /** Requests under way are finished; no other is sent on their connections. */
  #retire(agent: PlainAgent): void {
    agent.maxFreeSockets = 0;
    for (const sockets of Object.values(agent.freeSockets))
      for (const socket of sockets ?? []) socket.destroy();
    this.#retired = [...this.#retired, agent].filter(({ sockets }) => Object.keys(sockets).length > 0);
  }
}
