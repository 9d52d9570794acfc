// Real packets, compared with test/support/packetTable.ts: the endpoints that each client reaches, the source addresses that
// they see, and the packets that are rejected or dropped; over TCP and UDP, IPv4 and IPv6.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Lab, openLab } from '../../demo/lab.js';
import { ManifestFolder } from '../../demo/manifestFolder.js';
import { CLIENT, NODE_A, type Place, type Pod, SHELL } from '../../demo/places.js';
import { COMMAND, ProxyProcess } from '../../demo/proxyProcess.js';
import { type Dial, type Outcome, Station } from '../../demo/station.js';
import type { Explanation, PacketQuestion } from '../../src/modes/explanation.js';
import { BROKEN_ROWS } from '../support/brokenRows.js';
import { closeAfter } from '../support/closeAfter.js';
import { examplesOf } from '../support/commandExamples.js';
import { Explainer, fatesOf } from '../support/explainer.js';
import {
  addressOf,
  dialledAt,
  dialledFrom,
  ELSEWHERE,
  ENDPOINT_PORT,
  FAMILIES,
  type Family,
  HEALTH_CHECK_NODE_PORT,
  HERE,
  PLACES,
  packetManifest,
  routeVirtualIPs,
  sourceAddress,
  THERE,
} from '../support/packetLab.js';
import {
  ADMISSIONS,
  type Client,
  type Frontend,
  type Kind,
  type Row,
  type ServiceName,
  TABLE,
} from '../support/packetTable.js';
import { ROOT } from '../support/paths.js';
import { request } from '../support/traffic.js';

/**
 * A TCP client without a reply retries after 1 s: a shorter time is a reply to the first packet. Over IPv6, Linux defers a
 * rejection that arrives while it still sends, and gives up when the second packet, after 1 s, is rejected too. The third
 * would be sent 2 s later.
 */
const atOnce = ({ protocol, family }: Target) => (protocol === 'tcp' && family === 6 ? 2500 : 900);
/** Time without a reply after which the packet counts as dropped, in ms. */
const SILENCE = 3000;
/** Time to wait for an expected reply while many clients connect, in ms. */
const PATIENCE = 20_000;
/** A port of the node that belongs to no Service. */
const HOST_PORT = 9100;

const VIRTUAL = ['ClusterIP', 'external IP', 'load-balancer IP'] as const;
const PROTOCOLS = ['tcp', 'udp'] as const;
type Protocol = (typeof PROTOCOLS)[number];

let lab: Lab;
let explainer: Explainer;
let proxy: ProxyProcess;
let manifests: ManifestFolder;
const stations = new Map<Place, Station>();

const station = (place: Place) => stations.get(place) as Station;

before(async () => {
  const pods = [SHELL, HERE, THERE, ELSEWHERE];
  lab = closeAfter(openLab(pods));
  routeVirtualIPs(lab);
  manifests = closeAfter(new ManifestFolder());
  manifests.write('packets.yaml', packetManifest());
  proxy = closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path));
  await Promise.all(
    [CLIENT, NODE_A, ...pods].map(async (place) => {
      stations.set(place, closeAfter(await Station.open(lab.namespace(place))));
    }),
  );
  for (const pod of [HERE, THERE]) {
    await station(pod).serve(pod.name, { tcp: [ENDPOINT_PORT], udp: [ENDPOINT_PORT] });
  }
  await station(NODE_A).serve('the node itself', { tcp: [HOST_PORT], udp: [HOST_PORT] });
  explainer = closeAfter(await Explainer.open(lab.namespace(NODE_A)));
  assert.equal((await proxy.programmed()).failures, 0);
});

interface Target {
  readonly client: Client;
  readonly family: Family;
  readonly protocol: Protocol;
  readonly address: string;
  readonly port: number;
}

function dial({ client, family, protocol, address, port }: Target, patience = PATIENCE): Promise<Outcome> {
  const options: Partial<Dial> = { patience, from: dialledFrom(client, family) };
  const from = station(PLACES[client]);
  return protocol === 'tcp' ? from.dial(address, port, options) : from.dialUdp(address, port, options);
}

/** The question to `explain` about a connection. */
function question({ client, family, protocol, address, port }: Target): PacketQuestion {
  const from =
    client === 'node' ? 'node' : (dialledFrom(client, family) ?? addressOf(PLACES[client], family));
  return { address, port, protocol, from };
}

