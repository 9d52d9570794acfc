// Each option of ip(8) that the library has: set by the library and read by ip, and the other way round. The words of ip's help that
// no table has fail a test.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import type {
  NewLink,
  NewNextHopObject,
  NewRoute,
  NewRule,
  NewVlan,
  Rtnetlink,
} from '../../src/kernel/rtnetlink/index.js';
import { LEFT_OUT, SYNTAX, TESTED, wordsOf } from '../support/tables/rtnetlink/help.js';
import { at, batch, ipJson, prepared } from '../support/tables/rtnetlink/ip.js';
import * as kinds from '../support/tables/rtnetlink/kindOptions.js';
import type { OptionRow } from '../support/tables/rtnetlink/options.js';
import * as options from '../support/tables/rtnetlink/options.js';

/** What a group of options is set with, and read with. */
interface Group {
  readonly title: string;
  readonly rows: readonly OptionRow[];
  /** Sets the values by the library. */
  write(rtnetlink: Rtnetlink, values: never): Promise<void>;
  /** Commands that set the values by ip; `args` are those of the options. */
  commands(args: string): readonly string[];
  read(rtnetlink: Rtnetlink): Promise<unknown>;
  /** The command that removes what was created, before the next group. */
  readonly remove?: string;
  /** The arguments that show the object; it is the first that has the field `key` with that value. */
  readonly show: string;
  readonly key?: readonly [field: string, value: unknown];
}

const ROUTE = { destination: '10.9.0.0/16' };

/** A link that is created with the options of its kind, above another one if that is named. */
function ofKind(kind: string, rows: readonly OptionRow[], what = '', link?: string): Group {
  const name = `${kind}9`;
  const below = link === undefined ? '' : `link ${link} `;
  return {
    title: `ip link add type ${kind}${what}`,
    rows,
    async write(rtnetlink, values) {
      const settings = { ...(link !== undefined && { link }), ...(values as object) };
      const operation = { do: 'addLink', name, kind, settings } as NewLink & { do: 'addLink'; name: string };
      assert.deepEqual(await rtnetlink.apply([operation]), [undefined]);
    },
    commands: (args) => [`link add ${below}name ${name} type ${kind} ${args}`],
    read: (rtnetlink) => rtnetlink.getLink(name),
    show: `link show dev ${name}`,
    remove: `link del ${name}`,
  };
}

