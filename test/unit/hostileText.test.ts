// Hostile text in every text of Services, EndpointSlices and Nodes, from manifests and from an API server: none of it makes a
// line or an escape in the input of iptables-restore, in the log, or in the output of commands.
// HOSTILE_SEED=N replays one cluster, HOSTILE_CLUSTERS=N makes more.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { textLine } from '../../src/agent/logText.js';
import { check } from '../../src/cli/check/check.js';
import { checkLines } from '../../src/cli/check/report.js';
import { type Format, writeReport } from '../../src/cli/output/output.js';
import { planLines } from '../../src/cli/plan.js';
import { readInputFlags } from '../../src/config/commandLine.js';
import { describeProblem, type Problem } from '../../src/errors.js';
import { restoreInput } from '../../src/kernel/iptables/text.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { createIptablesMode, IPTABLES_DEFAULTS } from '../../src/modes/iptables/index.js';
import { decodeObject } from '../../src/objects/decode.js';
import type { KubernetesObject } from '../../src/objects/types.js';
import { createProxy } from '../../src/proxy.js';
import { readManifest } from '../../src/source/manifestFile.js';
import { randomFrom } from '../support/randomCluster.js';

/** Part of each hostile text: where it shows after a line break or an escape, it came through. */
const MARK = 'zzhostile';

const TEXTS = [
  `x"\n-P FORWARD DROP\n${MARK}`,
  `${MARK}\nCOMMIT\n*filter\n:FORWARD DROP [0:0]\nCOMMIT`,
  `x\r${MARK}`,
  `\u001b[2J${MARK}`,
  `\u009b2J${MARK}`,
  `x\u0000${MARK}`,
  `x" -j DROP -m comment --comment "${MARK}`,
  `x\\${MARK}`,
  `x\u2028${MARK}`,
  `x\u202e${MARK}`,
  `x\ud800${MARK}`,
  `${MARK}${'y'.repeat(70_000)}`,
];

const service = () => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    namespace: 'demo',
    name: 'web',
    uid: 'u-1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { app: 'web' },
    annotations: { note: 'text' },
  },
  spec: {
    type: 'LoadBalancer',
    clusterIP: '10.96.0.1',
    clusterIPs: ['10.96.0.1'],
    ipFamilies: ['IPv4'],
    sessionAffinity: 'None',
    externalTrafficPolicy: 'Cluster',
    internalTrafficPolicy: 'Cluster',
    externalIPs: ['192.0.2.1'],
    loadBalancerSourceRanges: ['10.0.0.0/8'],
    ports: [
      { name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 },
      { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053 },
    ],
  },
  status: { loadBalancer: { ingress: [{ ip: '192.0.2.2', ipMode: 'VIP', hostname: 'h' }] } },
});

const slice = () => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    namespace: 'demo',
    name: 'web-a',
    labels: { 'kubernetes.io/service-name': 'web' },
    annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z' },
  },
  addressType: 'IPv4',
  ports: [
    { name: 'http', protocol: 'TCP', port: 8080 },
    { name: 'dns', protocol: 'UDP', port: 8053 },
  ],
  endpoints: [
    {
      addresses: ['10.244.0.5'],
      nodeName: 'node-a',
      zone: 'z',
      hints: { forZones: [{ name: 'z' }], forNodes: [{ name: 'node-a' }] },
    },
  ],
});

const node = () => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-a', uid: 'u-2', labels: { 'topology.kubernetes.io/zone': 'z' } },
  spec: { podCIDRs: ['10.244.0.0/24'], taints: [{ key: 'k', effect: 'NoSchedule' }] },
  status: { addresses: [{ type: 'InternalIP', address: '192.168.50.10' }] },
});

/** A place of a text in an object. */
type Place = readonly (string | number)[];

/** The places of all texts of a value. */
function placesOf(value: unknown, path: Place = []): Place[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  return [...keys].flatMap((key) => placesOf((value as Record<string, unknown>)[key], [...path, key]));
}

function setAt(value: unknown, path: Place, text: string): void {
  const holder = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], value);
  (holder as Record<string, unknown>)[path.at(-1) as string] = text;
}

interface Read {
  readonly objects: readonly KubernetesObject[];
  readonly problems: readonly Problem[];
}

/** Text goes through UTF-8, as from a file or a connection. */
const SOURCES: Readonly<Record<string, (raws: readonly object[]) => Promise<Read>>> = {
  async manifests(raws) {
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: raws });
    const { objects, problems } = await readManifest('all.json', Buffer.from(text).toString());
    return { objects: [...objects.values()], problems };
  },
  async api(raws) {
    const read = raws.map((raw) => decodeObject(JSON.parse(Buffer.from(JSON.stringify(raw)).toString())));
    return {
      objects: read.flatMap(({ object }) => (object ? [object] : [])),
      problems: read.flatMap(({ problems }) => problems),
    };
  },
};

