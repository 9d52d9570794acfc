// The situations of the input in docs/health.md: what the log, /healthz, `status` and the metrics say, and that nothing of what
// is programmed is removed.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { StatusReport } from '../../../../src/command/cli/status/report.js';
import { readStatus } from '../../../../src/command/cli/status/status.js';
import { PATIENCE } from '../../../laboratory/patience.js';
import { makeAuthority } from '../../../support/apiServer/certificates.js';
import { until } from '../../../support/apiServer/cluster.js';
import { node, service } from '../../../support/apiServer/objects.js';
import { SLICES } from '../../../support/apiServer/scene.js';
import type { ApiServer } from '../../../support/apiServer/server.js';
import { startAgent, startServer } from '../../../support/fakes/startedAgent.js';
import type { TestKernel } from '../../../support/fakes/testKernel.js';
import { TEST_MODES } from '../../../support/fakes/testModes.js';
import { freePort } from '../../../support/freePort.js';
import { ROOT } from '../../../support/paths.js';

const CIDR = '10.244.1.0/24';
const OURS = makeAuthority('ours');
const THEIRS = makeAuthority('theirs');
const CERTIFICATE = OURS.server();
/** The accepted tokens of the server under test. */
const tokens = new Set<string>();
const folder = mkdtempSync(join(tmpdir(), 'knp-input-'));
after(() => rmSync(folder, { recursive: true }));
// Without it, Node.js 20 sometimes closes the handles of its connections for ever after the last test (Environment::CleanupHandles).
process.once('exit', (status) => process.exit(status));

/** A kubeconfig with a token; a server that speaks TLS has a certificate of our authority. */
function kubeconfig(url: string): string {
  const path = join(folder, 'kubeconfig');
  const ca = Buffer.from(OURS.cert).toString('base64');
  const cluster = { server: url, ...(url.startsWith('https') && { 'certificate-authority-data': ca }) };
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'x' },
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: 'good' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

type Resource = 'nodes' | 'services' | 'endpointslices';
const ALL: readonly Resource[] = ['nodes', 'services', 'endpointslices'];

/** A situation. It begins while the agent runs, or before it starts on a kernel that an earlier agent programmed. */
interface Row {
  readonly name: string;
  readonly begins: 'while it runs' | 'before the start';
  readonly tls?: true;
  /** The server says nothing, so that time alone shows the fault: the limits are short. */
  readonly silent?: true;
  /** Default: the URL of the server. */
  readonly url?: string;
  readonly breaks: (server: ApiServer) => unknown;
  /** Default: the situation does not end. */
  readonly ends?: (server: ApiServer) => unknown;
  /** The log has lines with these texts. */
  readonly log: readonly RegExp[];
  readonly healthz: number;
  /** The first line of `status`. */
  readonly status: RegExp;
  /** The resources whose contact is lost, as the metric says. */
  readonly lost: readonly Resource[];
}

const LOST = /"msg":"no contact with the API server: what is known stays in force"/;
const NO_NODE = /"node":"node-a","msg":"there is no Node of this name: compare --hostname-override/;

const stays = (error: string) =>
  new RegExp(`^stale: no contact with the API server for \\d+ s \\(.*\\): .*${error}`);
/** No pass has ended: kubelet's probes answer, and the kernel stays as it was. */
const unread = (error: string) =>
  new RegExp(
    `^the Node has not been read.*; stale: no contact with the API server \\(nodes\\): .*${error}.*; no pass has ended$`,
  );

/** Every request fails, and so do the watches under way. */
const fails =
  (status: number, matches = /./) =>
  (server: ApiServer) => {
    server.lasting = { matches, fault: { status } };
    server.resetConnections();
  };
const heals = (server: ApiServer) => {
  server.lasting = undefined;
};