const GROUPS: readonly Group[] = [
  ofKind('bond', kinds.BOND_ARP, ' mode active-backup'),
  ofKind('bond', kinds.BOND_LACP, ' mode 802.3ad'),
  ofKind('bond', kinds.BOND_LOAD, ' mode balance-tlb'),
  ofKind('bond', kinds.BOND_ROUND, ' mode balance-rr'),
  ofKind('vxlan', kinds.VXLAN4, ' over IPv4'),
  ofKind('vxlan', kinds.VXLAN6, ' over IPv6'),
  ofKind('vxlan', kinds.VXLAN_EXTERNAL, ' external'),
  ofKind('macvlan', kinds.MACVLAN_SOURCE, ' mode source', 'low1'),
  ofKind('macvlan', kinds.MACVLAN_PASSTHRU, ' mode passthru', 'low2'),
  ofKind('macvtap', kinds.MACVTAP, '', 'low3'),
  ofKind('ipvlan', kinds.IPVLAN, '', 'low4'),
  ofKind('ipvtap', kinds.IPVTAP, '', 'low5'),
  ofKind('vrf', kinds.VRF),
  ofKind('geneve', kinds.GENEVE4, ' over IPv4'),
  ofKind('geneve', kinds.GENEVE6, ' over IPv6'),
  ofKind('geneve', kinds.GENEVE_EXTERNAL, ' external'),
  ofKind('gre', kinds.GRE),
  ofKind('gretap', kinds.GRETAP),
  ofKind('ip6gre', kinds.IP6GRE),
  ofKind('ip6tnl', kinds.IP6TNL),
  ofKind('ipip', kinds.IPIP),
  ofKind('sit', kinds.SIT),
  {
    title: 'ip nexthop add',
    rows: kinds.NEXT_HOP,
    write: (rtnetlink, values) => rtnetlink.addNextHop({ id: 7, ...(values as object) } as NewNextHopObject),
    commands: (args) => [`nexthop add id 7 ${args}`],
    read: (rtnetlink) => rtnetlink.getNextHop(7),
    show: 'nexthop show id 7',
    remove: 'nexthop del id 7',
  },
  {
    title: 'ip nexthop add, a group',
    rows: kinds.NEXT_HOP_GROUP,
    write: async (rtnetlink, values) => {
      for (const id of [1, 2]) await rtnetlink.addNextHop({ id, link: 'va' });
      await rtnetlink.addNextHop({ id: 7, ...(values as object) } as NewNextHopObject);
    },
    commands: (args) => ['nexthop add id 1 dev va', 'nexthop add id 2 dev va', `nexthop add id 7 ${args}`],
    read: (rtnetlink) => rtnetlink.getNextHop(7),
    show: 'nexthop show id 7',
    remove: 'nexthop del id 7',
  },
  {
    title: 'ip link set type bond_slave',
    rows: kinds.BOND_PORT,
    write: (rtnetlink, values) => rtnetlink.setLink('bondport', values),
    commands: (args) => [`link set dev bondport type bond_slave ${args}`],
    read: (rtnetlink) => rtnetlink.getLink('bondport'),
    show: 'link show dev bondport',
  },
  {
    title: 'ip link set',
    rows: options.LINK,
    write: (rtnetlink, values) => rtnetlink.setLink('dummy1', values),
    commands: (args) => [`link set dev dummy1 ${args}`],
    read: (rtnetlink) => rtnetlink.getLink('dummy1'),
    show: 'link show dev dummy1',
  },
  {
    title: 'ip link add type bridge',
    rows: options.BRIDGE,
    write: async (rtnetlink, values) => rtnetlink.addLink('bridge2', 'bridge', values),
    commands: (args) => [`link add bridge2 type bridge ${args}`],
    read: (rtnetlink) => rtnetlink.getLink('bridge2'),
    show: 'link show dev bridge2',
  },
  {
    title: 'ip link set type bridge_slave',
    rows: options.PORT,
    write: (rtnetlink, values) => rtnetlink.setLink('port1', values),
    commands: (args) => [`link set dev port1 type bridge_slave ${args}`],
    read: (rtnetlink) => rtnetlink.getLink('port1'),
    show: 'link show dev port1',
  },
  {
    title: 'ip link add type vlan',
    rows: options.VLAN,
    write: (rtnetlink, values) =>
      rtnetlink.addLink('vlan17', 'vlan', { link: 'va', ...(values as Pick<NewVlan, 'vlan'>) }),
    commands: (args) => [`link add link va name vlan17 type vlan ${args}`],
    read: (rtnetlink) => rtnetlink.getLink('vlan17'),
    show: 'link show dev vlan17',
  },
  {
    title: 'ip address add, IPv4',
    rows: options.ADDRESS4,
    write: (rtnetlink, values) =>
      rtnetlink.addAddress({ link: 'va', address: '10.5.0.1', prefix: 24, ...(values as object) }),
    commands: (args) => [`addr add 10.5.0.1 ${args} dev va`],
    read: async (rtnetlink) =>
      (await rtnetlink.listAddresses('va')).find(({ address }) => address === '10.5.0.1'),
    show: 'addr show dev va',
    key: ['local', '10.5.0.1'],
  },
  {
    title: 'ip address add, IPv6',
    rows: options.ADDRESS6,
    write: (rtnetlink) =>
      rtnetlink.addAddress({
        link: 'va',
        address: 'fd05::1',
        prefix: 64,
        flags: ['home', 'nodad', 'mngtmpaddr'],
      }),
    commands: (args) => [`addr add fd05::1/64 ${args} dev va`],
    read: async (rtnetlink) =>
      (await rtnetlink.listAddresses('va')).find(({ address }) => address === 'fd05::1'),
    show: 'addr show dev va',
    key: ['local', 'fd05::1'],
  },
  {
    title: 'ip route add, IPv4',
    rows: options.ROUTE4,
    write: (rtnetlink, values) => rtnetlink.addRoute({ ...ROUTE, ...(values as Partial<NewRoute>) }),
    commands: (args) => [`route add 10.9.0.0/16 ${args}`],
    read: async (rtnetlink) => (await rtnetlink.listRoutes({ table: 1000 }).toArray())[0],
    show: 'route show table all',
    key: ['dst', '10.9.0.0/16'],
  },
  {
    title: 'ip route add, IPv6',
    rows: options.ROUTE6,
    write: (rtnetlink, values) =>
      rtnetlink.addRoute({ destination: 'fd09::/64', ...(values as Partial<NewRoute>) }),
    commands: (args) => [`route add fd09::/64 ${args}`],
    read: async (rtnetlink) =>
      (await rtnetlink.listRoutes({ family: 6 }).toArray()).find(
        ({ destination }) => destination === 'fd09::/64',
      ),
    show: '-6 route show',
    key: ['dst', 'fd09::/64'],
  },
  {
    title: 'ip rule add',
    rows: options.RULE,
    write: (rtnetlink, values) => rtnetlink.addRule(values as NewRule),
    commands: (args) => [`rule add ${args}`],
    read: async (rtnetlink) => (await rtnetlink.listRules(4)).find(({ priority }) => priority === 777),
    show: 'rule show',
    key: ['priority', 777],
  },
  {
    title: 'ip neigh add',
    rows: options.NEIGHBOUR,
    write: (rtnetlink, values) =>
      rtnetlink.addNeighbour({ link: 'va', address: '10.1.0.99', ...(values as object) }),
    commands: (args) => [`neigh add 10.1.0.99 ${args} dev va`],
    read: (rtnetlink) => rtnetlink.getNeighbour({ link: 'va', address: '10.1.0.99' }),
    show: 'neigh show dev va',
    key: ['dst', '10.1.0.99'],
  },
];

