// The reader of untrusted objects: its names are checked by the compiler, its values at run time.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { V1Endpoint, V1Service } from '@kubernetes/client-node';
import { describeProblem, type Problem } from '../../../../src/kernel/errors.js';
import { Fields } from '../../../../src/proxy/input/fields.js';

function read(values: object) {
  const problems: Problem[] = [];
  const fields = new Fields('Service demo/web', problems, { ...values });
  return { fields, said: () => problems.map(describeProblem) };
}

describe('the fields of a type', () => {
  it('have names that the compiler checks: each marked line is an error without its mark', () => {
    const service = read({}).fields.as<V1Service>();
    const spec = service.child('spec');
    assert.equal(spec.text('type'), '');
    // @ts-expect-error V1Service has no such field.
    service.child('specs');
    // @ts-expect-error V1ServiceSpec has no such field.
    spec.text('clusterIp');
    // @ts-expect-error The field is a list.
    spec.text('clusterIPs');
    // @ts-expect-error The field is a number.
    spec.flag('healthCheckNodePort', false);
    // @ts-expect-error The field is a list of texts, not of objects.
    spec.children('externalIPs');
    // @ts-expect-error V1ServicePort has no such field.
    for (const port of spec.children('ports')) port.integer('ports', 1, 65_535);
    const endpoint = read({}).fields.as<V1Endpoint>();
    assert.equal(endpoint.child('conditions').flag('ready', true), true);
    // @ts-expect-error V1EndpointConditions has no such field.
    endpoint.child('conditions').flag('healthy', true);
  });

  it('have values that are not believed, whatever the type says', () => {
    const { fields, said } = read({ spec: { clusterIP: 7, ports: [8] } });
    const spec = fields.as<V1Service>().child('spec');
    assert.equal(spec.address('clusterIP'), undefined);
    assert.deepEqual([...spec.children('ports')], []);
    assert.deepEqual(said(), [
      'Service demo/web: spec.clusterIP: must be text, found 7',
      'Service demo/web: spec.ports[0]: must be an object, found 8',
    ]);
  });
});

describe('a time', () => {
  const time = (value: unknown) => {
    const { fields, said } = read({ at: value });
    return [fields.time('at'), said()];
  };
  it('is text, or the Date that a client library has made of it, in ms since 1970', () => {
    const at = Date.UTC(2026, 0, 1);
    for (const value of ['2026-01-01T00:00:00Z', new Date(at)]) assert.deepEqual(time(value), [at, []]);
    for (const absent of [undefined, null]) assert.deepEqual(time(absent), [undefined, []]);
  });

  it('is reported when it is none', () => {
    for (const [value, shown] of [
      ['soon', '"soon"'],
      [7, '7'],
      [{}, '{}'],
    ]) {
      assert.deepEqual(time(value), [
        undefined,
        [`Service demo/web: at: must be a time as in RFC 3339, found ${shown}`],
      ]);
    }
  });
});
