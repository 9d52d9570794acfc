// The state of the fake in ip's text.
import { familyOf } from '../../net/address.js';
import type { Link, LinkAddress, LinkFlag, Neighbour, NextHop, Route, Rule } from '../../rtnetlink/types.js';

/** Flags in the order in which ip has them. */
const FLAGS: readonly LinkFlag[] = [
  ...(['loopback', 'broadcast', 'pointopoint', 'multicast', 'noarp', 'allmulti', 'promisc'] as const),
  ...(['master', 'slave', 'debug', 'dynamic', 'automedia', 'portsel', 'notrailers'] as const),
  ...(['up', 'lower_up', 'dormant', 'echo'] as const),
];

/** The output of `ip addr show dev LINK`, as far as addresses are concerned. */
export function dumpAddresses(link: Link, addresses: readonly LinkAddress[]): string {
  const lines = addresses.map(({ address, prefix, scope }) => {
    const family = familyOf(address) === 6 ? 'inet6' : 'inet';
    return `${family} ${address}/${prefix} scope ${scope} ${link.name}\n`;
  });
  const { name, mtu, state, queueingDiscipline, master } = link;
  const flags = FLAGS.filter((flag) => link.flags.includes(flag)).map((flag) => flag.toUpperCase());
  if (link.up && !link.flags.includes('running')) flags.unshift('NO-CARRIER');
  const parts = [
    `${name}: <${flags.join()}> mtu ${mtu} qdisc ${queueingDiscipline}`,
    master === undefined ? '' : `master ${master}`,
    `state ${String(state).toUpperCase()} group ${link.group === 0 ? 'default' : link.group}`,
  ];
  return `${joined(parts)}\n${lines.sort().join('')}`;
}

/** A line of `ip route show table all`, as far as the fake has its fields. */
export function dumpRoute(route: Route): string {
  const { type, destination, gateway, link, table, protocol, scope, preferredSource, metric } = route;
  const parts = [
    type === 'unicast' ? '' : String(type),
    shortened(destination),
    gateway === undefined ? '' : `via ${gateway}`,
    link === undefined ? '' : `dev ${link}`,
    table === 'main' ? '' : `table ${table}`,
    `proto ${protocol}`,
    scope === 'global' ? '' : `scope ${scope}`,
    preferredSource === undefined ? '' : `src ${preferredSource}`,
    metric === undefined ? '' : `metric ${metric}`,
    ...route.flags,
    ...(route.nextHops ?? []).map(dumpNextHop),
  ];
  return `${joined(parts)}\n`;
}

function dumpNextHop({ gateway, link, weight = 1, flags = [] }: NextHop): string {
  const via = gateway === undefined ? '' : `via ${gateway}`;
  return joined(['nexthop', via, link === undefined ? '' : `dev ${link}`, `weight ${weight}`, ...flags]);
}

/** A line of `ip rule`. */
export function dumpRule(rule: Rule): string {
  const { priority, invert, from, to, mark, inputLink, outputLink, action, table, goto: target } = rule;
  const fwmark = mark && `0x${mark.value.toString(16)}`;
  const parts = [
    `${priority}:\t${invert ? 'not ' : ''}from ${from === undefined ? 'all' : shortened(from)}`,
    to === undefined ? '' : `to ${shortened(to)}`,
    fwmark === undefined
      ? ''
      : `fwmark ${fwmark}${mark?.mask === undefined ? '' : `/0x${mark.mask.toString(16)}`}`,
    inputLink === undefined ? '' : `iif ${inputLink}`,
    outputLink === undefined ? '' : `oif ${outputLink}`,
    action === 'lookup' ? `lookup ${table}` : String(action),
    target === undefined ? '' : String(target),
  ];
  return `${joined(parts)}\n`;
}

/** A line of `ip neigh`. */
export function dumpNeighbour({ address, link, hardwareAddress, flags, state, proxy }: Neighbour): string {
  const lladdr = hardwareAddress === undefined ? '' : `lladdr ${hardwareAddress}`;
  return `${joined([address, `dev ${link}`, lladdr, ...flags, proxy ? 'proxy' : String(state).toUpperCase()])}\n`;
}

/** ip leaves out the length of a whole address. */
function shortened(prefix: string): string {
  if (prefix === '0.0.0.0/0' || prefix === '::/0') return 'default';
  return prefix.replace(familyOf(prefix) === 4 ? /\/32$/ : /\/128$/, '');
}

function joined(parts: readonly string[]): string {
  return parts.filter(Boolean).join(' ');
}