/** The object of the library with the values of the rows. */
function objectOf(rows: readonly OptionRow[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const { path, value } of rows) {
    const names = path.split('.');
    const last = names.pop() as string;
    let held = object;
    for (const name of names) {
      held[name] ??= /^\d+$/.test(last) ? [] : {};
      held = held[name] as Record<string, unknown>;
    }
    held[last] = value;
  }
  return object;
}

/** Times pass while a test runs. */
function assertSame(actual: unknown, expected: unknown, message: string): void {
  const isTime = typeof expected === 'number' && expected >= 3000 && expected <= 5000;
  if (isTime && typeof actual === 'number' && expected - actual >= 0 && expected - actual <= 60) return;
  assert.deepEqual(actual, expected, message);
}

describe('every option of the tables', () => {
  let ours: Awaited<ReturnType<typeof prepared>>;
  let theirs: Awaited<ReturnType<typeof prepared>>;
  before(async () => {
    ours = await prepared();
    theirs = await prepared();
  });
  after(async () => {
    for (const { namespace, rtnetlink } of [ours, theirs]) {
      await rtnetlink.close();
      namespace.remove();
    }
  });

  for (const { title, rows, write, commands, read, show, key, remove } of GROUPS) {
    it(`${title}: set by the library, shown by ip`, async () => {
      await write(ours.rtnetlink, objectOf(rows) as never);
      const shown = ipJson(ours.namespace, show).find((each) => key === undefined || each[key[0]] === key[1]);
      const wrong: string[] = [];
      for (const { word, json = word, value, shown: expected = value } of rows) {
        try {
          assertSame(at(shown, json), expected, word);
        } catch {
          wrong.push(`${word}: ${JSON.stringify(at(shown, json))} for ${JSON.stringify(expected)}`);
        }
      }
      assert.deepEqual(wrong, [], JSON.stringify(shown));
      if (remove !== undefined) batch(ours.namespace, [remove]);
    });

    it(`${title}: set by ip, listed by the library`, async () => {
      const args = rows.map(({ word, value, args: given = `${word} ${value}` }) => given).join(' ');
      batch(theirs.namespace, commands(args.replace(/ +/g, ' ')));
      const listed = await read(theirs.rtnetlink);
      const wrong: string[] = [];
      for (const { word, path, value } of rows) {
        try {
          assertSame(at(listed, path), value, word);
        } catch {
          wrong.push(`${word}: ${JSON.stringify(at(listed, path))} for ${JSON.stringify(value)}`);
        }
      }
      assert.deepEqual(wrong, [], inspect(listed, { depth: null }));
      if (remove !== undefined) batch(theirs.namespace, [remove]);
    });
  }
});

