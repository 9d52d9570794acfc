// Memory and descriptors of a proxy over a run: the slope, its standard error, and the report.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { growthLines, growthOf, type ProxySample, slopeOf } from '../../judge/core/growth.js';
import { growthPage } from '../../judge/core/growthPicture.js';
import { below, randomOf } from '../../judge/core/random.js';

/** Samples of each minute for two hours, with noise of up to 2 MiB; the process is another one in the second hour. */
function samples(leak: { readonly kib: number; readonly descriptors: number }): ProxySample[] {
  const random = randomOf(1);
  return Array.from({ length: 120 }, (_, minute) => ({
    pid: minute < 60 ? 100 : 200,
    at: minute * 60_000,
    resident: 90_000 + (minute < 60 ? 0 : 8_000) + below(random, 2048) + Math.round(minute * leak.kib),
    descriptors: 30 + Math.floor(minute * leak.descriptors),
  }));
}

it('is flat for a process that does not grow, although one that starts anew has another level', () => {
  const growth = growthOf(samples({ kib: 0, descriptors: 0 }));
  const { slope = Number.NaN, error = Number.NaN } = growth?.resident ?? {};
  assert.ok(Math.abs(slope) < 3 * error, `${slope} ± ${error}`);
  assert.deepEqual(growth?.descriptors, { least: 30, most: 30, slope: 0, error: 0 });
  assert.equal(growth?.processes, 2);
});

it('finds a leak of 100 KiB per minute, and a descriptor of each tenth minute', () => {
  const growth = growthOf(samples({ kib: 100, descriptors: 0.1 }));
  const { slope = Number.NaN, error = Number.NaN } = growth?.resident ?? {};
  assert.ok(slope > 6 * error && Math.abs(slope - 6000) < 3 * error, `${slope} ± ${error}`);
  const files = growth?.descriptors;
  assert.ok(Math.abs((files?.slope ?? 0) - 6) < 0.3, String(files?.slope));
});

it('leaves the first ten minutes of a process out of the slope', () => {
  const start = (sample: ProxySample, i: number) => (i % 60 < 10 ? { ...sample, resident: 60_000 } : sample);
  const { resident } = growthOf(samples({ kib: 0, descriptors: 0 }).map(start)) ?? assert.fail();
  assert.equal(resident.least, 60_000);
  assert.ok(
    Math.abs(resident.slope ?? Number.NaN) < 3 * (resident.error ?? 0),
    `${resident.slope} ± ${resident.error}`,
  );
  assert.equal(growthOf(samples({ kib: 0, descriptors: 0 }).slice(0, 10))?.resident.slope, undefined);
});

it('has the standard error of least squares', () => {
  // y = x + (1, -1, -1, 1) / 2: residuals of 1/2, 2 degrees of freedom, a spread of 5.
  const points = [0.5, 0.5, 1.5, 3.5].map((y, x) => ({ x, y }));
  const fit = slopeOf([points]);
  assert.deepEqual([fit?.slope, fit?.error], [1, Math.sqrt(1 / 2 / 5)]);
  assert.equal(
    slopeOf([
      [
        { x: 0, y: 1 },
        { x: 1, y: 2 },
      ],
    ]),
    undefined,
  );
});

it('has lines and a picture of each sample', () => {
  const growth = growthOf(samples({ kib: 0, descriptors: 0 }));
  assert.ok(growth);
  const [, memory = '', descriptors = ''] = growthLines(growth);
  assert.match(memory, /resident memory: [\d.]+ to [\d.]+ MiB, slope -?[\d.]+ ± [\d.]+ MiB per hour/);
  assert.match(descriptors, /descriptors: 30 to 30, slope 0.00 ± 0.00 per hour/);
  assert.equal(growthPage(growth).match(/<circle /g)?.length, 240);
  assert.equal(growthPage(undefined), '');
});
