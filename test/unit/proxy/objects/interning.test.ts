// Equal values of many objects are kept once.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import { Interning } from '../../../../src/proxy/objects/interning.js';
import type { EndpointSlice } from '../../../../src/proxy/objects/types.js';
import { slice } from '../../../support/apiServer/objects.js';

const sliceOf = (raw: unknown, interning?: Interning) =>
  decodeObject(raw, undefined, interning).object as EndpointSlice;

describe('interning', () => {
  it('lets slices share their ports, their hints and the names of nodes', () => {
    const raw = (name: string) => {
      const object = { ...slice(name, ['10.0.0.1', '10.0.0.2']) };
      object['endpoints'] = (object['endpoints'] as object[]).map((endpoint) => ({
        ...endpoint,
        hints: { forZones: [{ name: 'zone-a' }] },
      }));
      return object;
    };
    const interning = new Interning();
    const [a, b] = ['a', 'b'].map((name) => sliceOf(raw(name), interning));
    assert.deepEqual([a, b], [sliceOf(raw('a')), sliceOf(raw('b'))]);
    assert.equal(a?.ports, b?.ports);
    assert.equal(a?.endpoints.at(0).zoneHints, b?.endpoints.at(1).zoneHints);
    assert.equal(a?.endpoints.at(0).nodeHints, b?.endpoints.at(0).nodeHints);
  });

  it('is bounded, and gives equal values beyond its bound', () => {
    const interning = new Interning();
    for (let i = 0; i < 30_000; i++) {
      const raw = slice('a', ['10.0.0.1']);
      raw['endpoints'] = [{ addresses: ['10.0.0.1'], nodeName: `node-${i}` }];
      assert.equal(sliceOf(raw, interning).endpoints.at(0).nodeName, `node-${i}`);
    }
  });

  it('never takes a text for a list that reads the same', () => {
    const interning = new Interning();
    const list = interning.list([{ name: '', port: 8080 }]);
    assert.equal(interning.text(JSON.stringify(list)), JSON.stringify(list));
  });
});
