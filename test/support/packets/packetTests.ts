// Real packets, compared with a table: the endpoints that each client reaches, the source addresses that they see, and the
// packets that are rejected or dropped; over TCP and UDP, IPv4 and IPv6; and the explanations of all of them.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { before, describe, test } from 'node:test';
import type { Explanation } from '../../../src/command/explain/explanation.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { NODE_A, SHELL } from '../../laboratory/places.js';
import { COMMAND } from '../../laboratory/proxyProcess.js';
import { type Example, examplesOf } from '../documents/commandExamples.js';
import { ROOT } from '../paths.js';
import { resultsOf } from './explainer.js';
import { addressOf, dialledAt, ENDPOINT_PORT, HERE, THERE } from './packetLab.js';
import type { PacketMode } from './packetModes.js';
import { ADMISSIONS, type Frontend, TABLE } from './packetTable.js';
import {
  each,
  expectedFates,
  HOST_PORT,
  nameOf,
  PacketWorld,
  resultOf,
  SILENCE,
  type Target,
  targets,
} from './packetWorld.js';

/**
 * A TCP client without a reply retries after 1 s: a shorter time is a reply to the first packet. Over IPv6, Linux defers a
 * rejection that arrives while it still sends, and gives up when the second packet, after 1 s, is rejected too. The third
 * would be sent 2 s later.
 */
const atOnce = ({ protocol, family }: Target) => (protocol === 'tcp' && family === 6 ? 2500 : 900);

/** Frontends that are not at the node's own address. */
export const VIRTUAL = ['ClusterIP', 'external IP', 'load-balancer IP'] as const;

let world: PacketWorld;

/**
 * The packet tests of a mode: those of every mode, its own, and the faults of the node.
 *
 * @param own the mode's own tests; the lab is open while they run
 */
export function testPackets(mode: PacketMode, own: (opened: () => PacketWorld) => void): void {
  before(async () => {
    world = await PacketWorld.open(mode);
  });
  testTable(mode);
  testSourceRanges();
  testWithoutEndpoints(mode);
  testOwnPort();
  testDirect();
  testLargeRequests(mode);
  testAffinity();
  testCommand();
  if (mode.documented) testExamples(mode);
  own(() => world);
  testBrokenNode(mode);
}

const CLIENTS = ['pod here', 'itself', 'pod elsewhere', 'node', 'outside'] as const;

/** Each row of the table, with its explanation. */
function testTable(mode: PacketMode): void {
  for (const client of CLIENTS) {
    const rows = TABLE.flatMap((frontend) =>
      frontend.rows[mode.name].filter(([dialler]) => dialler === client).map((row) => ({ frontend, row })),
    );
    describe(`${client === 'itself' ? 'an endpoint that connects to itself' : client}`, () => {
      const found = new Map<Frontend, Record<string, string[]>>();
      const explanations = new Map<Frontend, Record<string, Explanation>>();
      before(async () => {
        await Promise.all(
          rows.map(async ({ frontend, row }) => found.set(frontend, await world.results(row, frontend))),
        );
        const all = rows.map(({ frontend }) => targets(client, frontend.service, frontend.kind));
        const answers = await world.explain(all.flat());
        for (const [i, { frontend }] of rows.entries()) {
          const first = all.slice(0, i).flat().length;
          const own = (all[i] ?? []).map((target, at) => [nameOf(target), answers[first + at]] as const);
          explanations.set(frontend, Object.fromEntries(own) as Record<string, Explanation>);
        }
      });
      for (const { frontend, row } of rows) {
        const [, here, there, because] = row;
        test(`→ ${frontend.about}: here ${here}, there ${there}`, () => {
          const want = targets(client, frontend.service, frontend.kind).map((target) => [
            nameOf(target),
            expectedFates(row, target),
          ]);
          assert.deepEqual(found.get(frontend), Object.fromEntries(want), because);
        });
        test(`→ ${frontend.about}: the explanation is what the packets did`, () => {
          for (const [name, explanation] of Object.entries(explanations.get(frontend) ?? {})) {
            const results = resultsOf(explanation, [HERE, THERE]);
            assert.deepEqual(results, found.get(frontend)?.[name], JSON.stringify(explanation, undefined, 1));
            assert.deepEqual(explanation.notUnderstood, []);
            assert.deepEqual(explanation.warnings, []);
          }
          assert.equal(Object.keys(explanations.get(frontend) ?? {}).length, 4);
        });
      }
    });
  }
}

