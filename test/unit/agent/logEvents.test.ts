// Which events of a proxy are lines of the log, and at which level.
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

/** Levels of the lines that these passes make, in order. */
function levels(...passes: Partial<SyncSummary>[]): string[] {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => lines.push(line) });
  const events = logEvents(log);
  for (const pass of passes) events.synced?.({ ...AUDIT, ...pass }, 1);
  return lines.map((line) => pino.levels.labels[JSON.parse(line).level] ?? '');
}

it('the first pass is a line at level info, and so is each pass that did anything', () => {
  assert.deepEqual(levels({}, { services: 1 }, { operations: 2 }), ['info', 'info', 'info']);
});

it('an audit that found nothing is a line for debugging', () => {
  assert.deepEqual(levels({ services: 3 }, {}, { full: false }), ['info', 'debug', 'debug']);
});

it('a repair is a warning beside the line of its pass', () => {
  assert.deepEqual(levels({}, { operations: 2, repaired: 2 }), ['info', 'info', 'warn']);
});
