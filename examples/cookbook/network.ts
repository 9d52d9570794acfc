// Makes the links, addresses, routes and rules of a network namespace equal to a file, and repairs them when somebody changes them:
//
//   node network.js NETNS network.yaml
//
// NETNS is a path (/run/netns/blue) or the id of a process. The file has any of these lists:
//
//   links:     [{ name: web0, kind: dummy, mtu: 1400 }]
//   addresses: [{ link: web0, address: 10.0.9.1, prefix: 24 }]
//   routes:    [{ destination: 10.8.0.0/16, gateway: 10.0.9.254, table: 100 }]
//   rules:     [{ priority: 1000, from: 10.0.9.0/24, table: 100 }]
//
// Objects that the file never named stay. The file is read again after SIGHUP. Needs CAP_NET_ADMIN and CAP_SYS_ADMIN. SIGINT and
// SIGTERM end it; the objects stay.
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import {
  type Link,
  type LinkAddressId,
  type NewRoute,
  type NewRule,
  openRtnetlink,
  type Route,
  type Rtnetlink,
  type RtnetlinkOperation,
  type Rule,
  throwOnFailure,
} from 'kube-netlink-proxy/rtnetlink';
import { parse } from 'yaml';

/** The objects of a file. */
export interface Network {
  readonly links?: readonly WantedLink[];
  readonly addresses?: readonly LinkAddressId[];
  readonly routes?: readonly NewRoute[];
  readonly rules?: readonly WantedRule[];
}

export interface WantedLink {
  readonly name: string;
  readonly kind: 'dummy' | 'bridge';
  readonly mtu?: number;
}

/** A rule is named by its family and its priority. */
export type WantedRule = NewRule & { readonly priority: number };

type Reading = Pick<Rtnetlink, 'listLinks' | 'listAddresses' | 'listRoutes' | 'listRules'>;

/** Makes the objects equal to `wanted`, and removes those of `former` that are not wanted any more. Returns the number of changes. */
export async function reconcile(
  rtnetlink: Reading & Pick<Rtnetlink, 'apply'>,
  wanted: Network,
  former: Network = {},
): Promise<number> {
  const found = await read(rtnetlink);
  const operations = [...removals(found, wanted, former), ...additions(found, wanted)];
  throwOnFailure(await rtnetlink.apply(operations));
  return operations.length;
}

interface Found {
  readonly links: ReadonlyMap<string, Link>;
  readonly addresses: ReadonlySet<string>;
  readonly routes: ReadonlyMap<string, Route>;
  readonly rules: ReadonlyMap<string, Rule>;
}

async function read(rtnetlink: Reading): Promise<Found> {
  const [links, addresses, routes, rules] = await Promise.all([
    rtnetlink.listLinks(),
    rtnetlink.listAddresses(),
    rtnetlink.listRoutes().toArray(),
    rtnetlink.listRules(),
  ]);
  return {
    links: new Map(links.map((link) => [link.name, link])),
    addresses: new Set(addresses.map(addressKey)),
    routes: new Map(routes.map((route) => [routeKey(route), route])),
    rules: new Map(rules.map((rule) => [ruleKey(rule), rule])),
  };
}

/** Rules are removed first, and links last: a link takes its addresses and routes with it. */
function removals(found: Found, wanted: Network, former: Network): RtnetlinkOperation[] {
  const rules = gone(former.rules, wanted.rules, ruleKey).flatMap((key) => found.rules.get(key) ?? []);
  const routes = gone(former.routes, wanted.routes, routeKey).flatMap((key) => found.routes.get(key) ?? []);
  const leaving = new Set(gone(former.addresses, wanted.addresses, addressKey));
  const addresses = (former.addresses ?? []).filter((address) => {
    return leaving.has(addressKey(address)) && found.addresses.has(addressKey(address));
  });
  const links = gone(former.links, wanted.links, ({ name }) => name).filter((name) => found.links.has(name));
  return [
    ...rules.map((rule): RtnetlinkOperation => ({ do: 'deleteRule', rule })),
    ...routes.map((route): RtnetlinkOperation => ({ do: 'deleteRoute', route })),
    ...addresses.map((address): RtnetlinkOperation => ({ do: 'deleteAddress', address })),
    ...links.map((name): RtnetlinkOperation => ({ do: 'deleteLink', name })),
  ];
}