/** The clients that source ranges accept. */
function testSourceRanges(): void {
  describe('source ranges', { concurrency: true }, () => {
    for (const service of ['lan', 'strangers'] as const) {
      for (const [client, kind, outcome, because] of ADMISSIONS[service]) {
        test(`${client} → ${kind} of Service ${service}: ${outcome}`, async () => {
          const patience = outcome === 'dropped' ? SILENCE : undefined;
          const all = targets(client, service, kind);
          const outcomes = await each(all, async (target) => {
            const outcome = await world.dial(target, patience);
            return 'by' in outcome ? 'admitted' : outcome.error === 'no answer' ? 'dropped' : outcome.error;
          });
          assert.deepEqual(
            outcomes,
            Object.fromEntries(all.map((target) => [nameOf(target), outcome])),
            because,
          );
          for (const explanation of await world.explain(all)) {
            const { verdict, causes } = explanation;
            const codes = causes.map(({ code }) => code);
            const want = outcome === 'dropped' ? ['hangs', ['SourceRanges']] : ['forwarded', []];
            assert.deepEqual([verdict, [...new Set(codes)]], want, JSON.stringify(explanation, undefined, 1));
          }
        });
      }
    }
  });
}

/** Services without endpoints. */
function testWithoutEndpoints(mode: PacketMode): void {
  describe('rejected immediately', { concurrency: 2 }, () => {
    for (const kind of ['NodePort', ...VIRTUAL] as const) {
      test(`${kind} of a Service without endpoints`, async () => {
        const clients = mode.rejected(kind);
        const all = clients.flatMap((client) => targets(client, 'empty', kind));
        await refusedAtOnce(all);
        for (const explanation of await world.explain(all)) {
          const { verdict, causes } = explanation;
          const want = ['refused', ['NoRealServer']];
          assert.deepEqual([verdict, causes.map(({ code }) => code)], want, JSON.stringify(explanation));
        }
      });
    }
  });
}

/** A process of the node. */
function testOwnPort(): void {
  test('the node responds on its own port at its own address', async () => {
    const all = targets('outside', 'open', 'NodePort').map((target) => ({ ...target, port: HOST_PORT }));
    for (const outcome of Object.values(await each(all, (target) => world.dial(target)))) {
      assert.equal('by' in outcome && outcome.by, 'the node itself', resultOf(outcome));
    }
  });
}

/** Packets between pods, without a Service. */
function testDirect(): void {
  test('a pod that connects to the address of another pod is seen with its own', async () => {
    for (const pod of [HERE, THERE]) {
      const all = targets('pod here', 'open', 'ClusterIP').map((target) => ({
        ...target,
        ...{ address: addressOf(pod, target.family), port: ENDPOINT_PORT },
      }));
      const seen = await each(all, async (target) => resultOf(await world.dial(target)));
      const expected = all.map((target) => [
        nameOf(target),
        `${pod.name} sees ${addressOf(SHELL, target.family)}`,
      ]);
      assert.deepEqual(seen, Object.fromEntries(expected));
    }
  });
}

/**
 * Requests and responses that are longer than a packet: datagrams are fragmented. IPVS refuses the first one that a sender did not
 * fragment for the path, with EMSGSIZE: over IPv4, the sender has learned the MTU then.
 */
function testLargeRequests({ largeDatagrams6 }: PacketMode): void {
  for (const [client, kind] of [
    ['pod here', 'ClusterIP'],
    ['node', 'ClusterIP'],
    ['outside', 'NodePort'],
  ] as const) {
    test(`requests of 2000 bytes, ${client} → ${kind}`, async () => {
      const all = targets(client, 'open', kind).filter(
        ({ family, protocol }) => largeDatagrams6 || family === 4 || protocol === 'tcp',
      );
      const outcomes = await each(all, async (target) => {
        let outcome = await world.dial(target, PATIENCE, 2000);
        for (let tries = 0; tries < 4 && 'error' in outcome && outcome.error === 'EMSGSIZE'; tries++)
          outcome = await world.dial(target, PATIENCE, 2000);
        return outcome;
      });
      for (const [name, outcome] of Object.entries(outcomes))
        assert.ok('size' in outcome && (outcome.size ?? 0) >= 2000, `${name}: ${JSON.stringify(outcome)}`);
    });
  }
}

/** Session affinity. */
function testAffinity(): void {
  test('with session affinity, a client keeps one endpoint at each address', async () => {
    const all = (['pod here', 'outside'] as const).flatMap((client) =>
      (['NodePort', ...VIRTUAL] as const).flatMap((kind) => targets(client, 'sticky', kind)),
    );
    await Promise.all(
      all.map(async (target) => {
        const answers = new Set<string>();
        for (let i = 0; i < 3; i++) answers.add(resultOf(await world.dial(target)));
        const [answer = ''] = answers;
        const story = `${target.client} → ${target.address}, ${nameOf(target)}: ${[...answers]}`;
        assert.equal(answers.size, 1, story);
        assert.match(answer, / sees /, story);
      }),
    );
  });
}

