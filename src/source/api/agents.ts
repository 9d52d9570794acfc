// Connections to the API server: kept open between requests, and not used again once credentials have changed.
import { Agent as PlainAgent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { TlsOptions } from './connection.js';

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
  #tls: TlsOptions | undefined;
  #agent: PlainAgent | undefined;

  /** `encrypted`: the server speaks TLS. */
  constructor(encrypted: boolean) {
    this.#encrypted = encrypted;
  }

  /** Those to use with these credentials. */
  for(tls: TlsOptions): PlainAgent {
    if (this.#agent && this.#tls === tls) return this.#agent;
    if (this.#agent) retire(this.#agent);
    this.#tls = tls;
    this.#agent = this.#encrypted ? new TlsAgent({ ...OPTIONS, ...tls }) : new PlainAgent(OPTIONS);
    return this.#agent;
  }

  /** Closes every connection, those in use too. */
  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }
}

/** Requests under way end as they would have; no other comes after them on their connections. */
function retire(agent: PlainAgent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}
