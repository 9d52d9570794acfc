// The representations of one endpoint, from the bytes of the watch to the bytes for the kernel: each is made here by the code
// that makes it in the agent. Run as a program, prints docs/endpoint-change.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PartsBatch } from '../../../src/kernel/ipvs/listRecords.js';
import { type ChangePart, changeName } from '../../../src/kernel/ipvs/values/serverLists.js';
import { FakeKernel } from '../../../src/kernel/testing/index.js';
import { LineReader } from '../../../src/proxy/api/json.js';
import {
  createIpvsMode,
  IPVS_DEFAULTS,
  type Item,
  type Operation,
} from '../../../src/proxy/modes/ipvs/index.js';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import { Reconciler } from '../../../src/proxy/reconcile/reconciler.js';
import { nodeFacts } from '../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../src/proxy/services/serviceCache.js';
import type { ServicePlanInput } from '../../../src/proxy/services/types.js';
import { ROOT } from '../paths.js';

/** One form of the endpoint. */
export interface Representation {
  /** The type, as the source names it; or what the text or bytes are. */
  readonly name: string;
  /** The file with the type, or with the code that makes the text or bytes. */
  readonly file: string;
  /** The endpoint in this form, shortened. */
  readonly example: string;
}

const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'demo', name: 'web' },
  spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }] },
};
const slice = (...addresses: string[]) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'demo', name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [{ port: 8080 }],
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
});

/** A reconciler over a cache, and what it handed to the mode and got from it. */
function observed(cache: ServiceCache) {
  const kernel = new FakeKernel();
  const mode = createIpvsMode(kernel, { ...IPVS_DEFAULTS, families: [4], kernelRelease: '6.1.0' });
  const seen: {
    input?: ServicePlanInput;
    plan?: ReadonlyMap<string, Item>;
    operations: Operation[];
    parts: readonly ChangePart[];
  } = { operations: [], parts: [] };
  const applyChanges = kernel.ipvs.applyChanges.bind(kernel.ipvs);
  kernel.ipvs.applyChanges = (parts) => {
    seen.parts = parts;
    return applyChanges(parts);
  };
  const node = nodeFacts('node-a');
  const reconciler = new Reconciler(
    {
      ...mode,
      planService(input, facts) {
        seen.input = input;
        seen.plan = mode.planService(input, facts);
        return seen.plan;
      },
      apply(operations) {
        seen.operations = [...operations];
        return mode.apply(operations);
      },
    },
    {
      totalEndpoints: () => ({ 4: 0, 6: 0 }),
      serviceNames: () => cache.serviceNames(),
      order: (services) => cache.order(services),
      planInput: (service) => cache.planInput(service, node),
      node: () => node,
      taken() {},
      async refresh() {},
    },
    () => 0,
  );
  return { reconciler, seen };
}

