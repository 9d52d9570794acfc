import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseDuration } from '../../../src/config/duration.js';

const cases: [text: string, milliseconds: number | undefined][] = [
  ['0', 0],
  ['0s', 0],
  ['15m0s', 900_000],
  ['1h30m', 5_400_000],
  ['1.5s', 1500],
  ['250ms', 250],
  ['1000us', 1],
  ['-1s', -1000],
  ['', undefined],
  ['5', undefined],
  ['1d', undefined],
  ['s', undefined],
  ['1.2.3s', undefined],
  ['1s ', undefined],
];
for (const [text, milliseconds] of cases) {
  it(`${JSON.stringify(text)} is ${milliseconds ?? 'no duration'}`, () => {
    assert.equal(parseDuration(text), milliseconds);
  });
}
