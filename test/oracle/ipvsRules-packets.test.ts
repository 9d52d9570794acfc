// The recordings of ipvs mode with real endpoints: each request to a frontend has the same verdict, endpoint and source address with rules of
// iptables and with rules of nf_tables, on one kernel.
// Needs: ipvs, nftables, dummy device, conntrack
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { sample } from '../support/extent.js';
import { isRandom, recordedObjects, scenarios } from '../support/oracle/oracle.js';
import { type Outcomes, type Patience, RecordedLab } from '../support/recordedPackets/recordedLab.js';
import { endpointsOf, type Frontend, frontendsOf } from '../support/recordedPackets/requests.js';

/** Times after which a request has no answer, and after which the next client dials, in ms: at first, and for those that differ. */
const PATIENCE = { answer: 2_500, next: 500 };
const LONG_PATIENCE = { answer: 20_000, next: 20_000 };
/** Frontends that are dialled at the same time. */
const TOGETHER = 24;

const all = scenarios('ipvs');
const fixed = all.filter((one) => !isRandom(one));
/** One of random objects has as many frontends as all others together; `KNP_PACKETS=all` runs all of them. */
const random = all.filter(isRandom).slice(0, process.env['KNP_PACKETS'] === 'all' ? undefined : 1);
const rows = [...sample(fixed, 6), ...random];

let labs: readonly RecordedLab[] = [];

before(async () => {
  const texts = new Set(rows.flatMap(({ steps }) => steps.map(recordedObjects)));
  const endpoints = new Map(
    [...texts].flatMap(endpointsOf).map((one) => [`${one.address} ${one.port} ${one.protocol}`, one]),
  );
  const own = new Set([
    '127.0.0.1',
    '10.0.2.15',
    ...all.flatMap(({ interfaces }) => interfaces.map(({ address }) => address)),
  ]);
  const open = (rules: 'iptables' | 'nftables') => RecordedLab.open(rules, [...endpoints.values()], own);
  labs = await Promise.all([open('iptables'), open('nftables')]);
});
after(() => Promise.all(labs.map((lab) => lab.close())));

/** What happens to the requests to each frontend, in each lab. */
async function dialAll(frontends: readonly Frontend[], patience: Patience): Promise<Outcomes[][]> {
  const found: Outcomes[][] = frontends.map(() => []);
  const left = frontends.keys();
  const worker = async () => {
    for (const place of left)
      found[place] = await Promise.all(
        labs.map((lab) => lab.outcomes(frontends[place] as Frontend, patience)),
      );
  };
  await Promise.all(Array.from({ length: TOGETHER }, worker));
  return found;
}

/**
 * Frontends whose requests differ. On a machine that is slow for a moment, an answer is lost, or requests are scheduled in another
 * order: these are dialled once more, strictly in turn, and from the first state of the schedulers.
 */
async function differing(name: string, step: number, frontends: readonly Frontend[]): Promise<string[]> {
  const first = await dialAll(frontends, PATIENCE);
  const texts = first.flatMap(([one = {}]) => Object.values(one));
  assert.ok(
    texts.some((text) => text.includes(' sees ')),
    `${name}: no endpoint answers`,
  );
  const unequal = frontends.filter((_, i) => !isDeepStrictEqual(first[i]?.[0], first[i]?.[1]));
  if (unequal.length === 0) return [];
  await program(name, 0, step);
  const again = await dialAll(unequal, LONG_PATIENCE);
  return unequal.flatMap(({ address, port, protocol }, i) => {
    const [one, other] = again[i] ?? [];
    if (isDeepStrictEqual(one, other)) return [];
    const found = `iptables ${JSON.stringify(one)}, nftables ${JSON.stringify(other)}`;
    return [`${address} ${port} ${protocol}: ${found}`];
  });
}

/** Programs steps in both labs. */
async function program(name: string, from: number, to: number): Promise<void> {
  for (let step = from; step <= to; step++) {
    const failures = await Promise.all(labs.map((lab) => lab.program(name, step)));
    assert.deepEqual(failures, [[], []]);
  }
}

describe('packets of recordings of ipvs mode, with both kinds of rules', { concurrency: false }, () => {
  for (const { name, steps } of rows)
    it(name, async () => {
      for (const [i, step] of steps.entries()) {
        await program(name, i, i);
        assert.deepEqual(await differing(name, i, frontendsOf(recordedObjects(step))), [], step);
      }
    });
});
