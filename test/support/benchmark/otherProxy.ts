// A proxy for tests of comparisons: follows EndpointSlices and the node, and for each change starts a process and logs a pass.
//
// node dist/test/support/benchmark/otherProxy.js KUBECONFIG
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [path = ''] = process.argv.slice(2);
const { clusters } = JSON.parse(readFileSync(path, 'utf8')) as {
  clusters: { cluster: { server: string } }[];
};
const server = clusters[0]?.cluster.server ?? '';

/** Lists a resource; resolves to the version of the list. */
async function list(resource: string): Promise<string> {
  const response = await fetch(`${server}${resource}`);
  const { metadata } = (await response.json()) as { metadata: { resourceVersion: string } };
  return metadata.resourceVersion;
}

async function follow(resource: string, version: string): Promise<void> {
  const response = await fetch(`${server}${resource}?watch=true&resourceVersion=${version}`);
  for await (const _ of response.body as AsyncIterable<Uint8Array>) pass();
}

function pass(): void {
  execFileSync('true');
  console.log('other: a pass ended');
}

const RESOURCES = ['/apis/discovery.k8s.io/v1/endpointslices', '/api/v1/nodes'];
const versions = await Promise.all(RESOURCES.map(list));
pass();
await Promise.all(RESOURCES.map((resource, i) => follow(resource, versions[i] ?? '')));
