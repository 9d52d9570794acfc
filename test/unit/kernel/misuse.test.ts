// Calls with one invalid value: every verb of every export, on a stand-in for the addon and on the fake, refuses it, names it, and
// sends nothing. The verbs and the fields are those of the exported types, so that a new one without a row fails.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as conntrack from '../../../src/kernel/conntrack/index.js';
import * as ipset from '../../../src/kernel/ipset/index.js';
import * as ipvs from '../../../src/kernel/ipvs/index.js';
import * as netlink from '../../../src/kernel/netlink/index.js';
import * as rtnetlink from '../../../src/kernel/rtnetlink/index.js';
import { type AnyRows, acceptedBy, misusesOf } from '../../support/misuse/calls.js';
import { CountedAddon } from '../../support/misuse/countedAddon.js';
import { type Door, FAKES, OPEN, type Verbs } from '../../support/misuse/doors.js';
import { PASSED_OVER, REFUSED } from '../../support/misuse/fields.js';
import { outcomeOf } from '../../support/misuse/outcome.js';
import { CONNTRACK } from '../../support/misuse/rows/conntrack.js';
import { FUNCTIONS } from '../../support/misuse/rows/functions.js';
import { IPSET } from '../../support/misuse/rows/ipset.js';
import { IPVS } from '../../support/misuse/rows/ipvs.js';
import { NETLINK } from '../../support/misuse/rows/netlink.js';
import { RTNETLINK } from '../../support/misuse/rows/rtnetlink.js';
import { ExportedTypes, type VerbType } from '../../support/misuse/types.js';
import { placesIn } from '../../support/misuse/values.js';

const ROWS = {
  ipvs: IPVS,
  ipset: IPSET,
  rtnetlink: RTNETLINK,
  conntrack: CONNTRACK,
  netlink: NETLINK,
} as const;
const DOORS = Object.keys(ROWS) as Door[];
const INTERFACES = {
  ipvs: 'Ipvs',
  ipset: 'Ipset',
  rtnetlink: 'Rtnetlink',
  conntrack: 'Conntrack',
  netlink: 'Netlink',
};

const MODULES: Readonly<Record<Door, object>> = { ipvs, ipset, rtnetlink, conntrack, netlink };

const types = new ExportedTypes(DOORS.map((door) => `${door}/index`));

function typesOf(door: Door): Map<string, VerbType> {
  return types.interface(`${door}/index`, INTERFACES[door]);
}

describe('a call with an invalid value', () => {
  let addon: CountedAddon;
  before(() => {
    addon = new CountedAddon();
  });
  after(() => addon.restore());

  for (const door of DOORS) {
    it(`has a row for every verb and every field of ${door}`, () => {
      const rows = ROWS[door] as AnyRows;
      assert.deepEqual(Object.keys(rows).sort(), [...typesOf(door).keys()].sort());
      for (const [verb, { places }] of typesOf(door)) {
        const has = new Set(rows[verb]?.flatMap((args) => [...placesIn(args)].map(({ path }) => path)));
        const refused = REFUSED[`${door}.${verb}`];
        const missing = [...places.keys()].filter((path) => !has.has(path) && !refused?.test(path));
        assert.deepEqual(missing, [], verb);
      }
    });

    it(`is valid without that value: ${door}`, async () => {
      const client = (await OPEN[door]()) as unknown as Verbs;
      for (const [verb, examples] of Object.entries(ROWS[door] as AnyRows)) {
        for (const args of examples) {
          const outcome = await outcomeOf(() => client[verb]?.(...args));
          assert.ok('accepted' in outcome, `${verb}: ${JSON.stringify(outcome)}`);
        }
      }
    });

    it(`is refused by the client of ${door}, and nothing is sent`, async () => {
      const client = (await OPEN[door]()) as unknown as Verbs;
      addon.calls.length = 0;
      assert.deepEqual(await acceptedBy(misusesOf(door, typesOf(door), ROWS[door] as AnyRows), client), []);
      assert.deepEqual(addon.calls, []);
    });

    it(`is refused by the fake of ${door}`, async () => {
      const misuses = misusesOf(door, typesOf(door), ROWS[door] as AnyRows);
      assert.deepEqual(await acceptedBy(misuses, FAKES[door]() as unknown as Verbs), []);
    });

    it(`is refused by the functions of ${door}, which have a row for every field`, async () => {
      const functions = types.functions(`${door}/index`);
      const rows = FUNCTIONS[door] as AnyRows;
      assert.deepEqual(Object.keys(rows).sort(), [...functions.keys()].sort());
      for (const [name, { places }] of functions) {
        const has = new Set(rows[name]?.flatMap((args) => [...placesIn(args)].map(({ path }) => path)));
        const passed = PASSED_OVER[`${door}.${name}`];
        const refused = REFUSED[`${door}.${name}`];
        const missing = [...places.keys()].filter(
          (path) => !has.has(path) && !passed?.test(path) && !refused?.test(path),
        );
        assert.deepEqual(missing, [], name);
      }
      const module = MODULES[door] as unknown as Verbs;
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
      assert.deepEqual(await acceptedBy(misusesOf(door, functions, rows), module), []);
      assert.deepEqual(addon.calls, []);
    });
  }
});
