// The options of `ip link add type KIND`, for the kinds beside bridge and VLAN.
import { release } from 'node:os';
import { bit, type OptionRow, onOff, row } from './options.js';

/** Linux 7.3 refuses the value off, 6.12 does not. */
const CARRIER_CAN_BE_IGNORED = /^([1-5]\.|6\.\d\.|6\.1[0-7]\.)/.test(release());

const JSON_DATA = 'linkinfo.info_data';

/** An option with the same value in the library, in ip's arguments and in ip's JSON, unless it says otherwise. */
const own =
  (kind: string) =>
  (word: string, path: string, value: unknown, json = word, more: Partial<OptionRow> = {}): OptionRow =>
    row(word, `${kind}.${path}`, value, { json: `${JSON_DATA}.${json}`, ...more });

const bond = own('bond');
const bondBit = (word: string, path: string, value: boolean, json = word): OptionRow =>
  bit(word, `bond.${path}`, value, `${JSON_DATA}.${json}`);

/** Of a bond in the mode active-backup, which looks at ARP. */
export const BOND_ARP: readonly OptionRow[] = [
  bond('mode', 'mode', 'active-backup'),
  bond('arp_interval', 'arpInterval', 100),
  bond('arp_ip_target', 'arpTargets', ['10.0.0.1', '10.0.0.2'], 'arp_ip_target', {
    args: 'arp_ip_target 10.0.0.1,10.0.0.2',
  }),
  bond('ns_ip6_target', 'nsTargets', ['fd00::1', 'fd00::2'], 'ns_ip6_target', {
    args: 'ns_ip6_target fd00::1,fd00::2',
  }),
  bond('arp_validate', 'arpValidation', 'active'),
  bond('arp_all_targets', 'arpAllTargets', 'all'),
  bond('arp_missed_max', 'arpMissedMax', 3),
  bond('primary_reselect', 'primaryReselection', 'better'),
  bond('fail_over_mac', 'failOverMac', 'active'),
  bond('resend_igmp', 'resendIgmp', 3),
  bond('num_grat_arp', 'peerNotifications', 4, 'num_peer_notif'),
  bondBit('all_slaves_active', 'allPortsActive', true),
];

/** Of a bond in the mode 802.3ad, which looks at the carrier. */
export const BOND_LACP: readonly OptionRow[] = [
  bond('mode', 'mode', '802.3ad'),
  bond('miimon', 'miiInterval', 50),
  bond('updelay', 'upDelay', 100),
  bond('downdelay', 'downDelay', 150),
  bond('peer_notify_delay', 'peerNotificationDelay', 200),
  bondBit('use_carrier', 'useCarrier', !CARRIER_CAN_BE_IGNORED),
  bond('xmit_hash_policy', 'hashPolicy', 'layer3+4'),
  bond('min_links', 'minLinks', 2),
  bond('lacp_rate', 'lacpRate', 'fast', 'ad_lacp_rate'),
  onOff('lacp_active', 'bond.lacpActive', false, `${JSON_DATA}.ad_lacp_active`, 'off'),
  bond('ad_select', 'aggregatorSelection', 'bandwidth'),
  bond('ad_user_port_key', 'userPortKey', 7),
  bond('ad_actor_sys_prio', 'actorSystemPriority', 9),
  bond('ad_actor_system', 'actorSystem', '02:00:00:00:00:77'),
];

/** Of a bond in the mode balance-tlb. */
export const BOND_LOAD: readonly OptionRow[] = [
  bond('mode', 'mode', 'balance-tlb'),
  bondBit('tlb_dynamic_lb', 'dynamicLoadBalancing', false),
  bond('lp_interval', 'learnPacketInterval', 2),
];

/** Of a bond in the mode balance-rr. */
export const BOND_ROUND: readonly OptionRow[] = [
  bond('mode', 'mode', 'balance-rr'),
  bond('packets_per_slave', 'packetsPerPort', 5),
];

