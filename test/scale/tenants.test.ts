// The largest objects of a tenant, in an agent with an API server: what they cost, and how long they keep others waiting.
// Needs: idle
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LARGEST_ROWS, TENANT_ROWS } from '../support/largeObjects/tenantRows.js';
import { measureTenant, shownFigures, type TenantFigures } from '../support/largeObjects/tenantRun.js';

/**
 * Maximum time of a turn of the event loop, in ms of CPU time, and of an answer of /livez, in ms. On a busy machine, turns are longer:
 * other processes empty the caches of the CPU.
 */
const TURN = 50;
const LIVEZ = 50;
/** The same for a Service whose plan has all parts: it is planned in one turn. */
const PLANNED_TURN = 5000;
/** Rows whose parts are in no plan. */
const UNPLANNED: readonly string[] = ['nil ports', 'labels', 'annotations', 'managedFields'];
/** The same for the largest objects: each is decoded and stored in one turn, and planned in one. */
const LARGEST_TURN = 10_000;
const LARGEST_LIVEZ = 100;
/** Times and memory may be this many times those of ordinary objects. */
const TIMES = 2;
const MEMORY_TIMES = 3;
/** Differences that say nothing: in ms of CPU time, and in MB. */
const NOISE = { cpu: 200, memory: 32 };
/** A measurement is repeated if it is over a limit: other processes prolong turns too, because they empty caches. */
const MOST_TRIES = 3;
const CHANGES = 3;
const ORDINARY = 10;

/** What is over a limit. */
function excess(large: TenantFigures, usual: TenantFigures, turn: number): string[] {
  const most = TIMES * (usual.first + usual.changes) + NOISE.cpu;
  const memory = MEMORY_TIMES * usual.peak + NOISE.memory;
  const cpu = large.first + large.changes;
  return [
    ...(cpu <= most ? [] : [`${cpu} ms of CPU time, at most ${most}`]),
    ...(large.peak <= memory ? [] : [`${large.peak} MB, at most ${memory}`]),
    ...(large.turn <= turn ? [] : [`a turn of ${large.turn} ms`]),
    ...(large.livez <= LIVEZ ? [] : [`an answer after ${large.livez} ms`]),
  ];
}

for (const mode of ['ipvs', 'iptables']) {
  describe(`a large object in ${mode} mode`, () => {
    for (const [row, parts] of Object.entries(TENANT_ROWS)) {
      it(`${parts} parts: ${row}`, async (t) => {
        const usual = await measureTenant({ mode, objects: [row, parts, ORDINARY], changes: CHANGES });
        t.diagnostic(`ordinary: ${shownFigures(usual)}`);
        let over: string[] = [];
        for (let tries = 0; tries < MOST_TRIES; tries++) {
          const large = await measureTenant({ mode, objects: [row, parts, 0], changes: CHANGES });
          t.diagnostic(`large: ${shownFigures(large)}`);
          over = excess(large, usual, UNPLANNED.includes(row) ? TURN : PLANNED_TURN);
          if (over.length === 0) break;
        }
        assert.deepEqual(over, []);
      });
    }
  });
}

for (const mode of ['ipvs', 'iptables']) {
  describe(`the largest objects in ${mode} mode`, () => {
    for (const [row, parts] of Object.entries(LARGEST_ROWS)) {
      it(`${parts} parts: ${row}`, async (t) => {
        const figures = await measureTenant({ mode, objects: [row, parts, 0], changes: CHANGES });
        t.diagnostic(shownFigures(figures));
        assert.ok(figures.turn <= LARGEST_TURN, `a turn of ${figures.turn} ms`);
        assert.ok(figures.livez <= LARGEST_LIVEZ, `an answer after ${figures.livez} ms`);
        assert.ok(figures.peak <= 1200, `${figures.peak} MB`);
      });
    }
  });
}

for (const mode of ['ipvs', 'iptables']) {
  it(`500 ports with 1000 endpoints each, in ${mode} mode`, async (t) => {
    const figures = await measureTenant({ mode, objects: ['500x1000'], changes: 1 });
    t.diagnostic(shownFigures(figures));
    assert.ok(figures.operations > 500_000, `${figures.operations} operations`);
    // In iptables mode, the state in the kernel is 1 000 000 rules, and so is the input of iptables-restore.
    assert.ok(figures.peak <= (mode === 'ipvs' ? 150 : 1200), `${figures.peak} MB`);
    assert.ok(figures.livez <= (mode === 'ipvs' ? LIVEZ : 1000), `an answer after ${figures.livez} ms`);
  });
}
