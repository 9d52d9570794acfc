// The levels of the log lines for a proxy's events.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { openLog } from '../../../../src/command/agent/log.js';
import { logEvents } from '../../../../src/command/agent/logEvents.js';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import type { SyncSummary } from '../../../../src/proxy/reconcile/summary.js';

const AUDIT: SyncSummary = {
  full: true,
  services: 0,
  operations: 0,
  accepted: 0,
  repaired: 0,
  phases: new Map(),
  failures: [],
  unknown: 0,
  vitalUnknown: [],
  mostRefused: false,
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

it('below verbosity 2, later passes with changes are one line a minute', (test) => {
  test.mock.timers.enable({ apis: ['setTimeout'] });
  const lines: Record<string, unknown>[] = [];
  const log = openLog({ verbosity: 0, format: 'json' }, { write: (line) => lines.push(JSON.parse(line)) });
  const events = logEvents(log);
  for (let i = 0; i < 1000; i++) events.synced({ ...AUDIT, services: 1, operations: 2 }, i);
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['synced'],
  );
  test.mock.timers.tick(60_000);
  const { msg, passes, services, operations, failures, maxLatencyMs } = lines[1] ?? {};
  assert.deepEqual(
    { msg, passes, services, operations, failures, maxLatencyMs },
    {
      ...{ msg: 'synced in the last minute', passes: 999, services: 999, operations: 1998, failures: 0 },
      maxLatencyMs: 999,
    },
  );
  test.mock.timers.tick(120_000);
  assert.equal(lines.length, 2, 'a minute without changes has no line');
});

it('from verbosity 2 on, each pass with changes has a line, and no other', () => {
  const lines: string[] = [];
  const log = openLog({ verbosity: 2, format: 'json' }, { write: (line) => lines.push(line) });
  const events = logEvents(log);
  for (const services of [1, 1, 0]) events.synced({ ...AUDIT, services }, 1);
  assert.equal(lines.length, 2);
});

it('the first pass and each pass with changes are logged at level info', () => {
  assert.deepEqual(levels({}, { services: 1 }, { operations: 2 }), ['info', 'info', 'info']);
});

it('an audit without operations is logged at level debug', () => {
  assert.deepEqual(levels({ services: 3 }, {}, { full: false }), ['info', 'debug', 'debug']);
});

it('a repair is logged as a warning after its pass', () => {
  assert.deepEqual(levels({}, { operations: 2, repaired: 2 }), ['info', 'info', 'warn']);
});

it('a repair that repeats the one of the audit before is logged as an error', () => {
  assert.deepEqual(levels({}, { operations: 2, repaired: 2, repeated: 2 }), [
    'info',
    'info',
    'warn',
    'error',
  ]);
});

it('failures of one cause are one line for each Service', () => {
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => lines.push(line) });
  const refused = new NetlinkError({
    code: 'ERR_PROCESS',
    operation: 'iptables.restore',
    target: '-A KUBE-SVC-A',
  });
  const other = new NetlinkError({
    code: 'ERR_PROCESS',
    operation: 'iptables.restore',
    target: '-A KUBE-SVC-A',
  });
  const failure = (key: string, error: NetlinkError, ...services: string[]) => ({
    key,
    error,
    vital: false,
    ...(services.length > 0 && { services }),
  });
  const failures = [
    failure('a', refused, 'demo/a'),
    failure('b', refused, 'demo/b'),
    failure('c', refused, 'demo/a'),
    failure('d', refused),
    { ...failure('e', other, 'demo/a'), fields: ['Service demo/a: spec.clusterIPs: 10.96.0.1'] },
  ];
  logEvents(log).synced?.({ ...AUDIT, failures }, 1);
  const found = lines.map((line) => {
    const { key, services, fields, items, msg } = JSON.parse(line);
    assert.equal(msg, refused.message);
    return { key, services, fields, items };
  });
  assert.deepEqual(found, [
    { key: 'a', services: ['demo/a'], fields: undefined, items: 2 },
    { key: 'b', services: ['demo/b'], fields: undefined, items: undefined },
    { key: 'd', services: undefined, fields: undefined, items: undefined },
    {
      key: 'e',
      services: ['demo/a'],
      fields: ['Service demo/a: spec.clusterIPs: 10.96.0.1'],
      items: undefined,
    },
  ]);
});