const vxlan = own('vxlan');
const vxlanSwitch = (word: string, path: string, value: boolean, json = word): OptionRow =>
  vxlan(word, path, value, json, { args: value ? word : `no${word}` });

/** Of a VXLAN over IPv4. */
export const VXLAN4: readonly OptionRow[] = [
  vxlan('id', 'id', 42),
  vxlan('remote', 'remote', '10.1.0.2'),
  vxlan('local', 'local', '10.1.0.1'),
  vxlan('dev', 'link', 'va', 'link'),
  vxlan('ttl', 'ttl', 9),
  vxlan('tos', 'tos', 4, 'tos', { shown: '0x4' }),
  vxlan('df', 'dontFragment', 'set'),
  vxlan('dstport', 'port', 4789, 'port'),
  vxlan('srcport', 'sourcePorts', { first: 1000, last: 2000 }, 'port_range', {
    args: 'srcport 1000 2000',
    shown: { low: 1000, high: 2000 },
  }),
  vxlanSwitch('learning', 'learning', false),
  vxlanSwitch('proxy', 'proxy', true),
  vxlanSwitch('rsc', 'routeShortCircuit', true),
  vxlanSwitch('l2miss', 'l2Miss', true),
  vxlanSwitch('l3miss', 'l3Miss', true),
  vxlan('ageing', 'ageingTime', 60),
  vxlan('maxaddress', 'addressLimit', 5, 'limit'),
  vxlanSwitch('udpcsum', 'udpChecksum', false, 'udp_csum'),
  vxlanSwitch('remcsumtx', 'remoteChecksumTx', true, 'remcsum_tx'),
  vxlanSwitch('remcsumrx', 'remoteChecksumRx', true, 'remcsum_rx'),
  vxlan('gbp', 'groupPolicy', true, 'gbp', { args: 'gbp' }),
];

/** Of a VXLAN over IPv6, to a group. */
export const VXLAN6: readonly OptionRow[] = [
  vxlan('id', 'id', 43),
  vxlan('group', 'remote', 'ff05::100', 'group6'),
  vxlan('local', 'local', 'fd01::1', 'local6'),
  vxlan('dev', 'link', 'va', 'link'),
  vxlan('flowlabel', 'flowLabel', 0x12345, 'label', { args: 'flowlabel 0x12345', shown: '0x12345' }),
  vxlan('dstport', 'port', 4790, 'port'),
  vxlanSwitch('udp6zerocsumtx', 'udp6ZeroChecksumTx', true, 'udp_zero_csum6_tx'),
  vxlanSwitch('udp6zerocsumrx', 'udp6ZeroChecksumRx', true, 'udp_zero_csum6_rx'),
];

/** Of a VXLAN whose packets have the network. */
export const VXLAN_EXTERNAL: readonly OptionRow[] = [
  vxlanSwitch('external', 'external', true),
  vxlanSwitch('vnifilter', 'vniFilter', true),
  vxlan('gpe', 'genericProtocol', true, 'gpe', { args: 'gpe' }),
  vxlan('dstport', 'port', 4791, 'port'),
  vxlanSwitch('learning', 'learning', false),
];

const macvlan = own('macvlan');

/** Of a macvlan that receives from some sources. */
export const MACVLAN_SOURCE: readonly OptionRow[] = [
  macvlan('mode', 'mode', 'source'),
  macvlan('flag', 'flags', ['nodst'], 'nodst', { args: 'flag nodst', shown: true }),
  macvlan('bcqueuelen', 'broadcastQueueLength', 500),
];

/** Of a macvlan that has the link for itself. */
export const MACVLAN_PASSTHRU: readonly OptionRow[] = [
  macvlan('mode', 'mode', 'passthru'),
  macvlan('flag', 'flags', ['nopromisc'], 'nopromisc', { args: 'flag nopromisc', shown: true }),
];

const macvtap = own('macvtap');

/** Of a macvtap. */
export const MACVTAP: readonly OptionRow[] = [macvtap('mode', 'mode', 'bridge')];

