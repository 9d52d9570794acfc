// Objects of rtnetlink that are added, listed, deleted as they were listed, and written back as they were listed. The kernel and the
// fake share the rows.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { inspect, isDeepStrictEqual } from 'node:util';
import type { Family } from '../../../src/kernel/net/address.js';
import type {
  Link,
  NewLinkAddress,
  NewNeighbour,
  NewNextHopObject,
  NewRoute,
  NewRule,
  Rtnetlink,
} from '../../../src/kernel/rtnetlink/types.js';
import { ADDRESSES, LINKS, NEIGHBOURS, NEXT_HOPS, RARE_KINDS, ROUTES, RULES } from './rtnetlinkRows.js';

/** An empty network namespace, and a witness of its state. */
export interface Opened {
  readonly rtnetlink: Rtnetlink;
  /** The objects of a kind and family, as another program shows them, without times that pass. */
  show(kind: Kind, family: Family): unknown;
}

/** A kind of objects. */
export type Kind = 'addresses' | 'routes' | 'rules' | 'neighbours' | 'nexthops';

/** How the objects of a kind are handled. */
interface Verbs<Written> {
  list(rtnetlink: Rtnetlink, object: Written): Promise<readonly Written[]>;
  add(rtnetlink: Rtnetlink, object: Written): Promise<void>;
  delete(rtnetlink: Rtnetlink, object: Written): Promise<void>;
}

const ADDRESS_VERBS: Verbs<NewLinkAddress> = {
  list: async (rtnetlink) =>
    // The kernel makes link-local addresses, and finds duplicates of them, in its own time.
    (await rtnetlink.listAddresses('va')).filter(({ address }) => !address.startsWith('fe80:')),
  add: (rtnetlink, address) => rtnetlink.addAddress(address),
  delete: (rtnetlink, address) => rtnetlink.deleteAddress(address),
};
const ROUTE_VERBS: Verbs<NewRoute> = {
  list: async (rtnetlink) =>
    (await rtnetlink.listRoutes().toArray()).filter(({ protocol }) => protocol !== 'kernel'),
  add: (rtnetlink, route) => rtnetlink.addRoute(route),
  delete: (rtnetlink, route) => rtnetlink.deleteRoute(route),
};
const RULE_VERBS: Verbs<NewRule> = {
  list: (rtnetlink) => rtnetlink.listRules(),
  add: (rtnetlink, rule) => rtnetlink.addRule(rule),
  delete: (rtnetlink, rule) => rtnetlink.deleteRule(rule),
};
const NEIGHBOUR_VERBS: Verbs<NewNeighbour> = {
  list: async (rtnetlink, { address, proxy = false }) =>
    (await rtnetlink.listNeighbours({ proxy }).toArray()).filter((each) => each.address === address),
  add: (rtnetlink, neighbour) => rtnetlink.addNeighbour(neighbour),
  delete: (rtnetlink, neighbour) => rtnetlink.deleteNeighbour(neighbour),
};

const NEXT_HOP_VERBS: Verbs<NewNextHopObject> = {
  list: async (rtnetlink, { id }) =>
    // A listing has what is written, and more.
    (await rtnetlink.listNextHops().toArray()).filter((each) => each.id === id),
  add: async (rtnetlink, nextHop) => {
    if (nextHop.group)
      for (const { id } of nextHop.group)
        await rtnetlink.replaceNextHop({ id, link: 'va', gateway: `10.1.0.${id}` });
    await rtnetlink.addNextHop(nextHop);
  },
  delete: (rtnetlink, nextHop) => rtnetlink.deleteNextHop(nextHop),
};

/** Fields whose values pass with the time. */
const TIMES = ['validLifetime', 'preferredLifetime', 'expires', 'used', 'confirmed', 'updated'];

function timeless(objects: readonly object[]): object[] {
  return objects.map((object) =>
    Object.fromEntries(Object.entries(object).filter(([field]) => !TIMES.includes(field))),
  );
}

