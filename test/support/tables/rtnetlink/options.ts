// The options of ip(8) that the library has, with a value for each, and those that it does not have.

/** An option of ip, and the field of the library. */
export interface OptionRow {
  /** The option. */
  readonly word: string;
  /** Path of the field: `bridge.forwardDelay`. */
  readonly path: string;
  readonly value: unknown;
  /** Arguments of ip; default: the option and the value. */
  readonly args?: string;
  /** Path in ip's JSON; default: the option. */
  readonly json?: string;
  /** The value there; default: the value. */
  readonly shown?: unknown;
}

/** An option. */
export function row(
  word: string,
  path: string,
  value: unknown,
  more: Omit<OptionRow, 'word' | 'path' | 'value'> = {},
): OptionRow {
  return { word, path, value, ...more };
}

/** Booleans that ip writes as `on` and `off`, or as 1 and 0. */
export function onOff(
  word: string,
  path: string,
  value: boolean,
  json: string,
  shown: unknown = value,
): OptionRow {
  return row(word, path, value, { args: `${word} ${value ? 'on' : 'off'}`, json, shown });
}

/** A boolean that is written as 1 or 0. */
export function bit(word: string, path: string, value: boolean, json: string): OptionRow {
  return row(word, path, value, { args: `${word} ${value ? 1 : 0}`, json, shown: value ? 1 : 0 });
}

/** `ip link set`, of a dummy. */
export const LINK: readonly OptionRow[] = [
  row('mtu', 'mtu', 1400),
  row('txqueuelen', 'txQueueLength', 55, { json: 'txqlen' }),
  row('address', 'address', '02:00:00:00:00:11'),
  row('broadcast', 'broadcast', '02:ff:ff:ff:ff:ff'),
  row('alias', 'alias', 'left', { json: 'ifalias' }),
  row('group', 'group', 7, { shown: '7' }),
  row('gso_max_size', 'gsoMaxSize', 30000),
  row('gso_max_segs', 'gsoMaxSegments', 30),
  row('gro_max_size', 'groMaxSize', 30000),
  row('addrgenmode', 'addressGeneration', 'none', { json: 'inet6_addr_gen_mode' }),
  row('master', 'master', 'bridge1'),
];

const BRIDGE_JSON = 'linkinfo.info_data';
const inBridge = (word: string, path: string, value: unknown, args = value, json = word): OptionRow =>
  row(word, `bridge.${path}`, value, {
    args: `${word} ${args}`,
    json: `${BRIDGE_JSON}.${json}`,
    shown: args,
  });
const bridgeBit = (word: string, path: string, value: boolean): OptionRow =>
  bit(word, `bridge.${path}`, value, `${BRIDGE_JSON}.${word}`);
const bridgeTime = (word: string, path: string, seconds: number, json = word): OptionRow =>
  inBridge(word, path, seconds, seconds * 100, json);