const ipvlan = own('ipvlan');

/** Of an ipvlan. */
export const IPVLAN: readonly OptionRow[] = [
  ipvlan('mode', 'mode', 'l2'),
  ipvlan('private', 'flags', ['private'], 'private', { args: 'private', shown: true }),
];

const ipvtap = own('ipvtap');

/** Of an ipvtap. */
export const IPVTAP: readonly OptionRow[] = [
  ipvtap('mode', 'mode', 'l3s'),
  ipvtap('vepa', 'flags', ['vepa'], 'vepa', { args: 'vepa', shown: true }),
];

/** Of a VRF. */
export const VRF: readonly OptionRow[] = [own('vrf')('table', 'table', 1077)];

/** `ip nexthop add`. */
export const NEXT_HOP: readonly OptionRow[] = [
  row('via', 'gateway', '10.1.0.2', { json: 'gateway' }),
  row('dev', 'link', 'va', { json: 'dev' }),
  row('proto', 'protocol', 'static', { json: 'protocol' }),
  row('onlink', 'flags', ['onlink'], { args: 'onlink', json: 'flags' }),
];

/** `ip nexthop add`, of a group. */
export const NEXT_HOP_GROUP: readonly OptionRow[] = [
  row(
    'group',
    'group',
    [
      { id: 1, weight: 1 },
      { id: 2, weight: 3 },
    ],
    {
      args: 'group 1/2,3',
      shown: [{ id: 1 }, { id: 2, weight: 3 }],
    },
  ),
  row('buckets', 'resilient.buckets', 8, {
    args: 'type resilient buckets 8',
    json: 'resilient_args.buckets',
  }),
  row('idle_timer', 'resilient.idleTimer', 60, { json: 'resilient_args.idle_timer' }),
  row('unbalanced_timer', 'resilient.unbalancedTimer', 300, { json: 'resilient_args.unbalanced_timer' }),
];

/** `ip link set type bond_slave`, of a port. */
export const BOND_PORT: readonly OptionRow[] = [
  row('queue_id', 'bondPort.queueId', 3, { json: 'linkinfo.info_slave_data.queue_id' }),
  row('prio', 'bondPort.priority', -5, { json: 'linkinfo.info_slave_data.prio' }),
];

const geneve = own('geneve');

/** Of a tunnel of Geneve over IPv4. */
export const GENEVE4: readonly OptionRow[] = [
  geneve('id', 'id', 42),
  geneve('remote', 'remote', '10.1.0.2'),
  geneve('ttl', 'ttl', 9),
  geneve('tos', 'tos', 4, 'tos', { shown: '0x4' }),
  geneve('df', 'dontFragment', 'set'),
  geneve('dstport', 'port', 7000, 'port'),
  geneve('udpcsum', 'udpChecksum', true, 'udp_csum', { args: 'udpcsum' }),
  geneve('innerprotoinherit', 'innerProtocolInherit', true, 'inner_proto_inherit', {
    args: 'innerprotoinherit',
  }),
];

/** Of a tunnel of Geneve over IPv6. */
export const GENEVE6: readonly OptionRow[] = [
  geneve('id', 'id', 43),
  geneve('remote', 'remote', 'fd01::2', 'remote6'),
  geneve('flowlabel', 'flowLabel', 5, 'label', { args: 'flowlabel 0x5', shown: '0x5' }),
  geneve('udp6zerocsumtx', 'udp6ZeroChecksumTx', true, 'udp_zero_csum6_tx', { args: 'udp6zerocsumtx' }),
  geneve('udp6zerocsumrx', 'udp6ZeroChecksumRx', true, 'udp_zero_csum6_rx', { args: 'udp6zerocsumrx' }),
];

/** Of a tunnel of Geneve whose packets have the network. */
export const GENEVE_EXTERNAL: readonly OptionRow[] = [
  geneve('external', 'external', true, 'external', { args: 'external' }),
  geneve('dstport', 'port', 7001, 'port'),
];

