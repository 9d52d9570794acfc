// The tests of the memory and the descriptors of an agent under many changes.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { JudgedMode } from '../../judge/run/vandalism.js';
import { type AgentMemory, agentMemory, CHANGES_OF_A_PASS, slopeByChanges } from './agentMemory.js';

/** Part of the changes in which the heap gets its size. */
const WARM_UP = 0.25;
/**
 * The most that an agent may grow, in KiB for 10 000 changes: 307 bytes for each change. V8 returns memory late, so that the values go up
 * and down by some MiB.
 */
const MOST = 3000;
/** Descriptors come and go with connections to the API server. */
const MOST_DESCRIPTORS = 1;

/** Defines the tests for a mode. */
export function memoryTests(mode: JudgedMode, changes: number): void {
  let memory: AgentMemory;
  before(async () => {
    memory = await agentMemory(mode, changes);
  });

  test(`${changes} changes are made in many passes of one process`, () => {
    assert.equal(new Set(memory.samples.map(({ pid }) => pid)).size, 1);
    assert.ok(memory.changes >= changes);
    assert.ok(memory.passes > changes / CHANGES_OF_A_PASS, `${memory.passes} passes`);
    assert.ok(memory.faults > changes / 500, `${memory.faults} faults`);
  });

  for (const [value, most] of [
    ['resident', MOST],
    ['descriptors', MOST_DESCRIPTORS],
  ] as const) {
    test(`${value}: the slope is at most ${most} for 10 000 changes`, () => {
      const { slope, error } = slopeByChanges(memory, value, changes * WARM_UP);
      console.log(`${value}: slope ${slope.toFixed(2)} ± ${error.toFixed(2)} for 10 000 changes`);
      assert.ok(slope - 3 * error < most, `slope ${slope} ± ${error}`);
    });
  }
}