/** The keys of the objects that were wanted before, and are not any more. */
function gone<T>(former: readonly T[] = [], wanted: readonly T[] = [], keyOf: (object: T) => string): string[] {
  const kept = new Set(wanted.map(keyOf));
  return former.map(keyOf).filter((key) => !kept.has(key));
}

/** What an object needs comes first: a link before its addresses, and the network of an address before a route by a gateway in it. */
function additions(found: Found, wanted: Network): RtnetlinkOperation[] {
  const operations: RtnetlinkOperation[] = [];
  for (const { name, kind, mtu } of wanted.links ?? []) {
    const link = found.links.get(name);
    const settings = { up: true, ...(mtu !== undefined && { mtu }) };
    if (!link) operations.push({ do: 'addLink', name, kind, settings });
    else if (!link.up || (mtu ?? link.mtu) !== link.mtu) operations.push({ do: 'setLink', link: name, settings });
  }
  for (const address of wanted.addresses ?? []) {
    if (!found.addresses.has(addressKey(address))) operations.push({ do: 'addAddress', address });
  }
  for (const route of wanted.routes ?? []) {
    const existing = found.routes.get(routeKey(route));
    if (!existing || existing.gateway !== route.gateway || (route.link ?? existing.link) !== existing.link) {
      operations.push({ do: 'replaceRoute', route });
    }
  }
  for (const rule of wanted.rules ?? []) {
    const existing = found.rules.get(ruleKey(rule));
    if (existing && hasFields(existing, rule)) continue;
    if (existing) operations.push({ do: 'deleteRule', rule: existing });
    operations.push({ do: 'addRule', rule });
  }
  return operations;
}

/** Whether a listed rule has each field that is wanted. */
function hasFields(rule: Rule, wanted: WantedRule): boolean {
  return Object.entries(wanted).every(([field, value]) => {
    return JSON.stringify(rule[field as keyof Rule]) === JSON.stringify(value);
  });
}

function addressKey({ link, address, prefix }: LinkAddressId): string {
  return `${link} ${address}/${prefix}`;
}

/** Of a table, a destination and a metric there is one route. A listing has the length of each destination. */
function routeKey({ destination, table = 'main', metric, family }: NewRoute): string {
  const isSix = destination === 'default' ? family === 6 : destination.includes(':');
  const network = destination === 'default' ? (isSix ? '::/0' : '0.0.0.0/0') : destination;
  const length = network.includes('/') ? '' : isSix ? '/128' : '/32';
  return `${table} ${network}${length} ${metric || (isSix ? 1024 : 0)}`;
}

function ruleKey({ family, from, to, priority }: NewRule): string {
  return `${family ?? (`${from}${to}`.includes(':') ? 6 : 4)} ${priority}`;
}

/** Reconciles at the start and after events, until the signal is aborted. Calls `report` with each number of changes. */
export async function follow(
  rtnetlink: Pick<Rtnetlink, keyof Reading | 'apply' | 'watch'>,
  wanted: Network,
  former: Network,
  signal: AbortSignal,
  report: (changes: number) => void,
): Promise<void> {
  try {
    // One event for all that happens within 50 ms. The changes made here are events too, which find nothing to do.
    for await (const _ of rtnetlink.watch({ gather: 50, signal })) {
      const changes = await reconcile(rtnetlink, wanted, former);
      if (changes > 0) report(changes);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function main(netns: string, file: string): Promise<void> {
  await using rtnetlink = await openRtnetlink({ netns: /^\d+$/.test(netns) ? Number(netns) : netns });
  let former: Network = {};
  let isEnding = false;
  let turn = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      isEnding ||= signal !== 'SIGHUP';
      turn.abort();
    });
  }
  while (!isEnding) {
    turn = new AbortController();
    const wanted = (parse(await readFile(file, 'utf8')) ?? {}) as Network;
    await follow(rtnetlink, wanted, former, turn.signal, (changes) => console.log(`${changes} changes`));
    former = wanted;
  }
}

const [, script = '', netns = '', file = 'network.yaml'] = process.argv;
if (import.meta.url === pathToFileURL(script).href) await main(netns, file);