/** `ip link add type bridge`. */
export const BRIDGE: readonly OptionRow[] = [
  bridgeTime('forward_delay', 'forwardDelay', 5),
  bridgeTime('hello_time', 'helloTime', 3),
  bridgeTime('max_age', 'maxAge', 21),
  bridgeTime('ageing_time', 'ageingTime', 250),
  bridgeBit('stp_state', 'stp', true),
  inBridge('priority', 'priority', 4096),
  row('group_fwd_mask', 'bridge.groupForwardMask', 8, {
    json: `${BRIDGE_JSON}.group_fwd_mask`,
    shown: '0x8',
  }),
  row('group_address', 'bridge.groupAddress', '01:80:c2:00:00:07', { json: `${BRIDGE_JSON}.group_addr` }),
  bridgeBit('no_linklocal_learn', 'noLinkLocalLearning', true),
  bridgeBit('vlan_filtering', 'vlanFiltering', true),
  row('vlan_protocol', 'bridge.vlanProtocol', '802.1ad', { json: `${BRIDGE_JSON}.vlan_protocol` }),
  inBridge('vlan_default_pvid', 'vlanDefaultPvid', 5),
  bridgeBit('vlan_stats_enabled', 'vlanStatistics', true),
  bridgeBit('vlan_stats_per_port', 'vlanStatisticsPerPort', true),
  bridgeBit('mcast_vlan_snooping', 'multicastVlanSnooping', true),
  inBridge('mcast_router', 'multicastRouter', 2),
  bridgeBit('mcast_query_use_ifaddr', 'multicastQueryUseAddress', true),
  bridgeBit('mcast_querier', 'multicastQuerier', true),
  // Without effect since Linux 5.1, which lists 16 for each bridge.
  inBridge('mcast_hash_elasticity', 'multicastHashElasticity', 16),
  inBridge('mcast_hash_max', 'multicastHashMax', 2048),
  inBridge('mcast_last_member_count', 'multicastLastMemberCount', 3, 3, 'mcast_last_member_cnt'),
  inBridge('mcast_startup_query_count', 'multicastStartupQueryCount', 4, 4, 'mcast_startup_query_cnt'),
  bridgeTime('mcast_last_member_interval', 'multicastLastMemberInterval', 2, 'mcast_last_member_intvl'),
  bridgeTime('mcast_membership_interval', 'multicastMembershipInterval', 200, 'mcast_membership_intvl'),
  bridgeTime('mcast_querier_interval', 'multicastQuerierInterval', 201, 'mcast_querier_intvl'),
  bridgeTime('mcast_query_interval', 'multicastQueryInterval', 100, 'mcast_query_intvl'),
  bridgeTime(
    'mcast_query_response_interval',
    'multicastQueryResponseInterval',
    9,
    'mcast_query_response_intvl',
  ),
  bridgeTime(
    'mcast_startup_query_interval',
    'multicastStartupQueryInterval',
    30,
    'mcast_startup_query_intvl',
  ),
  bridgeBit('mcast_stats_enabled', 'multicastStatistics', true),
  inBridge('mcast_igmp_version', 'multicastIgmpVersion', 3),
  inBridge('mcast_mld_version', 'multicastMldVersion', 2),
  bridgeBit('mcast_snooping', 'multicastSnooping', true),
  bridgeBit('nf_call_iptables', 'callIptables', true),
  bridgeBit('nf_call_ip6tables', 'callIp6tables', true),
  bridgeBit('nf_call_arptables', 'callArptables', true),
];

const PORT_JSON = 'linkinfo.info_slave_data';
const portSwitch = (word: string, path: string, value: boolean, json = word): OptionRow =>
  onOff(word, `bridgePort.${path}`, value, `${PORT_JSON}.${json}`);

/** `ip link set type bridge_slave`. */
export const PORT: readonly OptionRow[] = [
  row('priority', 'bridgePort.priority', 8, { json: `${PORT_JSON}.priority` }),
  row('cost', 'bridgePort.cost', 77, { json: `${PORT_JSON}.cost` }),
  portSwitch('guard', 'guard', true),
  portSwitch('hairpin', 'hairpin', true),
  portSwitch('fastleave', 'fastLeave', true),
  portSwitch('root_block', 'rootBlock', true),
  portSwitch('learning', 'learning', false),
  portSwitch('flood', 'flood', false),
  portSwitch('proxy_arp', 'proxyArp', true),
  portSwitch('proxy_arp_wifi', 'proxyArpWifi', true),
  row('mcast_router', 'bridgePort.multicastRouter', 2, { json: `${PORT_JSON}.multicast_router` }),
  portSwitch('mcast_flood', 'multicastFlood', false),
  portSwitch('bcast_flood', 'broadcastFlood', false),
  portSwitch('mcast_to_unicast', 'multicastToUnicast', true),
  row('group_fwd_mask', 'bridgePort.groupForwardMask', 8, {
    json: `${PORT_JSON}.group_fwd_mask_str`,
    shown: '0x8',
  }),
  portSwitch('neigh_suppress', 'neighbourSuppression', true),
  portSwitch('vlan_tunnel', 'vlanTunnel', true),
  portSwitch('isolated', 'isolated', true),
  portSwitch('locked', 'locked', true),
  row('backup_port', 'bridgePort.backupPort', 'spare', { json: `${PORT_JSON}.backup_port` }),
];