describe('the help of ip', () => {
  const HELP = {
    link: 'link help',
    dummy: 'link help dummy',
    veth: 'link help veth',
    bridge: 'link help bridge',
    bridge_slave: 'link help bridge_slave',
    vlan: 'link help vlan',
    bond: 'link help bond',
    bond_slave: 'link help bond_slave',
    vxlan: 'link help vxlan',
    macvlan: 'link help macvlan',
    macvtap: 'link help macvtap',
    ipvlan: 'link help ipvlan',
    ipvtap: 'link help ipvtap',
    vrf: 'link help vrf',
    ifb: 'link help ifb',
    geneve: 'link help geneve',
    gre: 'link help gre',
    ip6gre: 'link help ip6gre',
    ip6tnl: 'link help ip6tnl',
    ipip: 'link help ipip',
    sit: 'link help sit',
    addr: 'addr help',
    route: 'route help',
    rule: 'rule help',
    neigh: 'neigh help',
    nexthop: 'nexthop help',
  } as const;
  const ROWS: Readonly<Record<keyof typeof HELP, readonly OptionRow[]>> = {
    link: options.LINK,
    dummy: [],
    veth: [],
    bridge: options.BRIDGE,
    bridge_slave: options.PORT,
    vlan: options.VLAN,
    bond: [...kinds.BOND_ARP, ...kinds.BOND_LACP, ...kinds.BOND_LOAD, ...kinds.BOND_ROUND],
    bond_slave: kinds.BOND_PORT,
    vxlan: [...kinds.VXLAN4, ...kinds.VXLAN6, ...kinds.VXLAN_EXTERNAL],
    macvlan: [...kinds.MACVLAN_SOURCE, ...kinds.MACVLAN_PASSTHRU],
    macvtap: kinds.MACVTAP,
    ipvlan: kinds.IPVLAN,
    ipvtap: kinds.IPVTAP,
    vrf: kinds.VRF,
    ifb: [],
    geneve: [...kinds.GENEVE4, ...kinds.GENEVE6, ...kinds.GENEVE_EXTERNAL],
    gre: [...kinds.GRE, ...kinds.GRETAP],
    ip6gre: kinds.IP6GRE,
    ip6tnl: kinds.IP6TNL,
    ipip: kinds.IPIP,
    sit: kinds.SIT,
    addr: [...options.ADDRESS4, ...options.ADDRESS6],
    route: [...options.ROUTE4, ...options.ROUTE6],
    rule: options.RULE,
    neigh: options.NEIGHBOUR,
    nexthop: [...kinds.NEXT_HOP, ...kinds.NEXT_HOP_GROUP],
  };

  for (const topic of Object.keys(HELP) as (keyof typeof HELP)[]) {
    it(`has no word that no table has: ip ${HELP[topic]}`, () => {
      // ip writes its help to standard error, and ends with 255.
      const { stdout, stderr } = spawnSync('ip', HELP[topic].split(' '), { encoding: 'utf8' });
      const words = wordsOf(stdout + stderr);
      assert.ok(words.length > 0);
      const known = new Set([
        ...SYNTAX,
        ...ROWS[topic].map(({ word }) => word),
        ...(TESTED[topic] ?? []),
        ...Object.values(LEFT_OUT[topic] ?? {}).flat(),
      ]);
      assert.deepEqual(
        words.filter((word) => !known.has(word)),
        [],
      );
    });
  }
});
