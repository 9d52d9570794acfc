import assert from 'node:assert/strict';
import { stat } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import type { Steps } from '../../../src/kernel/steps.js';
import { TimeSlice } from '../../../src/kernel/timeSlice.js';

describe('a time slice', () => {
  it('ends after some work, and then other callbacks run', async () => {
    const slice = new TimeSlice();
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    for (let slices = 0; slices < 10; ) {
      if (!slice.spend()) continue;
      slices++;
      await slice.yield();
    }
    clearInterval(others);
    assert.ok(turns >= 5, `${turns} turns`);
  });

  it('lets a timer run that is due, also if a callback of the poll phase began the slice', async () => {
    await new Promise((resolve) => stat('/', resolve));
    let ran = false;
    setTimeout(() => {
      ran = true;
    }, 1);
    for (const end = performance.now() + 3; performance.now() < end; );
    await new TimeSlice().yield();
    assert.ok(ran);
  });

  it('makes all steps of a computation, and lets other callbacks run between them', async () => {
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    const steps = function* (): Steps<number> {
      for (let step = 0; step < 10; step++) {
        for (const end = performance.now() + 3; performance.now() < end; );
        yield;
      }
      return turns;
    };
    const result = await new TimeSlice().finish(steps());
    clearInterval(others);
    assert.ok(result >= 5, `${result} turns`);
  });

  it('reads the clock once for 64 to 512 short steps, and after each long one', (t) => {
    const clock = t.mock.method(performance, 'now');
    const slice = new TimeSlice();
    const reads = (loop: () => void) => {
      clock.mock.resetCalls();
      loop();
      return clock.mock.callCount();
    };
    let now = 0;
    const clockOf = (step: number) => clock.mock.mockImplementation(() => (now += step));
    const shortSteps = () => {
      for (let i = 0; i < 64 + 128 + 256 + 512 + 512; i++) slice.spend(1);
    };
    // Twice as many each time, while they take no time.
    clockOf(0.01);
    assert.equal(reads(shortSteps), 5);
    // The first read finds that steps take longer now.
    clockOf(1);
    assert.equal(reads(shortSteps), 1 + (64 + 128 + 256 + 512) / 64);
    assert.equal(
      reads(() => {
        for (let i = 0; i < 10; i++) slice.spend();
      }),
      10,
    );
  });
});
