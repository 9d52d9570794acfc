// The largest objects of a tenant, in an agent with an API server: what they cost, and how long they keep others waiting.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { measureTenant, type TenantFigures } from './tenantRun.js';

/**
 * Maximum time of a turn of the event loop, in ms of CPU time, and of an answer of /livez, in ms. Turns take up to 65 ms, on a busy
 * machine more: other processes empty the caches of the CPU.
 */
const TURN = 80;
const LIVEZ = 250;
/** Times and memory may be this many times those of ordinary objects. */
const TIMES = 2;
const MEMORY_TIMES = 3;
/** Differences that say nothing: in ms of CPU time, and in MB. */
const NOISE = { cpu: 200, memory: 32 };
/** A measurement is repeated if it is over a limit: other processes prolong turns too, because they empty caches. */
const MOST_TRIES = 3;
const CHANGES = 3;
const ORDINARY = 10;

/** Parts of each list: as many as the API accepts, or 1 MB of JSON. */
const ROWS: Readonly<Record<string, number>> = {
  ports: 20_000,
  'nil ports': 20_000,
  externalIPs: 20_000,
  'equal externalIPs': 20_000,
  'load-balancer ingress': 20_000,
  'source ranges': 20_000,
  endpoints: 20_000,
  'endpoints with long names and hints': 20_000,
  'slices of one Service': 10_000,
  labels: 20_000,
  annotations: 20_000,
  managedFields: 20_000,
};

/** What is over a limit. */
function excess(large: TenantFigures, usual: TenantFigures): string[] {
  const most = TIMES * (usual.first + usual.changes) + NOISE.cpu;
  const memory = MEMORY_TIMES * usual.peak + NOISE.memory;
  const cpu = large.first + large.changes;
  return [
    ...(cpu <= most ? [] : [`${cpu} ms of CPU time, at most ${most}`]),
    ...(large.peak <= memory ? [] : [`${large.peak} MB, at most ${memory}`]),
    ...(large.turn <= TURN ? [] : [`a turn of ${large.turn} ms`]),
    ...(large.livez <= LIVEZ ? [] : [`an answer after ${large.livez} ms`]),
  ];
}

function shown({ first, changes, resident, peak, turn, livez, operations, bytes }: TenantFigures): string {
  const ms = (time: number) => `${time.toFixed(0)} ms`;
  return [
    `first ${ms(first)}, changes ${ms(changes)}`,
    `${resident[0]?.toFixed(0)} MB, then ${resident.at(-1)?.toFixed(0)} MB, at most ${peak.toFixed(0)} MB`,
    `turn ${ms(turn)}, /livez ${ms(livez)}`,
    `${operations} operations, ${(bytes / 1e6).toFixed(1)} MB of rules`,
  ].join('; ');
}

for (const mode of ['ipvs', 'iptables']) {
  describe(`a large object in ${mode} mode`, () => {
    for (const [row, parts] of Object.entries(ROWS)) {
      it(`${parts} parts: ${row}`, async (t) => {
        const usual = await measureTenant({ mode, objects: [row, parts, ORDINARY], changes: CHANGES });
        t.diagnostic(`ordinary: ${shown(usual)}`);
        let over: string[] = [];
        for (let tries = 0; tries < MOST_TRIES; tries++) {
          const large = await measureTenant({ mode, objects: [row, parts, 0], changes: CHANGES });
          t.diagnostic(`large: ${shown(large)}`);
          over = excess(large, usual);
          if (over.length === 0) break;
        }
        assert.deepEqual(over, []);
      });
    }
  });
}

it('1000 updates of a slice with new ports: memory is flat', async (t) => {
  const { resident } = await measureTenant({ mode: 'ipvs', objects: ['new ports', 1000, 0], changes: 1000 });
  const early = Math.max(...resident.slice(100, 300));
  const late = Math.max(...resident.slice(-200));
  t.diagnostic(
    `${resident[0]?.toFixed(0)} MB at first, ${early.toFixed(0)} MB early, ${late.toFixed(0)} MB late`,
  );
  assert.ok(late <= early + NOISE.memory, `${early} MB, then ${late} MB`);
});

for (const mode of ['ipvs', 'iptables']) {
  it(`500 ports with 1000 endpoints each, in ${mode} mode`, async (t) => {
    const figures = await measureTenant({ mode, objects: ['500x1000'], changes: 1 });
    t.diagnostic(shown(figures));
    assert.ok(figures.operations > 500_000, `${figures.operations} operations`);
    // In iptables mode, the state in the kernel is 1 000 000 rules, and so is the input of iptables-restore.
    assert.ok(figures.peak <= (mode === 'ipvs' ? 150 : 1200), `${figures.peak} MB`);
    assert.ok(figures.livez <= (mode === 'ipvs' ? LIVEZ : 1000), `an answer after ${figures.livez} ms`);
  });
}