/** All output about these objects: what iptables-restore reads, lines of plan, lines of the log. */
async function outputOf({ objects, problems }: Read): Promise<{ input: string; lines: string[] }> {
  const kernel = new FakeKernel();
  let input = '';
  const restore = kernel.iptables.restore.bind(kernel.iptables);
  kernel.iptables.restore = (family, operations) => {
    input += restoreInput(operations).toString();
    return restore(family, operations);
  };
  const parts = () => ({
    source: {
      start: async (events: Parameters<Parameters<typeof createProxy>[0]['source']['start']>[0]) => {
        events.changed(objects.map((object) => ({ type: 'set', object })));
        events.synced();
      },
      stop() {},
    },
    mode: createIptablesMode(kernel, { ...IPTABLES_DEFAULTS, families: [4] }),
    rtnetlink: kernel.rtnetlink,
    watchHost: async () => ({ close() {} }),
    nodeName: 'node-a',
    events: { synced() {}, problems() {}, failed() {}, retrying() {} },
  });
  const planned = createProxy(parts());
  const operations = await planned.plan();
  await planned.stop();
  const plain = (_: unknown, text: string) => text;
  const preview = { operations, unread: [] };
  const once = createProxy(parts());
  await once.once();
  await once.stop();
  const lines = [
    ...planLines(preview, true, plain),
    ...problems.map(describeProblem),
    ...jsonOf({ problems }).split('\n'),
    ...[...problems.map(describeProblem), ...objects.map((object) => JSON.stringify(object))].map((msg) =>
      textLine(JSON.stringify({ ts: 0, level: 'warn', msg, object: msg }), false).trimEnd(),
    ),
    ...TEXTS.map((msg) =>
      textLine(JSON.stringify({ ts: 0, level: 'warn', msg, [msg]: msg }), false).trimEnd(),
    ),
  ];
  return { input, lines };
}

/** The JSON of a report, as commands print it. */
function jsonOf(report: object): string {
  return shown('json', report, []);
}

/** A report in a format, as commands print it. */
function shown(format: Format, report: object, lines: readonly string[]): string {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  writeReport({ format, columns: 80, style: (_, plain) => plain, write, note() {} }, report, () => lines);
  return text;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them on purpose.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\ufffe\uffff]/;

function assertClean({ input, lines }: { input: string; lines: string[] }, told: string): void {
  assert.ok(input.includes('KUBE-SERVICES'), `${told}: rules were written`);
  assert.ok(!input.includes(MARK), `${told}: ${/.*zzhostile.*/.exec(input)?.[0].slice(0, 200)}`);
  for (const line of lines) assert.ok(!CONTROL.test(line), `${told}: ${JSON.stringify(line.slice(0, 300))}`);
}

/** A cluster of one Service, with one text replaced. The other Service must be served. */
async function tryPlace(source: string, kind: number, place: Place, text: string): Promise<void> {
  const raws: object[] = [service(), slice(), node()];
  setAt(raws[kind], place, text);
  const other = { ...service(), metadata: { namespace: 'demo', name: 'other' } };
  Object.assign(other.spec, {
    clusterIP: '10.96.0.2',
    clusterIPs: ['10.96.0.2'],
    externalIPs: [],
    type: 'ClusterIP',
  });
  for (const port of other.spec.ports) port.nodePort = 0;
  const told = `${source} ${['Service', 'EndpointSlice', 'Node'][kind]} ${place.join('.')} ${JSON.stringify(text.slice(0, 40))}`;
  const output = await outputOf(
    await (SOURCES[source] as NonNullable<(typeof SOURCES)[string]>)([...raws, other]),
  );
  assertClean(output, told);
  assert.ok(output.input.includes('10.96.0.2/32'), `${told}: the other Service is served`);
}

const SEED = Number(process.env['HOSTILE_SEED'] ?? 1);
const CLUSTERS = Number(process.env['HOSTILE_CLUSTERS'] ?? 1);

for (const source of Object.keys(SOURCES)) {
  it(`no text of an object makes a line or an escape: ${source}`, async () => {
    for (let seed = SEED; seed < SEED + CLUSTERS; seed++) {
      const random = randomFrom(seed);
      for (const [kind, raw] of [service(), slice(), node()].entries()) {
        for (const place of placesOf(raw)) {
          const start = Math.floor(random() * TEXTS.length);
          // The text that ends a comment, and another one.
          for (const text of [TEXTS[0], TEXTS[start]]) await tryPlace(source, kind, place, text as string);
        }
      }
    }
  });
}

it('the one who writes comments of rules refuses what would end them', async () => {
  const { comment } = await import('../../src/modes/iptables/ruleText.js');
  for (const text of ['a"b', 'a\nb', 'a\\b', 'a\u001bb']) assert.throws(() => comment(text), RangeError);
});

it('the command check shows no line and no escape of a manifest, in any format', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-hostile-'));
  try {
    const path = join(folder, 'all.json');
    const plain = (_: unknown, text: string) => text;
    for (const [kind, raw] of [service(), slice(), node()].entries()) {
      for (const [number, place] of placesOf(raw).entries()) {
        const raws: object[] = [service(), slice(), node()];
        setAt(raws[kind], place, TEXTS[number % TEXTS.length] as string);
        writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: raws }));
        const report = await check([path], readInputFlags([]));
        for (const format of ['text', 'json', 'yaml'] as const) {
          const text = shown(format, report, checkLines(report, plain));
          for (const line of text.split('\n')) {
            assert.ok(!CONTROL.test(line), `${format}: ${JSON.stringify(line.slice(0, 200))}`);
            assert.doesNotMatch(line, /^\s*(-P|COMMIT|\*filter|:FORWARD|zzhostile)/, format);
          }
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