/** Runs the command on the node. */
export function runCommand({ lab }: PacketWorld, args: readonly string[]) {
  const command = ['netns', 'exec', lab.namespace(NODE_A), process.execPath, COMMAND, ...args];
  const { status, stdout, stderr } = spawnSync('ip', command, { cwd: ROOT, encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** The command without a flag of the mode or of objects: the running agent names both. */
function testCommand(): void {
  test('explain has the name of the Service from the running agent', () => {
    for (const [kind, place] of [
      ['ClusterIP', 'pod'],
      ['NodePort', 'outside'],
      ['external IP', 'outside'],
    ] as const) {
      const { address, port } = dialledAt('open', kind, 4);
      const { stdout, status } = runCommand(world, ['explain', `${address}:${port}`, '-o', 'json']);
      const { verdict, service, client } = JSON.parse(stdout);
      assert.deepEqual(
        [status, verdict, service, client.place],
        [0, 'forwarded', { service: 'packets/open', portName: 'tcp' }, place],
      );
    }
  });

  test('explain says why a Service is refused whose slices lack its port', async () => {
    const all = targets('pod here', 'portless', 'ClusterIP');
    await refusedAtOnce(all);
    for (const { address, port, protocol, family } of all) {
      const target = `${family === 4 ? address : `[${address}]`}:${port}/${protocol}`;
      const flags = ['-o', 'json', '--manifests', world.manifests.path, '--hostname-override', NODE_A.name];
      const { stdout, status } = runCommand(world, ['explain', target, ...flags]);
      const { verdict, causes, service } = JSON.parse(stdout);
      assert.deepEqual([status, verdict, causes[0].code], [1, 'refused', 'NoRealServer']);
      assert.match(
        service.reason,
        new RegExp(
          `^no EndpointSlice of .*/portless has its port ${protocol}/${protocol}: the slices have 2 `,
        ),
      );
    }
  });
}

/** The examples of docs/explain.md in a mode; those without the flag are in ipvs mode. */
function testExamples(mode: PacketMode): void {
  const modeOf = ({ command }: Example) => /--proxy-mode (\S+)/.exec(command)?.[1] ?? 'ipvs';
  const examples = examplesOf('docs/explain.md').examples.filter((example) => modeOf(example) === mode.name);
  assert.ok(examples.length > 0);
  for (const { command, output, status } of examples) {
    test(`prints the output in docs/explain.md: ${command}`, () => {
      const result = runCommand(world, command.split(' ').slice(1));
      assert.deepEqual(result, { status, stdout: output, stderr: '' });
    });
  }
}

/** Faults of the node. The proxy ends: nothing may follow. */
function testBrokenNode(mode: PacketMode): void {
  describe('a broken node, without the proxy that would repair it', () => {
    before(() => world.proxy.end('SIGKILL'));
    const onNode = (commands: readonly string[]) =>
      execFileSync('ip', ['netns', 'exec', world.lab.namespace(NODE_A), 'sh', '-ec', commands.join('\n')]);
    for (const { about, breaks, restores, client, service, kind, verdict, cause, results } of mode.broken) {
      test(`${about}: ${client} → ${kind} of Service ${service}: ${verdict}`, async () => {
        const target = { client, family: 4, protocol: 'tcp', ...dialledAt(service, kind, 4) } as const;
        onNode(breaks);
        try {
          const [explanation] = await world.explain([target]);
          const story = JSON.stringify(explanation, undefined, 1);
          assert.deepEqual([explanation?.verdict, explanation?.causes[0]?.code], [verdict, cause], story);
          assert.deepEqual(await outcomesOf(target, results), results, story);
        } finally {
          onNode(restores);
        }
      });
    }
  });
}

/** The outcomes of two connections; of two others, and with more time, while they are not the expected ones: on a busy machine, replies are late. */
async function outcomesOf(target: Target, expected: readonly string[]): Promise<string[]> {
  for (let patience = SILENCE; ; patience *= 3) {
    const outcomes = await Promise.all([world.dial(target, patience), world.dial(target, patience)]);
    const found = outcomes.map(resultOf).sort();
    const isLate =
      found.filter((each) => each === 'no answer').length >
      expected.filter((each) => each === 'no answer').length;
    if (!isLate || patience > PATIENCE) return found;
  }
}

/** Most repetitions of a slow rejection. */
const MOST_REFUSALS = 10;

/** Slow rejections are repeated one by one, because they may take long on a busy machine. */
export async function refusedAtOnce(all: readonly Target[]): Promise<void> {
  const slow: Target[] = [];
  await Promise.all(
    all.map(async (target) => {
      if ((await refusal(target)) > atOnce(target)) slow.push(target);
    }),
  );
  for (const target of slow) {
    let quickest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < MOST_REFUSALS && quickest > atOnce(target); i++)
      quickest = Math.min(quickest, await refusal(target));
    assert.ok(quickest <= atOnce(target), `${target.client} → ${target.address}: ${quickest} ms to refuse`);
  }
}

/** Time until a target rejected the connection, in ms. */
async function refusal(target: Target): Promise<number> {
  const outcome = await world.dial(target);
  const story = `${target.client} → ${target.address}:${target.port}, ${nameOf(target)}`;
  assert.equal(resultOf(outcome), 'ECONNREFUSED', story);
  return outcome.milliseconds;
}
