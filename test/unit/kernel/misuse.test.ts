// Calls with one invalid value: every verb of every export, on a stand-in for the addon and on the fake, refuses it, names it, and
// sends nothing. The verbs and the fields are those of the exported types, so that a new one without a row fails.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as conntrack from '../../../src/kernel/conntrack/index.js';
import * as ipset from '../../../src/kernel/ipset/index.js';
import * as ipvs from '../../../src/kernel/ipvs/index.js';
import * as netlink from '../../../src/kernel/netlink/index.js';
import * as nftables from '../../../src/kernel/nftables/index.js';
import * as text from '../../../src/kernel/nftables/text/index.js';
import * as rtnetlink from '../../../src/kernel/rtnetlink/index.js';
import { type AnyRows, acceptedBy, misusesOf } from '../../support/misuse/calls.js';
import { CountedAddon } from '../../support/misuse/countedAddon.js';
import { PASSED_OVER, REFUSED } from '../../support/misuse/fields.js';
import { outcomeOf } from '../../support/misuse/outcome.js';
import { CONNTRACK } from '../../support/misuse/rows/conntrack.js';
import { FUNCTIONS } from '../../support/misuse/rows/functions.js';
import { IPSET } from '../../support/misuse/rows/ipset.js';
import { IPVS } from '../../support/misuse/rows/ipvs.js';
import { NETLINK } from '../../support/misuse/rows/netlink.js';
import { NFTABLES } from '../../support/misuse/rows/nftables.js';
import { RTNETLINK } from '../../support/misuse/rows/rtnetlink.js';
import { FAKES, OPEN, type Subpath, type Verbs } from '../../support/misuse/subpaths.js';
import { ExportedTypes, type VerbType } from '../../support/misuse/types.js';
import { placesIn } from '../../support/misuse/values.js';

const ROWS = {
  ipvs: IPVS,
  ipset: IPSET,
  rtnetlink: RTNETLINK,
  conntrack: CONNTRACK,
  netlink: NETLINK,
  nftables: NFTABLES,
} as const;
const SUBPATHS = Object.keys(ROWS) as Subpath[];
const INTERFACES = {
  ipvs: 'Ipvs',
  ipset: 'Ipset',
  rtnetlink: 'Rtnetlink',
  conntrack: 'Conntrack',
  netlink: 'Netlink',
  nftables: 'Nftables',
};

const MODULES: Readonly<Record<keyof typeof FUNCTIONS, object>> = {
  ...{ ipvs, ipset, rtnetlink, conntrack, netlink, nftables },
  'nftables/text': text,
};

const types = new ExportedTypes(Object.keys(MODULES).map((subpath) => `${subpath}/index`));

function typesOf(subpath: Subpath): Map<string, VerbType> {
  return types.interface(`${subpath}/index`, INTERFACES[subpath]);
}

/** The places of a call that no row has, and that it takes and reads. */
function missingPlaces(call: string, places: VerbType['places'], has: ReadonlySet<string>): string[] {
  const [passed, refused] = [PASSED_OVER[call], REFUSED[call]];
  return [...places.keys()].filter((path) => !has.has(path) && !passed?.test(path) && !refused?.test(path));
}

describe('a call with an invalid value', () => {
  let addon: CountedAddon;
  before(() => {
    addon = new CountedAddon();
  });
  after(() => addon.restore());

  for (const subpath of SUBPATHS) {
    it(`has a row for every verb and every field of ${subpath}`, () => {
      const rows = ROWS[subpath] as AnyRows;
      assert.deepEqual(Object.keys(rows).sort(), [...typesOf(subpath).keys()].sort());
      for (const [verb, { places }] of typesOf(subpath)) {
        const has = new Set(rows[verb]?.flatMap((args) => [...placesIn(args)].map(({ path }) => path)));
        assert.deepEqual(missingPlaces(`${subpath}.${verb}`, places, has), [], verb);
      }
    });

    it(`is valid without that value: ${subpath}`, async () => {
      const client = (await OPEN[subpath]()) as unknown as Verbs;
      for (const [verb, examples] of Object.entries(ROWS[subpath] as AnyRows)) {
        for (const args of examples) {
          const outcome = await outcomeOf(() => client[verb]?.(...args));
          assert.ok('accepted' in outcome, `${verb}: ${JSON.stringify(outcome)}`);
        }
      }
    });

    it(`is refused by the client of ${subpath}, and nothing is sent`, async () => {
      const client = (await OPEN[subpath]()) as unknown as Verbs;
      addon.calls.length = 0;
      assert.deepEqual(
        await acceptedBy(misusesOf(subpath, typesOf(subpath), ROWS[subpath] as AnyRows), client),
        [],
      );
      assert.deepEqual(addon.calls, []);
    });

    it(`is refused by the fake of ${subpath}`, async () => {
      const misuses = misusesOf(subpath, typesOf(subpath), ROWS[subpath] as AnyRows);
      assert.deepEqual(await acceptedBy(misuses, FAKES[subpath]() as unknown as Verbs), []);
    });
  }

  for (const subpath of Object.keys(FUNCTIONS) as (keyof typeof FUNCTIONS)[]) {
    it(`is refused by the functions of ${subpath}, which have a row for every field`, async () => {
      const functions = types.functions(`${subpath}/index`);
      const rows = FUNCTIONS[subpath] as AnyRows;
      assert.deepEqual(Object.keys(rows).sort(), [...functions.keys()].sort());
      for (const [name, { places }] of functions) {
        const has = new Set(rows[name]?.flatMap((args) => [...placesIn(args)].map(({ path }) => path)));
        assert.deepEqual(missingPlaces(`${subpath}.${name}`, places, has), [], name);
      }
      const module = MODULES[subpath] as unknown as Verbs;
      for (const [name, examples] of Object.entries(rows)) {
        for (const args of examples) {
          const outcome = await outcomeOf(() => module[name]?.(...args));
          assert.ok(
            'accepted' in outcome && !/\bTypeError\b/.test(outcome.accepted),
            `${name}: ${JSON.stringify(outcome)}`,
          );
        }
      }
      addon.calls.length = 0;
      assert.deepEqual(await acceptedBy(misusesOf(subpath, functions, rows), module), []);
      assert.deepEqual(addon.calls, []);
    });
  }
});
