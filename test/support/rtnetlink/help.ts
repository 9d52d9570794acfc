// The words in the help of ip(8): options that the library has, and those that it leaves out, with the reason.

/** The words of a help text of ip that are no placeholders. */
export function wordsOf(help: string): string[] {
  // Sentences are for people.
  const lines = help.split('\n').filter((line) => !line.startsWith('To get'));
  const words = lines.join('\n').match(/(?<![A-Za-z0-9_.-])[a-z][a-z0-9_-]*(?![A-Za-z0-9_]|\.\d)/g) ?? [];
  return [...new Set(words)].sort();
}

/** Words of every help text. */
export const SYNTAX = new Set(['ip', 'on', 'off', 'add', 'del', 'delete', 'change', 'replace', 'append', 'list', 'show', 'get', 'dev', 'help', 'type', 'set', 'link', 'route', 'rule', 'neigh', 'address', 'name', 'forever', 's', 'ms', 'all', 'to']);

/** Words that have no row in a table, because a test of their own has them. */
export const TESTED: Readonly<Record<string, readonly string[]>> = {
  link: ['up', 'down', 'arp', 'dynamic', 'multicast', 'allmulticast', 'promisc', 'trailers', 'carrier', 'netns', 'nomaster', 'protodown', 'index', 'numtxqueues', 'numrxqueues', 'dummy', 'veth', 'bridge', 'vlan', 'bridge_slave'],
  veth: ['peer', 'veth'],
  dummy: ['dummy'],
  bridge: ['bridge'],
  bridge_slave: ['bridge_slave', 'nobackup_port'],
  vlan: ['vlan'],
  addr: ['host', 'link', 'global', 'secondary', 'dynamic'],
  route: ['exact', 'from', 'iif', 'oif', 'mark', 'uid', 'ipproto', 'sport', 'dport', 'fibmatch', 'nexthop', 'weight', 'inet', 'inet6', 'unicast', 'local', 'broadcast', 'multicast', 'throw', 'unreachable', 'prohibit', 'blackhole', 'main', 'default', 'host', 'link', 'global', 'kernel', 'boot', 'static', 'low', 'medium', 'high', 'ecn', 'nhid', 'pervasive', 'expires', 'pref'],
  rule: ['goto', 'local', 'main', 'default', 'l3mdev'],
  neigh: ['proxy', 'permanent', 'noarp', 'reachable', 'stale', 'none', 'incomplete', 'delay', 'probe', 'failed', 'use', 'managed'],
};

const TOOL = 'a way of the tool to select what it shows or deletes: a program filters what it lists';
const KIND = 'a kind of link beyond dummy, veth, bridge and vlan';
const ENCAP = 'an encapsulation (lightweight tunnel)';

/** Words that the library leaves out, by the reason. */
export const LEFT_OUT: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  link: {
    [TOOL]: ['xstats', 'afstats'],
    'virtual functions of a network card (SR-IOV)': ['vf', 'mac', 'qos', 'proto', 'rate', 'max_tx_rate', 'min_tx_rate', 'spoofchk', 'query_rss', 'state', 'auto', 'enable', 'disable', 'trust', 'node_guid', 'port_guid'],
    'programs for packets (XDP), which bpf(2) loads': ['xdp', 'xdpgeneric', 'xdpdrv', 'xdpoffload', 'object', 'section', 'program', 'verbose', 'pinned'],
    'a master of the kind vrf, which the library does not create': ['vrf'],
    'needs the id of a namespace, for kinds that have a lower link elsewhere': ['link-netns', 'link-netnsid'],
    'the device below, of hardware': ['parentdev'],
    'names beside the name: they are listed': ['property', 'altname'],
    'reasons are names in a file of the tool': ['protodown_reason'],
    [KIND]: ['amt', 'bareudp', 'bond', 'bond_slave', 'dsa', 'erspan', 'geneve', 'gre', 'gretap', 'gtp', 'ifb', 'ip6erspan', 'ip6gre', 'ip6gretap', 'ip6tnl', 'ipip', 'ipoib', 'ipvlan', 'ipvtap', 'macsec', 'macvlan', 'macvtap', 'netdevsim', 'nlmon', 'rmnet', 'sit', 'team', 'team_slave', 'vcan', 'vti', 'vxcan', 'vxlan', 'wwan', 'xfrm', 'virt_wifi'],
  },
  veth: { [TOOL]: ['options'] },
  bridge: {
    'a command, and no setting': ['fdb_flush'],
    'has no effect since Linux 5.1': ['mcast_hash_elasticity'],
  },
  bridge_slave: {
    'a command, and no setting': ['fdb_flush'],
    'the same attribute as fastleave': ['mcast_fast_leave'],
  },
  addr: {
    [TOOL]: ['save', 'flush', 'showdump', 'restore', 'nomaster', 'master', 'vrf', 'up', 'primary', 'tentative', 'deprecated', 'dadfailed', 'temporary'],
    'the kernel ignores it': ['anycast'],
    'sends membership reports: a route by the link is needed, and tested by no value': ['autojoin'],
    [KIND]: [],
  },
  route: {
    [TOOL]: ['flush', 'save', 'restore', 'showdump', 'root', 'match', 'vrf', 'enabled', 'disabled'],
    'classes of packets for traffic control': ['realms'],
    'refused by kernels since 2.6': ['nat'],
    'labels of MPLS': ['ttl-propagate', 'mpls', 'as'],
    'families of no routes here': ['bridge'],
    [ENCAP]: ['encap', 'ip6', 'seg6', 'seg6local', 'rpl', 'ioam6', 'xfrm', 'mode', 'segs', 'hmac', 'cleanup', 'inline', 'l2encap', 'l2encap.red', 'encap.red', 'action', 'count', 'flavors', 'srh', 'nh4', 'nh6', 'vrftable', 'endpoint', 'psp', 'usp', 'usd', 'next-csid', 'trace', 'prealloc', 'ns', 'size', 'if_id', 'link_dev', 'red', 'n'],
  },
  rule: {
    [TOOL]: ['flush', 'save', 'restore'],
    'refused by kernels since 2.6': ['nat'],
    'classes of packets for traffic control': ['realms'],
  },
  neigh: { [TOOL]: ['flush', 'vrf', 'nomaster'] },
};