/** All representations of an endpoint that is added to a slice, in order. */
export async function representations(): Promise<Representation[]> {
  const cache = new ServiceCache();
  const { reconciler, seen } = observed(cache);
  const apply = async (raw: unknown) => {
    const { object } = decodeObject(raw);
    if (!object) throw new Error('the object of the example is invalid');
    for (const touched of cache.apply({ type: 'set', object })) {
      if ('service' in touched) reconciler.touch(touched.service);
    }
    await reconciler.sync();
    return object;
  };
  await apply(SERVICE);
  await apply(slice('10.244.1.7'));

  const line = `${JSON.stringify({ type: 'MODIFIED', object: slice('10.244.1.7', '10.244.1.8') })}\n`;
  const [event] = [...new LineReader('a watch').push(Buffer.from(line))] as [
    { object: ReturnType<typeof slice> },
  ];
  const object = await apply(event.object);
  const [operation] = seen.operations;
  if (seen.operations.length !== 1 || operation?.call.on !== 'ipvs') throw new Error('not one operation');
  const [part] = seen.parts;
  if (seen.parts.length !== 1 || part?.change !== operation.call.change) throw new Error('not the change');
  const batch = new PartsBatch(seen.parts);
  if (batch.results.some((result) => result !== undefined))
    throw new Error('the change of the example is invalid');
  const item = [...(seen.plan?.values() ?? [])].find(({ kind }) => kind === 'virtualService');
  const [port] = seen.input?.ports ?? [];
  return [
    { name: 'text of a watch event', file: 'src/proxy/api/json.ts', example: line.slice(0, 26) },
    {
      name: 'V1EndpointSlice',
      file: 'src/proxy/objects/endpointSlice.ts',
      example: show(event.object.endpoints[1]),
    },
    {
      name: 'EndpointSlice',
      file: 'src/proxy/objects/types.ts',
      example: show('endpoints' in object ? object.endpoints.at(1) : undefined),
    },
    {
      name: 'ServicePort',
      file: 'src/proxy/services/types.ts',
      example: show(port && [...port.endpoints][1]),
    },
    {
      name: 'VirtualServiceItem',
      file: 'src/proxy/modes/ipvs/plan/items.ts',
      example: show(item && 'realServers' in item && [...item.realServers]),
    },
    {
      name: 'ServiceChange',
      file: 'src/kernel/ipvs/values/serverLists.ts',
      example: show({ added: [...part.change.added], deleted: [...part.change.deleted] }),
    },
    {
      name: 'operation record',
      file: 'src/kernel/ipvs/layouts.ts',
      example: `${changeName(part.change, part.from)}, ${batch.records().length} bytes`,
    },
    {
      name: 'struct Operation',
      file: 'native/ipvs/types.h',
      example: 'service and real_server, in host order',
    },
  ];
}

/** JSON of the endpoint, without the empty fields. */
function show(value: unknown): string {
  return JSON.stringify(value, (_, field) =>
    Array.isArray(field) && field.length === 0 ? undefined : field,
  );
}

/** docs/endpoint-change.md. */
export async function document(): Promise<string> {
  const steps = await representations();
  const nodes = steps.map(({ name }, i) => `  ${i}["${i + 1}. ${name}"]`);
  const edges = steps.map((_, i) => (i === 0 ? 'watch' : `${i - 1}`)).map((from, i) => `  ${from} --> ${i}`);
  const rows = steps.map(
    ({ name, file, example }, i) =>
      `| ${i + 1} | ${name} | [${file}](../${file}) | \`${example.replaceAll('|', '\\|')}\` |`,
  );
  return [
    '# An endpoint change',
    '',
    'An endpoint crosses these representations from the bytes of the watch to the bytes for the kernel. A test makes each of them',
    'with the code of the agent, and compares this page. `node dist/test/support/documents/endpointChange.js > docs/endpoint-change.md`',
    'writes it.',
    '',
    '```mermaid',
    'flowchart TD',
    '  watch(["bytes of the watch: HTTP body, one line an event"])',
    ...nodes,
    '  kernel(["bytes for the kernel: IPVS_CMD_NEW_DEST over generic netlink"])',
    ...edges,
    `  ${steps.length - 1} --> kernel`,
    '```',
    '',
    '| | representation | file | endpoint 10.244.1.8:8080 in it |',
    '|---|---|---|---|',
    ...rows,
    '',
    'An `Operation` of the mode says when a `ServiceChange` is made, and a `ChangePart` says which part of it is sent in one batch: neither',
    'copies an endpoint. A `ChangeOperation`, an object for each endpoint, is made for errors, for reports, and for endpoints',
    'with settings of their own (a weight of 0).',
    '',
    'A list of addresses is not copied if all endpoints of a Service port are in one slice and in the same state: then the slice,',
    'the Service port and its plan have the same list. Equal texts of the API objects are shared while they are decoded, and a known',
    'item that equals its desired item is the same object.',
    '',
  ].join('\n');
}

/** Whether the file of a representation names its type. */
export function namesType({ name, file }: Representation): boolean {
  const word = name.split(' ').at(-1) ?? '';
  return !/^[A-Z]/.test(word) || readFileSync(join(ROOT, file), 'utf8').includes(word);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(await document());
