import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { durationError, formatDuration, parseDuration } from '../../../../src/command/config/duration.js';

const cases: [text: string, milliseconds: number | undefined][] = [
  ['0', 0],
  ['0s', 0],
  ['15m0s', 900_000],
  ['1h30m', 5_400_000],
  ['1.5s', 1500],
  ['.5s', 500],
  ['1.1s', 1100],
  ['0.4ns', 0],
  ['250ms', 250],
  ['1000us', 1],
  ['1000µs', 1],
  ['-1s', -1000],
  ['2562047h', 2_562_047 * 3_600_000],
  ['2562048h', undefined],
  ['', undefined],
  ['5', undefined],
  ['1d', undefined],
  ['s', undefined],
  ['1.2.3s', undefined],
  ['1s ', undefined],
  ['1s\n', undefined],
];
for (const [text, milliseconds] of cases) {
  it(`${JSON.stringify(text)} is ${milliseconds ?? 'not a duration'}`, () => {
    assert.equal(parseDuration(text), milliseconds);
  });
}

describe('a text that is not a duration', () => {
  const faults: [text: string, fault: string][] = [
    ['zz', 'time: invalid duration "zz"'],
    ['', 'time: invalid duration ""'],
    ['5', 'time: missing unit in duration "5"'],
    ['1h5', 'time: missing unit in duration "1h5"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['1h2days', 'time: unknown unit "days" in duration "1h2days"'],
    ['2562048h', 'time: invalid duration "2562048h"'],
  ];
  for (const [text, fault] of faults) {
    it(`${JSON.stringify(text)} has Go's error`, () => assert.equal(durationError(text), fault));
  }
});

describe('a duration is formatted as in Go', () => {
  const written: [milliseconds: number, text: string][] = [
    [0, '0s'],
    [1e-6, '1ns'],
    [0.0015, '1.5µs'],
    [250, '250ms'],
    [1500, '1.5s'],
    [60_000, '1m0s'],
    [900_000, '15m0s'],
    [3_600_000, '1h0m0s'],
    [5_400_500, '1h30m0.5s'],
    [86_400_000, '24h0m0s'],
    [-1000, '-1s'],
  ];
  for (const [milliseconds, text] of written) {
    it(text, () => {
      assert.equal(formatDuration(milliseconds), text);
      assert.equal(parseDuration(text), milliseconds);
    });
  }
});
