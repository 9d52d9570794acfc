import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointSlice, KubernetesObject } from '../../../../src/proxy/objects/types.js';
import { joinEndpoints, LeftEndpoints } from '../../../../src/proxy/services/leftEndpoints.js';
import { readManifest } from '../../../../src/proxy/source/manifestFile.js';
import { slice } from '../../../support/clusters/manifests.js';

async function sliceOf(name: string, ...endpoints: string[]): Promise<EndpointSlice> {
  const text = slice(name, ...endpoints).replace(
    'ports: [{port: 8080}]',
    'ports: [{port: 8080}, {name: b, port: 9090}]',
  );
  const { objects, problems } = await readManifest('objects.yaml', text);
  assert.deepEqual(problems, []);
  const [object] = [...objects.values()] as KubernetesObject[];
  assert.ok(object?.kind === 'EndpointSlice');
  return object;
}

describe('endpoints that left the slices since the last plan', () => {
  it('are those that were terminating or not ready when they left, at each port of the slice', async () => {
    const planned = await sliceOf('web', '10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4');
    const left = new LeftEndpoints([await sliceOf('other', '10.0.1.1'), planned]);
    const between = await sliceOf('web', '10.0.0.1 terminating', '10.0.0.2', '10.0.0.3 unready', '10.0.0.4');
    left.note(planned, between);
    assert.equal(left.endpoints(), undefined, 'all are still there');
    left.note(between, await sliceOf('web', '10.0.0.4'));
    assert.deepEqual(
      [...(left.endpoints()?.[4] ?? [])],
      ['10.0.0.1:8080', '10.0.0.1:9090', '10.0.0.3:8080', '10.0.0.3:9090'],
    );
  });

  it('are as many at most as the last plan had, however often a slice changes', async () => {
    const planned = await sliceOf('web', '10.0.0.1');
    const left = new LeftEndpoints([planned]);
    for (let i = 1; i < 100; i++) {
      const ending = await sliceOf('web', `10.0.0.${i} terminating`);
      left.note(ending, i % 2 === 0 ? undefined : await sliceOf('web'));
    }
    assert.deepEqual([...(left.endpoints()?.[4] ?? [])], ['10.0.0.1:8080', '10.0.0.1:9090']);
  });

  it('failed with fail-fast if they did not end, and are in no slice any more', async () => {
    const planned = await sliceOf('web', '10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5');
    const last = await sliceOf(
      'web',
      '10.0.0.1',
      '10.0.0.2 unready',
      '10.0.0.3 terminating',
      '10.0.0.4',
      '10.0.0.5',
    );
    const now = await sliceOf('web', '10.0.0.5');
    const other = await sliceOf('other', '10.0.0.4 unready');
    for (const [failFast, failed, ended] of [
      [undefined, [], [2, 3]],
      ['removed', [1], [2, 3]],
      ['not-serving', [1, 2], [3]],
    ] as const) {
      const left = new LeftEndpoints([planned], failFast);
      left.note(planned, last);
      left.note(last, now);
      const atPorts = (numbers: readonly number[]) =>
        numbers.flatMap((number) => [`10.0.0.${number}:8080`, `10.0.0.${number}:9090`]);
      assert.deepEqual([...(left.failed([now, other])?.[4] ?? [])], atPorts(failed), failFast);
      assert.deepEqual([...(left.endpoints()?.[4] ?? [])], atPorts(ended), failFast);
    }
  });

  it('are joined with others', async () => {
    const [a, b] = await Promise.all([sliceOf('a', '10.0.0.1'), sliceOf('b', '10.0.0.2')]);
    const joined = joinEndpoints({ 4: a.endpoints.addressPorts }, { 4: b.endpoints.addressPorts });
    assert.deepEqual([...(joined?.[4] ?? [])], ['10.0.0.1:8080', '10.0.0.2:8080']);
    assert.equal(joinEndpoints(undefined, undefined), undefined);
  });
});
