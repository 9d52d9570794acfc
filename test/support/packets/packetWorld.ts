// The lab of the packet tests with the running proxy, and the packets of its clients.
import { isDeepStrictEqual } from 'node:util';
import type { Explanation, PacketQuestion } from '../../../src/command/explain/explanation.js';
import { type Lab, openLab } from '../../laboratory/lab.js';
import { type Dial, LabHost, type Outcome } from '../../laboratory/labHost.js';
import { ManifestFolder } from '../../laboratory/manifestFolder.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { CLIENT, NODE_A, type Place, type Pod, SHELL } from '../../laboratory/places.js';
import { ProxyProcess } from '../../laboratory/proxyProcess.js';
import { closeAfter } from '../closeAfter.js';
import { Explainer } from './explainer.js';
import {
  addressOf,
  dialledAt,
  dialledFrom,
  ELSEWHERE,
  ENDPOINT_PORT,
  FAMILIES,
  type Family,
  HERE,
  makeRouter,
  PLACES,
  packetManifest,
  routeVirtualIPs,
  sourceAddress,
  THERE,
} from './packetLab.js';
import type { PacketMode } from './packetModes.js';
import type { Client, Frontend, Kind, Row, ServiceName } from './packetTable.js';

/** Time without a reply after which the packet counts as dropped, in ms. */
export const SILENCE = 3000;
/** A port of the node that belongs to no Service. */
export const HOST_PORT = 9100;
/** Pairs of connections after which rules of chance have selected each of two endpoints: 1 of 8 million does not. */
const PAIRS = 12;

const PROTOCOLS = ['tcp', 'udp'] as const;
type Protocol = (typeof PROTOCOLS)[number];

/** A connection. */
export interface Target {
  readonly client: Client;
  readonly family: Family;
  readonly protocol: Protocol;
  readonly address: string;
  readonly port: number;
}

/** The running lab. */
export class PacketWorld {
  readonly lab: Lab;
  readonly manifests: ManifestFolder;
  readonly proxy: ProxyProcess;
  readonly #mode: PacketMode;
  readonly #hosts = new Map<Place, LabHost>();
  #explainer: Explainer | undefined;

  private constructor(mode: PacketMode) {
    this.#mode = mode;
    this.lab = closeAfter(openLab([SHELL, HERE, THERE, ELSEWHERE]));
    routeVirtualIPs(this.lab);
    if (mode.name !== 'ipvs') makeRouter(this.lab);
    this.manifests = closeAfter(new ManifestFolder());
    this.manifests.write('packets.yaml', packetManifest());
    const namespace = this.lab.namespace(NODE_A);
    this.proxy = closeAfter(
      new ProxyProcess(namespace, this.manifests.path, ['--proxy-mode', mode.name, ...(mode.flags ?? [])]),
    );
  }

  /** Opens it; resolves when the proxy has programmed the Services. */
  static async open(mode: PacketMode): Promise<PacketWorld> {
    const world = new PacketWorld(mode);
    await world.#start();
    return world;
  }

