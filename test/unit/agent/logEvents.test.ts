// The levels of the log lines for a proxy's events.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { logEvents } from '../../../src/agent/logEvents.js';
import type { SyncSummary } from '../../../src/reconcile/summary.js';

const AUDIT: SyncSummary = {
  full: true,
  services: 0,
  operations: 0,
  repaired: 0,
  phases: new Map(),
  failures: [],
  unknown: 0,
  counts: {},
  again: undefined,
  milliseconds: { plan: 1, kernel: 2 },
};

/** Levels of the lines of these passes, in order. */
function levels(...passes: Partial<SyncSummary>[]): string[] {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => lines.push(line) });
  const events = logEvents(log);
  for (const pass of passes) events.synced?.({ ...AUDIT, ...pass }, 1);
  return lines.map((line) => pino.levels.labels[JSON.parse(line).level] ?? '');
}

it('the first pass and each pass with changes are logged at level info', () => {
  assert.deepEqual(levels({}, { services: 1 }, { operations: 2 }), ['info', 'info', 'info']);
});

it('an audit without operations is logged at level debug', () => {
  assert.deepEqual(levels({ services: 3 }, {}, { full: false }), ['info', 'debug', 'debug']);
});

it('a repair is logged as a warning after its pass', () => {
  assert.deepEqual(levels({}, { operations: 2, repaired: 2 }), ['info', 'info', 'warn']);
});
