// A recorded cluster with real endpoints and clients, programmed with one kind of rules.
import { fileURLToPath } from 'node:url';
import type { IpvsOptions } from '../../../src/proxy/modes/ipvs/index.js';
import { LabHost, type Outcome } from '../../laboratory/labHost.js';
import { NamespaceProcess } from '../../laboratory/namespaceProcess.js';
import { CLIENT_ADDRESSES, openNetwork, PLACES, placeOf, type RecordedNetwork } from './network.js';
import type { ProgramAsk } from './nodeProcess.js';
import { CLIENTS, type Client, type Endpoint, type Frontend } from './requests.js';

const NODE = fileURLToPath(new URL('./nodeProcess.js', import.meta.url));

/** Times of requests, in ms. */
export interface Patience {
  /** After it, a request has no answer. */
  readonly answer: number;
  /** After it, the next client dials: only a packet that is dropped, or refused over IPv6, takes long. */
  readonly next: number;
}

/** What happened to the requests of each client to a frontend. */
export type Outcomes = Readonly<Partial<Record<Client, string>>>;

/** The lab of one kind of rules. */
export class RecordedLab {
  readonly #rules: IpvsOptions['rules'];
  readonly #network: RecordedNetwork;
  readonly #node: NamespaceProcess<ProgramAsk, string[]>;
  readonly #hosts: ReadonlyMap<string, LabHost>;

  private constructor(
    rules: IpvsOptions['rules'],
    network: RecordedNetwork,
    node: NamespaceProcess<ProgramAsk, string[]>,
    hosts: ReadonlyMap<string, LabHost>,
  ) {
    this.#rules = rules;
    this.#network = network;
    this.#node = node;
    this.#hosts = hosts;
  }

  /** @param own the addresses of the node */
  static async open(
    rules: IpvsOptions['rules'],
    endpoints: readonly Endpoint[],
    own: ReadonlySet<string>,
  ): Promise<RecordedLab> {
    const network = openNetwork(rules, endpoints, own);
    const hosts = new Map<string, LabHost>();
    for (const place of PLACES) {
      const host = await LabHost.open(network.namespace(place));
      hosts.set(place, host);
      await host.serveAt(endpoints.filter((endpoint) => placeOf(endpoint, own) === place));
    }
    const node = await NamespaceProcess.open<ProgramAsk, string[]>(network.namespace('node'), NODE);
    return new RecordedLab(rules, network, node, hosts);
  }

  /** Programs a step; resolves to the messages of operations that failed. */
  program(name: string, step: number): Promise<string[]> {
    return this.#node.ask({ rules: this.#rules, name, step });
  }

  /** The requests of all clients to a frontend, one after the other: IPVS schedules them in this order. */
  async outcomes(frontend: Frontend, { answer, next }: Patience): Promise<Outcomes> {
    const found: [Client, Promise<string>][] = [];
    for (const client of CLIENTS) {
      if (client === 'own endpoint' && frontend.own === undefined) continue;
      const outcome = this.#dial(client, frontend, answer);
      found.push([client, outcome]);
      await Promise.race([outcome, new Promise((resolve) => setTimeout(resolve, next))]);
    }
    const entries = await Promise.all(found.map(async ([client, outcome]) => [client, await outcome]));
    return Object.fromEntries(entries);
  }

  async close(): Promise<void> {
    await this.#node.close();
    for (const host of this.#hosts.values()) await host.close();
    this.#network.close();
  }

  async #dial(client: Client, { address, port, protocol, own }: Frontend, patience: number): Promise<string> {
    const place = PLACE_OF[client];
    const from = client === 'node' ? undefined : client === 'own endpoint' ? own : addressOf(client, address);
    const host = this.#hosts.get(place);
    if (!host) throw new Error(`there is no host ${place}`);
    const options = { from, patience };
    const outcome = await (protocol === 'udp'
      ? host.dialUdp(address, port, options)
      : host.dial(address, port, options));
    return textOf(outcome);
  }
}

const PLACE_OF = {
  'pod here': 'here',
  'own endpoint': 'here',
  'pod elsewhere': 'there',
  outside: 'outside',
  node: 'node',
} as const satisfies Record<Client, string>;

function addressOf(client: keyof typeof CLIENT_ADDRESSES, to: string): string {
  const [ipv4, ipv6] = CLIENT_ADDRESSES[client];
  return to.includes(':') ? ipv6 : ipv4;
}

/** The verdict, the endpoint, and the source address that it sees. */
function textOf(outcome: Outcome): string {
  return 'error' in outcome ? outcome.error : `${outcome.by} sees ${outcome.sees}`;
}