  async #start(): Promise<void> {
    await Promise.all(
      [CLIENT, NODE_A, SHELL, HERE, THERE, ELSEWHERE].map(async (place) => {
        this.#hosts.set(place, closeAfter(await LabHost.open(this.lab.namespace(place))));
      }),
    );
    for (const pod of [HERE, THERE]) {
      await this.host(pod).serve(pod.name, { tcp: [ENDPOINT_PORT], udp: [ENDPOINT_PORT] });
    }
    await this.host(NODE_A).serve('the node itself', { tcp: [HOST_PORT], udp: [HOST_PORT] });
    this.#explainer = closeAfter(await Explainer.open(this.lab.namespace(NODE_A), this.#mode.explained));
    const { failures } = await this.proxy.programmed();
    if (failures !== 0) throw new Error(`${failures} operations of the proxy failed`);
  }

  /** Maximum number of pairs of connections; a silent pair is repeated once with more time. */
  #pairs(silent: boolean): number {
    if (this.#mode.random) return PAIRS;
    return silent ? 2 : 1;
  }

  host(place: Place): LabHost {
    return this.#hosts.get(place) as LabHost;
  }

  /** @param size length of the request and of the response, in bytes; default: short ones */
  dial(
    { client, family, protocol, address, port }: Target,
    patience = PATIENCE,
    size?: number,
  ): Promise<Outcome> {
    const options: Partial<Dial> = { patience, size, from: dialledFrom(client, family) };
    const from = this.host(PLACES[client]);
    return protocol === 'tcp' ? from.dial(address, port, options) : from.dialUdp(address, port, options);
  }

  /** The explanations of connections, in order. */
  async explain(all: readonly Target[]): Promise<Explanation[]> {
    return (await this.#explainer?.explain(all.map(questionOf))) ?? [];
  }

  /**
   * The outcomes of two connections to each target of a row. A scheduler alternates, and no other client connects meanwhile:
   * two connections reach both real servers. Rules of chance are asked until each endpoint was selected.
   * The timeout is longer if a reply is expected, because the machine may be busy.
   */
  results(row: Row, { service, kind }: Frontend): Promise<Record<string, string[]>> {
    const silent = row.includes('lost') || row.includes('dropped');
    return each(targets(row[0], service, kind), async (target) => {
      const want = expectedFates(row, target);
      const ask = async (patience: number) => {
        const outcomes = await Promise.all([this.dial(target, patience), this.dial(target, patience)]);
        return outcomes.map(resultOf).sort();
      };
      let found = await ask(silent ? SILENCE : PATIENCE);
      const seen = new Set(found);
      for (let pairs = 1; pairs < this.#pairs(silent) && !isDeepStrictEqual(found, want); pairs++) {
        const again = await ask(silent && this.#mode.random ? SILENCE : PATIENCE);
        for (const outcome of again) seen.add(outcome);
        found = this.#mode.random ? pairOf(seen) : again;
      }
      return found;
    });
  }
}

/** The outcomes of two endpoints, or twice that of one. */
function pairOf(seen: ReadonlySet<string>): string[] {
  return seen.size === 1 ? [...seen, ...seen] : [...seen].sort();
}

const NO_ANSWER = 'no answer';

/** The question to `explain` about a connection. */
function questionOf({ client, family, protocol, address, port }: Target): PacketQuestion {
  const from =
    client === 'node' ? 'node' : (dialledFrom(client, family) ?? addressOf(PLACES[client], family));
  return { address, port, protocol, from };
}

/** Every family and protocol of connections to a frontend. */
export function targets(client: Client, service: ServiceName, kind: Kind): Target[] {
  return FAMILIES.flatMap((family) =>
    PROTOCOLS.map((protocol) => ({ client, family, protocol, ...dialledAt(service, kind, family) })),
  );
}

/** `TCP over IPv4`. */
export const nameOf = ({ family, protocol }: Target) => `${protocol.toUpperCase()} over IPv${family}`;

/** `web-0 sees 10.244.1.1`, or the error. */
export function resultOf(outcome: Outcome): string {
  return 'by' in outcome ? `${outcome.by} sees ${outcome.sees}` : outcome.error;
}

/** The results by name of the target; all are tried in parallel. */
export async function each<Result>(
  all: readonly Target[],
  run: (target: Target) => Promise<Result>,
): Promise<Record<string, Result>> {
  const results = await Promise.all(all.map(async (target) => [nameOf(target), await run(target)] as const));
  return Object.fromEntries(results);
}

/** The expected outcomes of the two connections to a target. */
export function expectedFates([client, here, there]: Row, { family, address }: Target): string[] {
  const resultOf = (seen: Row[1], endpoint: Pod) => {
    if (seen === 'lost' || seen === 'dropped') return NO_ANSWER;
    if (seen === 'refused') return 'ECONNREFUSED';
    if (seen === 'none') return undefined;
    return `${endpoint.name} sees ${sourceAddress(seen, client, endpoint, address, family)}`;
  };
  const chosen = [resultOf(here, HERE), resultOf(there, THERE)].flatMap((text) => text ?? []);
  return chosen.length === 1 ? [...chosen, ...chosen] : chosen.sort();
}