/** The explanations of connections, by name of the target. */
async function explained(all: readonly Target[]): Promise<Record<string, Explanation>> {
  return namedExplanations(all, await explainer.explain(all.map(question)));
}

function namedExplanations(
  all: readonly Target[],
  answers: readonly Explanation[],
): Record<string, Explanation> {
  return Object.fromEntries(all.map((target, i) => [nameOf(target), answers[i] as Explanation]));
}

/** Every family and protocol of connections to a frontend. */
function targets(client: Client, service: ServiceName, kind: Kind): Target[] {
  return FAMILIES.flatMap((family) =>
    PROTOCOLS.map((protocol) => ({ client, family, protocol, ...dialledAt(service, kind, family) })),
  );
}

const nameOf = ({ family, protocol }: Target) => `${protocol.toUpperCase()} over IPv${family}`;

/** `web-0 sees 10.244.1.1`, or the error. */
const tell = (outcome: Outcome) => ('by' in outcome ? `${outcome.by} sees ${outcome.sees}` : outcome.error);

/** The results by name of the target; all are tried in parallel. */
async function each<Result>(
  all: readonly Target[],
  run: (target: Target) => Promise<Result>,
): Promise<Record<string, Result>> {
  const results = await Promise.all(all.map(async (target) => [nameOf(target), await run(target)] as const));
  return Object.fromEntries(results);
}

/** The expected results of the two connections to a target. */
function expected([client, here, there]: Row, { family, address }: Target): string[] {
  const resultOf = (seen: Row[1], endpoint: Pod) => {
    if (seen === 'lost') return 'no answer';
    if (seen === 'refused') return 'ECONNREFUSED';
    if (seen === 'none') return undefined;
    return `${endpoint.name} sees ${sourceAddress(seen, client, endpoint, address, family)}`;
  };
  const chosen = [resultOf(here, HERE), resultOf(there, THERE)].flatMap((text) => text ?? []);
  return chosen.length === 1 ? [...chosen, ...chosen] : chosen.sort();
}

/**
 * The scheduler alternates, and no other client connects meanwhile. Therefore two connections reach both real servers.
 * The timeout is longer if a reply is expected, because the machine may be busy.
 */
async function seen(row: Row, { service, kind }: Frontend) {
  const loses = row.includes('lost');
  return each(targets(row[0], service, kind), async (target) => {
    const want = expected(row, target);
    const ask = async (patience: number) => {
      const outcomes = await Promise.all([dial(target, patience), dial(target, patience)]);
      return outcomes.map(tell).sort();
    };
    const found = await ask(loses ? SILENCE : PATIENCE);
    return loses && !isDeepStrictEqual(found, want) ? ask(PATIENCE) : found;
  });
}

const CLIENTS = ['pod here', 'itself', 'pod elsewhere', 'node', 'outside'] as const;

for (const client of CLIENTS) {
  const rows = TABLE.flatMap((frontend) =>
    frontend.rows.filter(([dialler]) => dialler === client).map((row) => ({ frontend, row })),
  );
  describe(`${client === 'itself' ? 'an endpoint that connects to itself' : client}`, () => {
    const found = new Map<Frontend, Awaited<ReturnType<typeof seen>>>();
    const explanations = new Map<Frontend, Record<string, Explanation>>();
    before(async () => {
      await Promise.all(
        rows.map(async ({ frontend, row }) => found.set(frontend, await seen(row, frontend))),
      );
      const all = rows.map(({ frontend }) => targets(client, frontend.service, frontend.kind));
      const answers = await explainer.explain(all.flat().map(question));
      for (const [i, { frontend }] of rows.entries()) {
        const own = all.slice(0, i).flat().length;
        explanations.set(frontend, namedExplanations(all[i] ?? [], answers.slice(own)));
      }
    });
    for (const { frontend, row } of rows) {
      const [, here, there, because] = row;
      test(`→ ${frontend.about}: here ${here}, there ${there}`, () => {
        const want = targets(client, frontend.service, frontend.kind).map((target) => [
          nameOf(target),
          expected(row, target),
        ]);
        assert.deepEqual(found.get(frontend), Object.fromEntries(want), because);
      });
      test(`→ ${frontend.about}: the explanation is what the packets did`, () => {
        for (const [name, explanation] of Object.entries(explanations.get(frontend) ?? {})) {
          const fates = fatesOf(explanation, [HERE, THERE]);
          assert.deepEqual(fates, found.get(frontend)?.[name], JSON.stringify(explanation, undefined, 1));
          assert.deepEqual(explanation.notUnderstood, []);
          assert.deepEqual(explanation.warnings, []);
        }
        assert.equal(Object.keys(explanations.get(frontend) ?? {}).length, 4);
      });
    }
  });
}

