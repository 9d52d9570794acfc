// Which links of the fake have a carrier, and their state.
import type { Link, LinkFlag, OperationalState, TunnelKind } from '../../rtnetlink/types.js';

/** A link that can be changed. */
export type Held = { -readonly [Name in keyof Link]: Link[Name] };

/** Links by their names. */
type Links = ReadonlyMap<string, Held>;

/** Kinds that are above another link, and have its carrier. */
const UPPER: ReadonlySet<string> = new Set(['vlan', 'macvlan', 'macvtap', 'ipvlan', 'ipvtap']);
/** The kinds of tunnels of IP. */
export const TUNNEL_KINDS: readonly TunnelKind[] = [
  'gre',
  'gretap',
  'ip6gre',
  'ip6gretap',
  'ip6tnl',
  'ipip',
  'sit',
];
/** Kinds whose carrier never changes: the kernel does not find out their state. */
const WITHOUT_STATE: ReadonlySet<string> = new Set([
  ...['', 'dummy', 'ifb', 'vxlan', 'geneve', 'wireguard'],
  ...TUNNEL_KINDS,
]);
/** BR_STATE_ of a port. */
const DISABLED = 0;
const LISTENING = 1;
const FORWARDING = 3;

/**
 * Gives every link the carrier, the flags and the state that it has with the others as they are. Returns those that are
 * different.
 */
export function updateCarriers(links: Links): Held[] {
  const changed = new Set<Held>();
  // A link above another one has its carrier: as many rounds as links are above one another.
  for (let found = true; found; ) {
    found = false;
    for (const held of links.values()) {
      if (!update(held, links)) continue;
      changed.add(held);
      found = true;
    }
  }
  return [...changed];
}

function update(held: Held, links: Links): boolean {
  const carrier = held.up && hasCarrier(held, links);
  const state = stateOf(held, carrier);
  const flags: LinkFlag[] = held.flags.filter((flag) => flag !== 'running' && flag !== 'lower_up');
  if (carrier) flags.push('running', 'lower_up');
  const port = portState(held, carrier, links);
  const isSame = sameFlags(flags, held.flags) && state === held.state && port === held.bridgePort?.state;
  if (isSame) return false;
  held.flags = flags;
  held.state = state;
  if (port !== undefined) held.bridgePort = { ...held.bridgePort, state: port };
  return true;
}

function hasCarrier(held: Held, links: Links): boolean {
  switch (held.kind) {
    case 'netkit':
    case 'veth':
      // The other end may be in another network namespace: it is up there.
      return links.get(held.link ?? '')?.up ?? true;
    case 'bridge':
      if (!selects(held, links)) return true;
      return [...links.values()].some(
        ({ master, bridgePort }) => master === held.name && bridgePort?.state === FORWARDING,
      );
    case 'bond':
      return [...links.values()].some(
        ({ master, flags }) => master === held.name && flags.includes('running'),
      );
    default:
      return !UPPER.has(held.kind) || isRunning(links.get(held.link ?? ''));
  }
}

/** The bridges that have selected the states of ports. */
const selected = new WeakSet<Held>();

/** Whether a bridge has selected the states of ports: one that never had a port, nor STP, keeps the carrier of a new link. */
function selects(bridge: Held, links: Links): boolean {
  const hasPorts = [...links.values()].some(({ master }) => master === bridge.name);
  if (hasPorts || bridge.bridge?.stp) selected.add(bridge);
  return selected.has(bridge);
}

/** Of a link in another network namespace, it is not known: it is running there. */
function isRunning(below: Held | undefined): boolean {
  return below === undefined || below.flags.includes('running');
}

/** RFC 2863, as default_operstate() has it. */
function stateOf(held: Held, carrier: boolean): OperationalState {
  const { kind, up, index, linkIndex = index } = held;
  if (!up) return 'down';
  if (!carrier) return linkIndex === index ? 'down' : 'lowerlayerdown';
  return WITHOUT_STATE.has(kind) || (kind === 'bridge' && !selected.has(held)) ? 'unknown' : 'up';
}

/** The state of a port of a bridge. With STP, it listens at first, and the fake has no time. */
function portState(held: Held, carrier: boolean, links: Links): number | undefined {
  const bridge = links.get(held.master ?? '');
  if (bridge?.kind !== 'bridge') return held.bridgePort?.state;
  if (!carrier || !bridge.up) return DISABLED;
  if (bridge.bridge?.stp) return held.bridgePort?.state || LISTENING;
  return FORWARDING;
}

function sameFlags(a: readonly LinkFlag[], b: readonly LinkFlag[]): boolean {
  return a.length === b.length && a.every((flag) => b.includes(flag));
}
