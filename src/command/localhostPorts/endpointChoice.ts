// Selects the endpoint of a connection: a random one, or with session affinity the one of the connection before. Pure but for the clock
// and the random numbers, which are given.
import type { AddressPorts } from '../../kernel/net/addressPorts.js';

/** The address and port of an endpoint. */
export interface Destination {
  /** Canonical address. */
  readonly address: string;
  readonly port: number;
}

/** What a node port leads to. */
export interface Target {
  /** Not empty. */
  readonly endpoints: AddressPorts;
  /** Session affinity: the time since the last connection for which an endpoint stays selected, in s. 0: none. */
  readonly affinitySeconds: number;
}

/** The source of time and chance. */
export interface Chance {
  /** Monotonic time, in ms. */
  readonly now: () => number;
  /** A number of at least 0 and below 1. */
  readonly random: () => number;
}

/**
 * The choice of one node port. With affinity ClientIP, all clients share the selected endpoint: all have the same address. Each connection
 * prolongs it, as in kube-proxy.
 */
export class EndpointChoice {
  readonly #chance: Chance;
  #target: Target;
  /** The selected endpoint: its place in the list of that time, and the time of the last connection, in ms. */
  #selected: { readonly list: AddressPorts; readonly index: number; since: number } | undefined;

  constructor(target: Target, chance: Chance) {
    this.#target = target;
    this.#chance = chance;
  }

  /** Other endpoints for new connections. Another time of affinity ends the selection. */
  update(target: Target): void {
    if (target.affinitySeconds !== this.#target.affinitySeconds) this.#selected = undefined;
    this.#target = target;
  }

  /** The endpoint of a new connection. */
  next(): Destination {
    const { endpoints, affinitySeconds } = this.#target;
    const now = this.#chance.now();
    const selected = this.#selected;
    if (selected && now - selected.since <= affinitySeconds * 1000) {
      const index = endpoints.indexOf(selected.list, selected.index);
      if (index >= 0) {
        selected.since = now;
        return destinationAt(endpoints, index);
      }
    }
    const index = Math.floor(this.#chance.random() * endpoints.size);
    this.#selected = affinitySeconds > 0 ? { list: endpoints, index, since: now } : undefined;
    return destinationAt(endpoints, index);
  }
}

function destinationAt(list: AddressPorts, index: number): Destination {
  return { address: list.addressAt(index), port: list.portAt(index) };
}