/** What tunnels over IPv4 have in common. */
const tunnel4 = (kind: string): readonly OptionRow[] => {
  const tunnel = own(kind);
  return [
    tunnel('remote', 'remote', '10.1.0.2'),
    tunnel('local', 'local', '10.1.0.1'),
    tunnel('dev', 'link', 'va', 'link'),
    tunnel('ttl', 'ttl', 9),
    tunnel('tos', 'tos', 4, 'tos', { shown: '0x4' }),
    tunnel('pmtudisc', 'pathMtuDiscovery', true, 'pmtudisc', { args: 'pmtudisc' }),
    tunnel('fwmark', 'mark', 7, 'fwmark', { shown: '0x7' }),
  ];
};
/** What tunnels over IPv6 have in common. */
const tunnel6 = (kind: string): readonly OptionRow[] => {
  const tunnel = own(kind);
  return [
    tunnel('remote', 'remote', 'fd01::2'),
    tunnel('local', 'local', 'fd01::1'),
    tunnel('dev', 'link', 'va', 'link'),
    tunnel('hoplimit', 'ttl', 9, 'ttl'),
    tunnel('encaplimit', 'encapsulationLimit', 3, 'encap_limit'),
    tunnel('flowlabel', 'flowInfo', 0x101_2345, 'flowlabel', {
      args: 'tclass 0x10 flowlabel 0x12345',
      shown: '0x12345',
    }),
    tunnel('dscp', 'flags', ['copyDscp', 'allowLocalRemote'], 'ip6_tnl_f_rcv_dscp_copy', {
      ...{ args: 'dscp inherit allow-localremote', shown: true },
    }),
    tunnel('fwmark', 'mark', 7, 'fwmark', { shown: '0x7' }),
  ];
};
/** The header of GRE. */
const greHeader = (kind: string): readonly OptionRow[] => {
  const gre = own(kind);
  return [
    gre('key', 'inputKey', 5, 'ikey', { args: 'ikey 5', shown: '0.0.0.5' }),
    gre('key', 'outputKey', 6, 'okey', { args: 'okey 6', shown: '0.0.0.6' }),
    gre('seq', 'outputSequence', true, 'oseq', { args: 'oseq' }),
    gre('csum', 'inputChecksum', true, 'icsum', { args: 'icsum' }),
  ];
};

/** Of a tunnel of GRE. */
export const GRE: readonly OptionRow[] = [...tunnel4('gre'), ...greHeader('gre')];
/** Of a tunnel of GRE with Ethernet. */
export const GRETAP: readonly OptionRow[] = [
  own('gretap')('remote', 'remote', '10.1.0.3'),
  own('gretap')('pmtudisc', 'pathMtuDiscovery', false, 'pmtudisc', { args: 'nopmtudisc' }),
  own('gretap')('ignore-df', 'ignoreDontFragment', true, 'ignore_df', { args: 'ignore-df' }),
];
/** Of a tunnel of GRE over IPv6. */
export const IP6GRE: readonly OptionRow[] = [...tunnel6('ip6gre'), ...greHeader('ip6gre')];
/** Of a tunnel in IPv6. */
export const IP6TNL: readonly OptionRow[] = [
  ...tunnel6('ip6tnl'),
  own('ip6tnl')('mode', 'protocol', 41, 'proto', { args: 'mode ip6ip6', shown: 'ip6ip6' }),
];
/** Of a tunnel of IPv4 in IPv4. */
export const IPIP: readonly OptionRow[] = [
  ...tunnel4('ipip'),
  own('ipip')('mode', 'protocol', 4, 'proto', { args: 'mode ipip', shown: 'ipip' }),
];
/** Of a tunnel of IPv6 in IPv4. */
export const SIT: readonly OptionRow[] = [
  ...tunnel4('sit'),
  own('sit')('mode', 'protocol', 41, 'proto', { args: 'mode ip6ip', shown: 'ip6ip' }),
  own('sit')('isatap', 'flags', 1, 'isatap', { args: 'isatap', shown: true }),
];
