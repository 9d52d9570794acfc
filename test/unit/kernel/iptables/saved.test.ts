// A long output of iptables-save does not block the event loop, and does not stay in memory.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { keepYoungGenerationSmall } from '../../../../src/cli/heap.js';
import { parseTables, parseTablesInSlices } from '../../../../src/kernel/iptables/saved.js';
import { heapInUse } from '../../../support/garbage.js';
import { blocksOf } from '../../../support/threadBlocks.js';

const RULES = 50_000;
/** Time for which the thread runs between two turns, in ms. A slice has 2 ms; the rest is for the garbage collector. */
const LONGEST_BLOCK = 10;
const ROUNDS = 3;

const name = (i: number) => `KUBE-SEP-${String(i).padStart(16, '0')}`;

/** The output of a node with a chain of one rule for each endpoint. */
function longOutput(): string {
  const headers = Array.from({ length: RULES }, (_, i) => `:${name(i)} - [0:0]\n`);
  const rules = Array.from(
    { length: RULES },
    (_, i) =>
      `-A ${name(i)} -p tcp -m comment --comment "demo/s${i}" -m tcp -j DNAT --to-destination 10.0.0.9:80\n`,
  );
  return `*nat\n:INPUT ACCEPT [0:0]\n${headers.join('')}${rules.join('')}COMMIT\n`;
}

it(`${RULES} rules are read in time slices, with the same result`, async () => {
  keepYoungGenerationSmall(); // as in the agent
  const text = longOutput();
  const expected = parseTables(text);
  const longest: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    let tables: unknown;
    const blocks = await blocksOf(async () => {
      tables = await parseTablesInSlices(text);
    });
    longest.push(Math.max(...blocks.map(({ ran }) => ran)));
    if (round === 0) assert.deepEqual(tables, expected);
  }
  assert.ok(Math.min(...longest) <= LONGEST_BLOCK, `blocked for ${longest.map((ms) => ms.toFixed(1))} ms`);
});

/** Maximum growth of the heap by one rule that stays, as a share of the length of the output. */
const SHARE = 0.1;

it('a rule that stays in use does not keep the others in memory', async () => {
  const before = await heapInUse();
  let length = 0;
  const rules = [false, true].map((isLast) => {
    // As it is read from a process: one piece of memory.
    const text = Buffer.from(longOutput()).toString();
    length += text.length;
    const chain = `nat/${name(isLast ? RULES - 1 : 0)}`;
    return parseTables(text).rules.get(chain)?.[0];
  });
  /^$/.exec(''); // The last match of a regular expression keeps its text.
  const grown = (await heapInUse()) - before;
  assert.equal(rules.filter(Boolean).length, 2);
  assert.ok(grown < SHARE * length, `${grown} bytes of ${length}`);
});

it('text that is not ASCII', () => {
  const { rules } = parseTables('*filter\n:A - [0:0]\n-A A -m comment --comment "Büro 東京" -j DROP\nCOMMIT');
  assert.deepEqual(rules.get('filter/A'), ['-m comment --comment "Büro 東京" -j DROP']);
});
