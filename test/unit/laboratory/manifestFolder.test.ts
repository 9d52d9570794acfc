// The edits that the demonstration makes to a manifest, as the proxy reads them.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { ManifestFolder, withoutEndpoint, withTerminating } from '../../laboratory/manifestFolder.js';

const folder = new ManifestFolder();
after(() => folder.close());
const original = folder.read('web.yaml');

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions: Readonly<Record<string, boolean>>;
}

const endpoints = (manifest: string) =>
  parseAllDocuments(manifest)
    .map((document) => document.toJSON() as { endpoints?: Endpoint[] })
    .flatMap((object) => object.endpoints ?? []);
const READY = { ready: true, serving: true, terminating: false };

describe('a manifest', () => {
  it('has one endpoint terminating, and the others as they were', () => {
    const edited = endpoints(withTerminating(original, '10.244.1.12')).map((e) => [
      e.addresses[0],
      e.conditions,
    ]);
    assert.deepEqual(edited, [
      ['10.244.1.11', READY],
      ['10.244.1.12', { ready: false, serving: true, terminating: true }],
      ['10.244.2.11', READY],
    ]);
  });

  it('loses one endpoint, and keeps its comments', () => {
    const edited = withoutEndpoint(original, '10.244.1.12');
    assert.deepEqual(
      endpoints(edited).map((e) => e.addresses[0]),
      ['10.244.1.11', '10.244.2.11'],
    );
    assert.match(edited, /# The endpoints\./);
  });

  it('throws for an address that it does not have', () => {
    for (const edit of [withTerminating, withoutEndpoint]) {
      assert.throws(() => edit(original, '10.244.9.9'), /no endpoint has the address 10\.244\.9\.9/);
    }
  });
});
