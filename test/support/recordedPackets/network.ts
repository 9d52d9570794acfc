// The network of a recorded cluster: the node, its pods, all other pods, and a host outside. Each of them is one namespace with many
// addresses. What it sends to an address of its own takes the way over the node too.
//
//   here ── cni0 ──┐
//                  node ── node0 ── outside
//   there ── peer0 ┘
import { execFileSync } from 'node:child_process';
import { undoAtExit } from '../../laboratory/atExit.js';
import type { Endpoint } from './requests.js';

/** The namespaces. */
export const PLACES = ['node', 'here', 'there', 'outside'] as const;
type PlaceName = (typeof PLACES)[number];

/** Addresses of the clients, which no endpoint has. */
export const CLIENT_ADDRESSES = {
  'pod here': ['10.244.1.250', 'fd00:10:244:1::fa'],
  'pod elsewhere': ['10.244.2.250', 'fd00:10:244:2::fa'],
  outside: ['192.168.50.100', 'fd00:192:168:50::100'],
} as const;

/** A network that exists until it is closed. */
export interface RecordedNetwork {
  namespace(place: PlaceName): string;
  close(): void;
}

/** The devices of the node to each place, and its addresses on them. */
const CABLES = [
  ['here', 'cni0', '169.254.1.1', 'fd00:169:254::1'],
  ['there', 'peer0', '169.254.1.2', 'fd00:169:254::2'],
  ['outside', 'node0', '192.168.50.10', 'fd00:192:168:50::10'],
] as const;

/** Where each endpoint is. Those with an address of the node are on it. */
export function placeOf(
  { address, here }: Pick<Endpoint, 'address' | 'here'>,
  own: ReadonlySet<string>,
): PlaceName {
  if (own.has(address)) return 'node';
  return here ? 'here' : 'there';
}

/** Creates the network. Needs root. */
export function openNetwork(
  name: string,
  endpoints: readonly Endpoint[],
  own: ReadonlySet<string>,
): RecordedNetwork {
  const namespace = (place: PlaceName) => `knp-${process.pid}-${name}-${place}`;
  const set = (place: PlaceName, commands: readonly string[]) => ip(['-n', namespace(place)], commands);
  const close = undoAtExit(() =>
    ip(
      ['-force'],
      PLACES.map((place) => `netns delete ${namespace(place)}`),
    ),
  );
  ip(
    [],
    PLACES.map((place) => `netns add ${namespace(place)}`),
  );
  for (const place of PLACES) write(namespace(place), SETTINGS);
  set('node', [
    'link set lo up',
    'link add eth0 type dummy',
    'link set eth0 up',
    'address add 10.0.2.15/24 dev eth0',
  ]);
  for (const [place, device, ipv4, ipv6] of CABLES) {
    ip(
      [],
      [`link add eth0 netns ${namespace(place)} type veth peer name ${device} netns ${namespace('node')}`],
    );
    const addresses = [...addressesAt(place, endpoints, own)];
    const toEach = addresses.map((one) => `route add ${one} dev ${device}`);
    set('node', [
      ...[`link set ${device} up`, `address add ${ipv4}/32 dev ${device}`],
      ...[`${ipv6}/128`, 'fe80::1/64'].map((one) => `address add ${one} dev ${device} nodad`),
      ...toEach,
    ]);
    set(place, [
      ...['link set lo up', 'link set eth0 up'],
      ...addresses.map(
        (one) => `address add ${one}/${one.includes(':') ? '128 dev eth0 nodad' : '32 dev eth0'}`,
      ),
      ...[
        `route add default via ${ipv4} dev eth0 onlink table 100`,
        'route add default via fe80::1 dev eth0 table 100',
      ],
    ]);
    for (const family of ['-4', '-6'])
      ip(
        [family, '-n', namespace(place)],
        OVER_THE_NODE.map((rule) => `rule ${rule}`),
      );
  }
  return { namespace, close };
}

function addressesAt(
  place: PlaceName,
  endpoints: readonly Endpoint[],
  own: ReadonlySet<string>,
): Set<string> {
  const clients = { here: 'pod here', there: 'pod elsewhere', outside: 'outside' } as const;
  const client = place === 'node' ? [] : CLIENT_ADDRESSES[clients[place]];
  const pods = endpoints.filter((endpoint) => placeOf(endpoint, own) === place).map(({ address }) => address);
  return new Set([...client, ...pods]);
}

/** What a place sends is routed by table 100 before its own addresses are looked up. */
const OVER_THE_NODE = [
  'add pref 100 lookup local',
  'add pref 10 iif lo lookup 100',
  'del pref 0 lookup local',
];

/** Packets with an address of the place itself as source are accepted; refusals are not limited in rate. */
const SETTINGS = [
  ...['ipv4/conf/all/accept_local=1', 'ipv4/conf/default/accept_local=1', 'ipv4/conf/all/rp_filter=0'],
  ...['ipv4/conf/default/rp_filter=0', 'ipv4/ip_forward=1', 'ipv6/conf/all/forwarding=1'],
  ...['ipv4/conf/all/send_redirects=0', 'ipv4/conf/default/send_redirects=0', 'ipv4/icmp_ratelimit=0'],
  'ipv6/icmp/ratelimit=0',
];

function write(namespace: string, settings: readonly string[]): void {
  const commands = settings.map((setting) => {
    const [path, value] = setting.split('=');
    return `echo ${value} >/proc/sys/net/${path}`;
  });
  execFileSync('ip', ['netns', 'exec', namespace, 'sh', '-ec', commands.join('\n')]);
}

/** Many commands of ip(8) in one process. */
function ip(options: readonly string[], commands: readonly string[]): void {
  const input = `${commands.join('\n')}\n`;
  execFileSync('ip', [...options, '-batch', '-'], { input, stdio: ['pipe', 'ignore', 'inherit'] });
}
