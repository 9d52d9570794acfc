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