/** Registers the tests. `open` returns a namespace with the links of the rows, which the tests leave as it was. */
export function rtnetlinkRoundTrips(open: () => Promise<Opened>): void {
  register('addresses', open, ADDRESSES, ADDRESS_VERBS);
  register('routes', open, ROUTES, ROUTE_VERBS);
  register('rules', open, RULES, RULE_VERBS);
  register('neighbours', open, NEIGHBOURS, NEIGHBOUR_VERBS);
  register('nexthops', open, NEXT_HOPS, NEXT_HOP_VERBS);
  it('links of each kind are deleted as they are listed, by name and by index, and made again as they are listed', async () => {
    const { rtnetlink } = await open();
    for (const key of ['name', 'index'] as const) {
      for (const operation of LINKS) {
        const [refused] = await rtnetlink.apply([operation]);
        if (RARE_KINDS.has(operation.kind) && refused?.kernelMessage === 'Unknown device type') continue;
        assert.equal(refused, undefined, operation.kind);
        const listed = (await rtnetlink.getLink(operation.name)) ?? assert.fail(operation.name);
        await rtnetlink.deleteLink(listed[key]);
        const again = madeAgain(operation, listed);
        assert.deepEqual(await rtnetlink.apply([again]), [undefined], operation.kind);
        const { [operation.kind]: settings } = (await rtnetlink.getLink('l0')) as unknown as Listed;
        assert.deepEqual(settings, (listed as unknown as Listed)[operation.kind], operation.kind);
        assert.equal((settings as { attributes?: unknown })?.attributes, undefined, operation.kind);
        await rtnetlink.deleteLink('l0');
      }
    }
    // A kernel that loads the module of a tunnel adds a link of its own.
    const left = (await rtnetlink.listLinks()).filter(({ name }) => /^l\d$/.test(name));
    assert.deepEqual(left, []);
  });
}

type AddLink = (typeof LINKS)[number];
type Listed = Readonly<Record<string, unknown>>;

/** The operation that makes a link with all settings of its kind that were listed. */
function madeAgain(operation: AddLink, listed: Link): AddLink {
  const { [operation.kind]: own } = listed as unknown as Listed;
  const given = operation.settings as Listed | undefined;
  return {
    ...operation,
    settings: { ...given, ...(own !== undefined && { [operation.kind]: own }) },
  } as AddLink;
}

function register<Written extends object>(
  kind: Kind,
  open: () => Promise<Opened>,
  rows: Readonly<Record<string, Written>>,
  verbs: Verbs<Written>,
): void {
  describe(`${kind} are deleted and written back as they are listed`, () => {
    let opened: Opened;
    before(async () => {
      opened = await open();
    });
    for (const [title, object] of Object.entries(rows)) {
      it(title, async () => {
        const { rtnetlink, show } = opened;
        const others = await verbs.list(rtnetlink, object);
        await verbs.add(rtnetlink, object);
        const whole = await verbs.list(rtnetlink, object);
        const added = whole.filter((each) => !others.some((other) => isDeepStrictEqual(each, other)));
        const [listed] = added;
        assert.ok(listed && added.length === 1, 'it is listed');
        assertWritten(listed, object);
        const family = inspect(listed).includes('::') ? 6 : 4;
        const shown = show(kind, family);
        await verbs.delete(rtnetlink, listed);
        assert.deepEqual(timeless(await verbs.list(rtnetlink, object)), timeless(others), 'it is deleted');
        await verbs.add(rtnetlink, listed);
        assert.deepEqual(
          timeless(await verbs.list(rtnetlink, object)),
          timeless(whole),
          'it is the same again',
        );
        assert.deepEqual(show(kind, family), shown, 'another program sees the same');
        await verbs.delete(rtnetlink, listed);
      });
    }
  });
}

/** Every address of what was written is listed as it is: an IPv4-mapped one too. */
function assertWritten(listed: object, written: object): void {
  for (const field of ['address', 'peer', 'from', 'to', 'gateway', 'preferredSource'] as const) {
    const value = (written as Record<string, unknown>)[field];
    if (value !== undefined) assert.equal((listed as Record<string, unknown>)[field], value, field);
  }
  assert.equal((listed as { attributes?: unknown }).attributes, undefined, 'it has no unknown attributes');
}
