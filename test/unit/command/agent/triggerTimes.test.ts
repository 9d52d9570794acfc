// The trigger times of endpoint changes, reported once each.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TriggerTimes } from '../../../../src/command/agent/telemetry.js';
import { triggeredSlice as slice } from '../../../support/clusters/triggeredSlice.js';

const START = Date.parse('2026-01-01T00:00:00Z');

it('the latest trigger of each slice since the start is reported', () => {
  const times = new TriggerTimes(START);
  times.note(slice('old', '2025-12-31T23:59:59Z'));
  times.note(slice('a', '2026-01-01T00:00:05Z'));
  times.note(slice('a', '2026-01-01T00:00:07Z'));
  times.note(slice('b', '2026-01-01T00:00:09Z'));
  times.note(slice('b', '2026-01-01T00:00:09Z', 'delete'));
  assert.deepEqual(times.programmed(), []);
  times.taken();
  assert.deepEqual(times.programmed(), [{ family: 6, triggeredAt: START + 7000 }]);
  assert.deepEqual(times.programmed(), []);
});

it('a change of a slice with the same annotation is not reported again', () => {
  const times = new TriggerTimes(START);
  times.note(slice('a', '2026-01-01T00:00:05Z'));
  times.taken();
  times.programmed();
  times.note(slice('a', '2026-01-01T00:00:05Z'));
  times.taken();
  assert.deepEqual(times.programmed(), []);
});
