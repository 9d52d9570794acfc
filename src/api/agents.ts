// Connections to the API server: kept open between requests, and not used again once credentials have changed.
import { Agent as PlainAgent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { TlsOptions } from './connection.js';
import { TunnelAgent } from './httpProxy.js';

const OPTIONS = {
  keepAlive: true,
  // A watch holds its connection; beside watches there are few requests at a time.
  maxFreeSockets: 2,
  scheduling: 'lifo',
  // Node's 250 ms for each address of a server are too short across regions.
  autoSelectFamilyAttemptTimeout: 2_000,
} as const;

/** The connections of one client. */
export class Agents {
  readonly #encrypted: boolean;
  readonly #proxy: URL | undefined;
  #tls: TlsOptions | undefined;
  #agent: PlainAgent | undefined;
  /** Those that are not to be used again, and still have requests under way. */
  #retired: PlainAgent[] = [];

  /** `encrypted`: the server speaks TLS. `proxy`: the HTTP proxy to go through. */
  constructor(encrypted: boolean, proxy: URL | undefined) {
    this.#encrypted = encrypted;
    this.#proxy = proxy;
  }

  /** Those to use with these credentials. */
  for(tls: TlsOptions): PlainAgent {
    if (this.#agent && this.#tls === tls) return this.#agent;
    if (this.#agent) this.#retire(this.#agent);
    this.#tls = tls;
    this.#agent = this.#make(tls);
    return this.#agent;
  }

  #make(tls: TlsOptions): PlainAgent {
    if (!this.#encrypted) return new PlainAgent(OPTIONS);
    const options = { ...OPTIONS, ...tls };
    return this.#proxy ? new TunnelAgent(this.#proxy, options) : new TlsAgent(options);
  }

  /** Closes every connection, those in use too. */
  close(): void {
    for (const agent of this.#retired) agent.destroy();
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  /** Requests under way end as they would have; no other comes after them on their connections. */
  #retire(agent: PlainAgent): void {
    agent.maxFreeSockets = 0;
    for (const sockets of Object.values(agent.freeSockets))
      for (const socket of sockets ?? []) socket.destroy();
    this.#retired = [...this.#retired, agent].filter(({ sockets }) => Object.keys(sockets).length > 0);
  }
}
