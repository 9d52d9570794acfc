import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  MAX_INT32,
  MIN_INT32,
  parseInteger,
  splitHostPort,
} from '../../../../src/command/config/goSyntax.js';

describe('an integer', () => {
  const cases: [text: string, value: number | string][] = [
    ['14', 14],
    ['-5', -5],
    ['+5', 5],
    ['0', 0],
    ['0x10', 16],
    ['010', 8],
    ['0b11', 3],
    ['2147483647', MAX_INT32],
    ['2147483648', 'value out of range'],
    ['-2147483649', 'value out of range'],
    ['09', 'invalid syntax'],
    ['1.5', 'invalid syntax'],
    ['', 'invalid syntax'],
    ['14\n', 'invalid syntax'],
  ];
  for (const [text, value] of cases) {
    it(`${JSON.stringify(text)}: ${value}`, () => {
      assert.equal(parseInteger(text, MIN_INT32, MAX_INT32), value);
    });
  }
});

describe('an address with its port', () => {
  const cases: [text: string, parts: ReturnType<typeof splitHostPort>][] = [
    ['10.0.0.1:80', { host: '10.0.0.1', port: '80' }],
    ['[::1]:80', { host: '::1', port: '80' }],
    [':80', { host: '', port: '80' }],
    ['10.0.0.1', 'address 10.0.0.1: missing port in address'],
    ['[::1]', 'address [::1]: missing port in address'],
    ['::1', 'address ::1: too many colons in address'],
    ['[::1', "address [::1: missing ']' in address"],
    ['[::1]:80:90', 'address [::1]:80:90: too many colons in address'],
    ['a[b:1', "address a[b:1: unexpected '[' in address"],
    ['a]b:1', "address a]b:1: unexpected ']' in address"],
  ];
  for (const [text, parts] of cases) {
    it(text, () => assert.deepEqual(splitHostPort(text), parts));
  }
});