const ROWS: readonly Row[] = [
  {
    name: 'the API server refuses connections',
    begins: 'while it runs',
    breaks: (server) => server.close(),
    ends: (server) => server.start(),
    log: [LOST],
    ...{ healthz: 200, status: stays('ECONNREFUSED'), lost: ALL },
  },
  {
    name: 'the API server is silent',
    begins: 'while it runs',
    silent: true,
    breaks: (server) => server.freeze(),
    ends(server) {
      server.thaw();
      server.resetConnections();
    },
    log: [LOST],
    ...{ healthz: 200, status: stays('ERR_TIMEOUT'), lost: ALL },
  },
  {
    name: 'the token expires (401)',
    begins: 'while it runs',
    breaks(server) {
      tokens.delete('good');
      server.resetConnections();
    },
    ends: () => tokens.add('good'),
    log: [LOST, /401 .*renew the token/],
    ...{ healthz: 200, status: stays('401'), lost: ALL },
  },
  ...[403, 429, 500].map(
    (status): Row => ({
      name: `every answer is ${status}`,
      begins: 'while it runs',
      breaks: fails(status),
      ends: heals,
      log: [LOST],
      ...{ healthz: 200, status: stays(`${status}`), lost: ALL },
    }),
  ),
  {
    name: 'one resource is forbidden',
    begins: 'while it runs',
    breaks: fails(403, /endpointslices/),
    ends: heals,
    log: [LOST, /403 .*rbac/],
    ...{ healthz: 200, status: /^stale: [^(]*\(endpointslices\): .*403/, lost: ['endpointslices'] },
  },
  {
    name: 'the certificate of the API server is of another authority',
    begins: 'while it runs',
    tls: true,
    breaks: (server) => server.rotate(THEIRS.server()),
    ends: (server) => server.rotate(CERTIFICATE),
    log: [LOST],
    ...{ healthz: 200, status: stays('(UNABLE_TO_VERIFY|SELF_SIGNED|certificate)'), lost: ALL },
  },
  {
    name: 'the certificate of the API server is not yet valid: a clock is wrong',
    begins: 'while it runs',
    tls: true,
    breaks: (server) => server.rotate(OURS.lateServer()),
    ends: (server) => server.rotate(CERTIFICATE),
    log: [LOST],
    ...{ healthz: 200, status: stays('CERT_NOT_YET_VALID'), lost: ALL },
  },
  {
    name: "this node's Node object is deleted",
    begins: 'while it runs',
    breaks: ({ store }) => store.delete(node('node-a')),
    ends: ({ store }) => store.set(node('node-a', { podCIDRs: [CIDR] })),
    log: [/"level":40.*"msg":"Node is being deleted"/],
    ...{ healthz: 200, status: /^the Node was deleted: its last state stays in force$/, lost: [] },
  },
  {
    name: 'the API server does not run yet',
    begins: 'before the start',
    breaks: (server) => server.close(),
    ends: (server) => server.start(),
    log: [LOST],
    ...{ healthz: 503, status: unread('ECONNREFUSED'), lost: ['nodes'] },
  },
  {
    name: 'the name of the API server is unknown to DNS',
    begins: 'before the start',
    url: 'http://api.invalid:6443',
    breaks() {},
    log: [LOST],
    ...{ healthz: 503, status: unread('(ENOTFOUND|EAI_AGAIN)'), lost: ['nodes'] },
  },
  {
    name: 'the token is not accepted (401)',
    begins: 'before the start',
    breaks: () => tokens.delete('good'),
    ends: () => tokens.add('good'),
    log: [LOST],
    ...{ healthz: 503, status: unread('401'), lost: ['nodes'] },
  },
  {
    name: 'one resource is forbidden',
    begins: 'before the start',
    breaks: fails(403, /endpointslices/),
    ends: heals,
    log: [LOST],
    healthz: 503,
    status: /^the proxy is not ready; stale: no .*\(endpointslices\): .*403.*; no pass has ended$/,
    lost: ['endpointslices'],
  },
  {
    name: 'one resource is never sent to its end',
    begins: 'before the start',
    silent: true,
    breaks(server) {
      server.lasting = { matches: new RegExp(SLICES), fault: { stall: 20 } };
    },
    ends: heals,
    log: [LOST],
    healthz: 503,
    status:
      /^the proxy is not ready; stale: no .*\(endpointslices\): .*(ERR_TIMEOUT|no answer).*; no pass has ended$/,
    lost: ['endpointslices'],
  },
  {
    name: 'there is no Node of this name',
    begins: 'before the start',
    breaks({ store }) {
      store.delete(node('node-a'));
      // Only the earlier agent knew it: what the kernel has stays as long as an input is unknown.
      store.delete(service('b', ''));
    },
    ends({ store }) {
      store.set(service('b', '10.96.0.2'));
      store.set(node('node-a', { podCIDRs: [CIDR] }));
    },
    log: [NO_NODE, /"unread":\["Node node-a"\]/],
    ...{ healthz: 503, status: /^there is no Node node-a: compare --hostname-override$/, lost: [] },
  },
];

/** Contact is lost after 0.1 s without success; a failure is needed first, so that a slow machine makes none. */
const LOST_AFTER = { lost: 100, check: { interval: [600_000, 600_000], pause: 20 } } as const;
const SILENT = {
  times: { ...LOST_AFTER, silence: 200 },
  timeouts: { connect: 1_000, answer: 400, idle: 400 },
} as const;

/** An agent, and what is seen of it from outside. */
async function start(server: ApiServer, kernel: TestKernel, { url, silent }: Partial<Row> = {}) {
  const healthzBindAddress = `127.0.0.1:${await freePort()}`;
  const metricsBindAddress = `127.0.0.1:${await freePort()}`;
  const addresses = { healthzBindAddress, metricsBindAddress };
  const settings = { kernel, kubeconfig: kubeconfig(url ?? server.url), nodeLimit: 50, ...addresses };
  const agent = await startAgent(server, { ...settings, ...(silent ? SILENT : { times: LOST_AFTER }) });
  await until('it listens', () => agent.logged('"starting"').length > 0);
  return {
    ...agent,
    read: () => readStatus(addresses, PATIENCE),
    healthz: async () => (await fetch(`http://${healthzBindAddress}/healthz`)).status,
    livez: async () => (await fetch(`http://${healthzBindAddress}/livez`)).status,
  };
}

type Agent = Awaited<ReturnType<typeof start>>;

/** Waits for a state of the agent; fails with its last one. */
async function reaches(
  agent: Agent,
  what: string,
  so: (report: StatusReport) => boolean,
): Promise<StatusReport> {
  for (const end = performance.now() + PATIENCE; ; await wait(20)) {
    const report = await agent.read();
    if (so(report)) return report;
    const { faults } = report;
    const { contacts, nodeObject } = report.agent;
    if (performance.now() > end)
      assert.fail(`${what}: ${JSON.stringify({ faults, nodeObject, contacts }, null, 1)}`);
  }
}

const lostOf = ({ agent }: StatusReport) =>
  (agent.contacts ?? []).filter(({ state }) => state === 'lost').map(({ resource }) => resource);

async function check(row: Row): Promise<void> {
  tokens.clear();
  tokens.add('good');
  const server = await startServer(CIDR, { tokens, ...(row.tls && { tls: CERTIFICATE }) });
  const kernel = (TEST_MODES['ipvs'] as () => TestKernel)();
  let agent = await start(server, kernel, row.begins === 'while it runs' ? row : {});
  await reaches(agent, 'it is good', ({ good }) => good);
  const before = kernel.state();
  let linesBefore = agent.lines.length;
  if (row.begins === 'before the start') {
    agent.stop();
    assert.equal(await agent.status, 0);
    await row.breaks(server);
    agent = await start(server, kernel, row);
    linesBefore = 0;
  } else await row.breaks(server);

  const first = (faults: readonly string[]) => row.status.test(faults.join('; '));
  const report = await reaches(
    agent,
    `status is ${row.status}`,
    (now) => first(now.faults) && lostOf(now).join() === row.lost.join(),
  );
  assert.equal(report.good, false);
  for (const line of row.log)
    await until(`the log has ${line}`, () => agent.lines.some((each) => line.test(each)));
  assert.deepEqual([await agent.healthz(), await agent.livez()], [row.healthz, 200]);
  const metrics = await agent.metrics.text();
  const lost = [...metrics.matchAll(/api_contact_lost\{resource="(\w+)"\} 1/g)].map(([, name]) => name);
  assert.deepEqual(lost.sort(), [...row.lost].sort());
  assert.match(metrics, /api_last_contact_timestamp_seconds\{resource="nodes"\}/);
  assert.equal(kernel.state(), before, 'nothing is removed');

  if (row.ends) {
    await row.ends(server);
    await reaches(agent, 'it is good again', ({ good }) => good);
    await until('a pass has ended', () => agent.passes() > 0);
    for (const resource of row.silent ? [] : row.lost)
      for (const text of [LOST, /"msg":"contact with the API server again"/]) {
        const lines = agent.lines
          .slice(linesBefore)
          .filter((line) => line.includes(`"resource":"${resource}"`));
        assert.equal(lines.filter((line) => text.test(line)).length, 1, `once for ${resource}: ${text}`);
      }
    assert.equal(kernel.state(), before);
    assert.equal(await agent.healthz(), 200);
  }
  agent.stop();
  assert.equal(await agent.status, 0);
  await server.close();
}

for (const begins of ['while it runs', 'before the start'] as const)
  describe(`${begins}:`, () => {
    for (const row of ROWS.filter((each) => each.begins === begins)) it(row.name, () => check(row));
  });

it('docs/health.md has each situation', () => {
  const text = readFileSync(join(ROOT, 'docs/health.md'), 'utf8');
  for (const { name, begins } of ROWS)
    assert.ok(text.includes(`| ${begins}: ${name} |`), `${begins}: ${name}`);
});