const VLAN_JSON = 'linkinfo.info_data';
/** `ip link add type vlan`. The flags that are set are among `flags`. */
export const VLAN: readonly OptionRow[] = [
  row('id', 'vlan.id', 17, { json: `${VLAN_JSON}.id` }),
  row('protocol', 'vlan.protocol', '802.1ad', { json: `${VLAN_JSON}.protocol` }),
  onOff('reorder_hdr', 'vlan.reorderHeader', false, `${VLAN_JSON}.flags`, [
    'GVRP',
    'MVRP',
    'LOOSE_BINDING',
    'BRIDGE_BINDING',
  ]),
  onOff('gvrp', 'vlan.gvrp', true, `${VLAN_JSON}.flags.0`, 'GVRP'),
  onOff('loose_binding', 'vlan.looseBinding', true, `${VLAN_JSON}.flags.2`, 'LOOSE_BINDING'),
  onOff('mvrp', 'vlan.mvrp', true, `${VLAN_JSON}.flags.1`, 'MVRP'),
  onOff('bridge_binding', 'vlan.bridgeBinding', true, `${VLAN_JSON}.flags.3`, 'BRIDGE_BINDING'),
  row('ingress-qos-map', 'vlan.ingressQosMap', [[1, 5]], {
    args: 'ingress-qos-map 1:5',
    json: `${VLAN_JSON}.ingress_qos`,
    shown: [{ from: 1, to: 5 }],
  }),
  row('egress-qos-map', 'vlan.egressQosMap', [[2, 6]], {
    args: 'egress-qos-map 2:6',
    json: `${VLAN_JSON}.egress_qos`,
    shown: [{ from: 2, to: 6 }],
  }),
];

/** `ip addr add` for IPv4. */
export const ADDRESS4: readonly OptionRow[] = [
  row('peer', 'peer', '10.5.0.2', { args: 'peer 10.5.0.2/24', json: 'address' }),
  row('broadcast', 'broadcast', '10.5.0.255'),
  row('label', 'label', 'va:x'),
  row('scope', 'scope', 'link'),
  row('metric', 'metric', 44),
  row('valid_lft', 'validLifetime', 4000, { json: 'valid_life_time' }),
  row('preferred_lft', 'preferredLifetime', 3000, { json: 'preferred_life_time' }),
  row('noprefixroute', 'flags', ['noprefixroute'], { args: 'noprefixroute', shown: true }),
];

/** `ip addr add` for IPv6. */
export const ADDRESS6: readonly OptionRow[] = [
  row('home', 'flags.1', 'home', { args: 'home', shown: true }),
  row('nodad', 'flags.0', 'nodad', { args: 'nodad', shown: true }),
  row('mngtmpaddr', 'flags.3', 'mngtmpaddr', { args: 'mngtmpaddr', shown: true }),
  row('permanent', 'flags.2', 'permanent', { args: '', json: 'valid_life_time', shown: 0xffff_ffff }),
];

const METRICS = 'metrics.0';
const metric = (word: string, path: string, value: unknown, args = String(value), json = word): OptionRow =>
  row(word, `metrics.${path}`, value, { args: `${word} ${args}`, json: `${METRICS}.${json}` });