describe('source ranges', { concurrency: true }, () => {
  for (const service of ['lan', 'strangers'] as const) {
    for (const [client, kind, fate, because] of ADMISSIONS[service]) {
      test(`${client} → ${kind} of Service ${service}: ${fate}`, async () => {
        const patience = fate === 'dropped' ? SILENCE : PATIENCE;
        const all = targets(client, service, kind);
        const outcomes = await each(all, async (target) => {
          const outcome = await dial(target, patience);
          return 'by' in outcome ? 'admitted' : outcome.error === 'no answer' ? 'dropped' : outcome.error;
        });
        assert.deepEqual(outcomes, Object.fromEntries(all.map((target) => [nameOf(target), fate])), because);
        for (const explanation of Object.values(await explained(all))) {
          const { verdict, causes } = explanation;
          const codes = causes.map(({ code }) => code);
          const want = fate === 'dropped' ? ['hangs', ['SourceRanges']] : ['connects', []];
          assert.deepEqual([verdict, [...new Set(codes)]], want, JSON.stringify(explanation, undefined, 1));
        }
      });
    }
  }
});

describe('rejected immediately', { concurrency: 2 }, () => {
  const clients = ['pod here', 'node', 'outside'] as const;
  for (const kind of ['NodePort', ...VIRTUAL] as const) {
    test(`${kind} of a Service without endpoints`, async () => {
      await refusedAtOnce(clients.flatMap((client) => targets(client, 'empty', kind)));
    });
  }
  for (const kind of VIRTUAL) {
    test(`a port of the node, at the ${kind}`, async () => {
      const all = clients.flatMap((client) => targets(client, 'open', kind));
      await refusedAtOnce(all.map((target) => ({ ...target, port: HOST_PORT })));
    });
    test(`an unused port, at the ${kind}`, async () => {
      const all = clients.flatMap((client) => targets(client, 'open', kind));
      await refusedAtOnce(all.map((target) => ({ ...target, port: HOST_PORT + 1 })));
    });
  }
});

test('the node responds on its own port at its own address', async () => {
  const all = targets('outside', 'open', 'NodePort').map((target) => ({ ...target, port: HOST_PORT }));
  for (const outcome of Object.values(await each(all, (target) => dial(target)))) {
    assert.equal('by' in outcome && outcome.by, 'the node itself', tell(outcome));
  }
});

test('the health check node port is open at every virtual IP, and the proxy responds', async () => {
  for (const kind of VIRTUAL) {
    const all = targets('outside', 'open', kind).filter(({ protocol }) => protocol === 'tcp');
    const answers = await each(all, (target) => dial({ ...target, port: HEALTH_CHECK_NODE_PORT }));
    for (const answer of Object.values(answers)) {
      const { service, localEndpoints } = answer as object as Readonly<Record<string, unknown>>;
      const want = { service: { namespace: 'packets', name: 'local' }, localEndpoints: 1 };
      assert.deepEqual({ service, localEndpoints }, want, `${kind}: ${JSON.stringify(answer)}`);
    }
  }
});

test('with session affinity, a client keeps one endpoint at each address', async () => {
  const all = (['pod here', 'outside'] as const).flatMap((client) =>
    (['NodePort', ...VIRTUAL] as const).flatMap((kind) => targets(client, 'sticky', kind)),
  );
  await Promise.all(
    all.map(async (target) => {
      const answers = new Set<string>();
      for (let i = 0; i < 3; i++) answers.add(tell(await dial(target)));
      const [answer = ''] = answers;
      const story = `${target.client} → ${target.address}, ${nameOf(target)}: ${[...answers]}`;
      assert.equal(answers.size, 1, story);
      assert.match(answer, / sees /, story);
    }),
  );
});

