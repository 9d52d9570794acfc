// Whether most Services of most namespaces are refused.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RefusedShare } from '../../../../src/proxy/reconcile/refusedShare.js';

/** Name → planned Services, refused Services, and whether these are most. */
const ROWS: Readonly<Record<string, readonly [planned: string, refused: string, isMost: boolean]>> = {
  'no Service': ['', '', false],
  'none is refused': ['a/1 a/2', '', false],
  'the only one': ['a/1', 'a/1', false],
  'one of two': ['a/1 a/2', 'a/1', false],
  'two of three': ['a/1 a/2 a/3', 'a/1 a/2', true],
  'all of the only namespace': ['a/1 a/2', 'a/1 a/2', true],
  'all of one of two namespaces': ['a/1 a/2 a/3 a/4 b/1', 'a/1 a/2 a/3 a/4', false],
  'one of each of two namespaces': ['a/1 b/1', 'a/1 b/1', true],
  'half of each of two namespaces': ['a/1 a/2 b/1 b/2', 'a/1 b/1', false],
  'all of two of four namespaces': ['a/1 b/1 c/1 d/1', 'a/1 b/1', false],
  'all of three of four namespaces': ['a/1 b/1 c/1 d/1', 'a/1 b/1 c/1', true],
  'all of one namespace, beside the Services of the cluster': [
    'default/kubernetes kube-system/kube-dns a/1 a/2',
    'a/1 a/2',
    true,
  ],
  'all of one namespace, beside another one of namespace default': [
    'default/kubernetes default/web a/1 a/2',
    'a/1 a/2',
    false,
  ],
  'the Services of the cluster alone': [
    'default/kubernetes kube-system/kube-dns',
    'default/kubernetes kube-system/kube-dns',
    false,
  ],
};

const names = (text: string) => text.split(' ').filter(Boolean);

describe('most Services of most namespaces', () => {
  for (const [name, [planned, refused, isMost]] of Object.entries(ROWS))
    it(`${isMost ? 'are' : 'are not'} refused: ${name}`, () => {
      const share = new RefusedShare();
      for (const service of names(planned)) share.planned(service, 1);
      for (const service of names(refused)) share.refused(service, 1);
      assert.equal(share.isMost, isMost);
      for (const service of names(planned)) share.planned(service, -1);
      assert.equal(share.isMost, false, 'nothing is planned');
      for (const service of names(refused)) share.refused(service, -1);
      for (const service of ['z/1', 'z/2']) share.planned(service, 1);
      assert.equal(share.isMost, false);
      for (const service of ['z/1', 'z/2']) share.refused(service, 1);
      assert.equal(share.isMost, true, 'what was before does not count');
    });
});