/** `ip route add` for IPv4. */
export const ROUTE4: readonly OptionRow[] = [
  row('tos', 'tos', 16, { args: 'tos 0x10', shown: '0x10' }),
  row('table', 'table', 1000, { shown: '1000' }),
  row('proto', 'protocol', 'static', { json: 'protocol' }),
  row('scope', 'scope', 'site'),
  row('metric', 'metric', 9),
  row('via', 'gateway', '10.1.0.2', { json: 'gateway' }),
  row('dev', 'link', 'va', { json: 'dev' }),
  row('onlink', 'flags', ['onlink'], { args: 'onlink', json: 'flags' }),
  row('src', 'preferredSource', '10.1.0.1', { json: 'prefsrc' }),
  metric('mtu', 'mtu', 1400),
  metric('advmss', 'advertisedMss', 1000),
  metric('window', 'window', 900),
  metric('rtt', 'rtt', 100, '100ms'),
  metric('rttvar', 'rttVariance', 50, '50ms'),
  metric('reordering', 'reordering', 8),
  metric('cwnd', 'congestionWindow', 7),
  metric('initcwnd', 'initialCongestionWindow', 4),
  metric('initrwnd', 'initialReceiveWindow', 5),
  metric('ssthresh', 'slowStartThreshold', 6),
  metric('rto_min', 'minimumRto', 200, '200ms'),
  metric('hoplimit', 'hopLimit', 3),
  row('features', 'metrics.features', 1, { args: 'features ecn', json: `${METRICS}.ecn`, shown: null }),
  row('quickack', 'metrics.quickAck', true, { args: 'quickack 1', json: `${METRICS}.quickack`, shown: 1 }),
  metric('congctl', 'congestionControl', 'reno', 'reno', 'congestion'),
  row('fastopen_no_cookie', 'metrics.fastOpenNoCookie', true, {
    args: 'fastopen_no_cookie 1',
    json: `${METRICS}.fastopen_no_cookie`,
    shown: 1,
  }),
];

/** `ip route add` for IPv6. */
export const ROUTE6: readonly OptionRow[] = [
  row('via', 'gateway', 'fd01::2', { json: 'gateway' }),
  row('expires', 'expires', 5000),
  row('pref', 'preference', 'high'),
  row('from', 'source', 'fd03::/64', { json: 'from' }),
  row('metric', 'metric', 12),
];

/** `ip rule add` for IPv4. */
export const RULE: readonly OptionRow[] = [
  row('not', 'invert', true, { args: 'not', shown: null }),
  row('from', 'from', '10.0.0.0/8', { json: 'src', shown: '10.0.0.0' }),
  row('to', 'to', '10.1.0.0/16', { json: 'dst', shown: '10.1.0.0' }),
  row('tos', 'tos', 16, { args: 'tos 0x10', shown: '0x10' }),
  row('fwmark', 'mark', { value: 3, mask: 255 }, { args: 'fwmark 3/0xff', json: 'fwmask', shown: '0xff' }),
  row('iif', 'inputLink', 'va'),
  row('oif', 'outputLink', 'vb'),
  row('pref', 'priority', 777, { json: 'priority' }),
  row('uidrange', 'uids', { first: 5, last: 6 }, { args: 'uidrange 5-6', json: 'uid_end', shown: 6 }),
  row('ipproto', 'ipProtocol', 6, { args: 'ipproto tcp', shown: 'tcp' }),
  row('sport', 'sourcePorts', { first: 1, last: 2 }, { args: 'sport 1-2', json: 'sport_end', shown: 2 }),
  row('dport', 'destinationPorts', { first: 80, last: 80 }, { args: 'dport 80', shown: 80 }),
  row('table', 'table', 1000, { shown: '1000' }),
  row('protocol', 'protocol', 'static'),
  row('suppress_prefixlength', 'suppressPrefixLength', 3, { json: 'suppress_prefixlen' }),
  row('suppress_ifgroup', 'suppressGroup', 4, { shown: '4' }),
];

/** `ip neigh add`. */
export const NEIGHBOUR: readonly OptionRow[] = [
  row('lladdr', 'hardwareAddress', '02:00:00:00:00:99'),
  row('nud', 'state', 'stale', { json: 'state', shown: ['STALE'] }),
  row('router', 'flags.1', 'router', { args: 'router', shown: null }),
  row('extern_learn', 'flags.0', 'extern_learn', { args: 'extern_learn', shown: null }),
  row('protocol', 'protocol', 'static'),
];