test('the load balancer and the dual-stack Service of examples/ reach all of their endpoints', async () => {
  const [outside, shell] = [station(CLIENT), station(SHELL)];
  for (const route of [
    { name: 'load-balancer IP, from outside', from: outside, address: '203.0.113.20', port: 80 },
    { name: 'IPv4 ClusterIP, from a pod', from: shell, address: '10.96.10.40', port: 80 },
    { name: 'IPv6 ClusterIP, from a pod', from: shell, address: 'fd00:10:96::40', port: 80 },
  ]) {
    const { failures } = await request(route, 4, [HERE.name, THERE.name]);
    assert.deepEqual(failures, []);
  }
});

describe('the command explain', () => {
  const run = (args: readonly string[]) => {
    const command = ['netns', 'exec', lab.namespace(NODE_A), process.execPath, COMMAND, ...args];
    const { status, stdout, stderr } = spawnSync('ip', command, { cwd: ROOT, encoding: 'utf8' });
    return { status, stdout, stderr };
  };

  const { examples } = examplesOf('docs/explain.md');
  assert.ok(examples.length > 0);
  for (const { command, output, status } of examples) {
    test(`prints the output in docs/explain.md: ${command}`, () => {
      const result = run(command.split(' ').slice(1));
      assert.deepEqual(result, { status, stdout: output, stderr: '' });
    });
  }

  test('prints JSON, with the Service and the reason why it has no real server', () => {
    const { address, port } = dialledAt('inner', 'ClusterIP', 6);
    const flags = [
      '-o',
      'json',
      '--from=pod',
      '--manifests',
      manifests.path,
      '--hostname-override',
      NODE_A.name,
    ];
    const { stdout, status } = run(['explain', `[${address}]:${port}/udp`, ...flags]);
    const { verdict, causes, service, client } = JSON.parse(stdout);
    assert.deepEqual([status, verdict, causes[0].code, client.place], [1, 'refused', 'NoRealServer', 'pod']);
    assert.deepEqual([service.service, service.portName], ['packets/inner', 'udp']);
    assert.match(service.reason, /^internalTrafficPolicy of Service packets\/inner is Local, /);
  });

  test('fails with status 2 for an invalid argument', () => {
    const { stdout, stderr, status } = run(['explain', '10.96.0.1']);
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, /Error: .*IP:PORT/);
  });
});

describe('a broken node, without the proxy that would repair it', () => {
  before(() => proxy.end('SIGKILL'));
  const onNode = (commands: readonly string[]) =>
    execFileSync('ip', ['netns', 'exec', lab.namespace(NODE_A), 'sh', '-ec', commands.join('\n')]);
  for (const { about, breaks, restores, client, service, kind, verdict, cause, fates } of BROKEN_ROWS) {
    test(`${about}: ${client} → ${kind} of Service ${service}: ${verdict}`, async () => {
      const target = { client, family: 4, protocol: 'tcp', ...dialledAt(service, kind, 4) } as const;
      onNode(breaks);
      try {
        const [explanation] = await explainer.explain([question(target)]);
        const story = JSON.stringify(explanation, undefined, 1);
        assert.deepEqual([explanation?.verdict, explanation?.causes[0]?.code], [verdict, cause], story);
        const outcomes = await Promise.all([dial(target, SILENCE), dial(target, SILENCE)]);
        assert.deepEqual(outcomes.map(tell).sort(), fates, story);
      } finally {
        onNode(restores);
      }
    });
  }
});

/** Slow rejections are repeated one by one, because they may take long on a busy machine. */
async function refusedAtOnce(all: readonly Target[]): Promise<void> {
  const slow: Target[] = [];
  await Promise.all(
    all.map(async (target) => {
      if ((await refusal(target)) > atOnce(target)) slow.push(target);
    }),
  );
  for (const target of slow) {
    const quickest = Math.min(await refusal(target), await refusal(target));
    assert.ok(quickest <= atOnce(target), `${target.client} → ${target.address}: ${quickest} ms to refuse`);
  }
}

/** Time until a target rejected the connection, in ms. */
async function refusal(target: Target): Promise<number> {
  const outcome = await dial(target);
  const story = `${target.client} → ${target.address}:${target.port}, ${nameOf(target)}`;
  assert.equal(tell(outcome), 'ECONNREFUSED', story);
  return outcome.milliseconds;
}
