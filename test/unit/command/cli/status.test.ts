// The command status: the state that the agent collects, the answers of its servers, and the exit status.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AgentReport, AgentState } from '../../../../src/command/agent/agentReport.js';
import { inOrder } from '../../../../src/command/agent/listeners.js';
import { askAgent, NoAnswer } from '../../../../src/command/cli/agentClient.js';
import {
  decodeAgentReport,
  decodeHealth,
  statusLines,
  statusReport,
} from '../../../../src/command/cli/status/report.js';
import { readStatus } from '../../../../src/command/cli/status/status.js';
import { json, plain, type Response, routes } from '../../../../src/command/servers/handler.js';
import { listen } from '../../../../src/command/servers/listen.js';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import type { SyncSummary } from '../../../../src/proxy/reconcile/summary.js';
import { closeAfter } from '../../../support/closeAfter.js';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const ABOUT = {
  ...{ version: '0.1.0', node: 'node-a', mode: 'ipvs', families: [4, 6] as const },
  startedAt: '2026-01-02T02:04:05.000Z',
};

const PASS: SyncSummary = {
  ...{
    full: false,
    services: 2,
    operations: 5,
    accepted: 0,
    repaired: 0,
    phases: new Map(),
    failures: [],
    unknown: 0,
    vitalUnknown: [],
    mostRefused: false,
  },
  ...{ counts: { draining: 1 }, again: undefined, milliseconds: { plan: 1.25, kernel: 3.5 } },
};

/** A state, and the events that reach it and the listener behind it. */
function state(lines: string[] = []) {
  const reached: string[] = [];
  const events = {
    synced: () => reached.push('synced'),
    problems: () => reached.push('problems'),
    failed: () => reached.push('failed'),
    retrying: () => reached.push('retrying'),
  };
  const collected = new AgentState(ABOUT, { lines: () => lines }, () => NOW - 42_000);
  return { collected, events: inOrder([collected.listener(), events]), reached };
}

const error = new NetlinkError({
  code: 'ENOENT',
  errno: 2,
  operation: 'ipvs.add',
  target: 'tcp 10.96.0.1:80',
});

const FIELD = 'Service demo/c: spec.externalIPs: 203.0.113.1';

describe('the state of the agent', () => {
  it('has the last pass, repairs since the start, and what is left out', () => {
    const { collected, events, reached } = state(['Service demo/a: spec.type: must be known']);
    assert.equal(collected.report().lastPass, null);
    const failure = { key: 'k', services: ['demo/a'], fields: [FIELD], error, vital: true };
    events.synced({ ...PASS, repaired: 2 }, 1);
    events.synced(
      { ...PASS, repaired: 1, failures: [failure, { key: 'l', error, vital: true }], unknown: 1 },
      5,
    );
    assert.deepEqual(collected.report(), {
      ...ABOUT,
      lastPass: {
        ...{ endedAt: '2026-01-02T03:03:23.000Z', full: false, services: 2, operations: 5 },
        ...{ waitMilliseconds: 0.25, planMilliseconds: 1.25, kernelMilliseconds: 3.5, failed: 2, unknown: 1 },
        failures: [
          { item: 'k', services: ['demo/a'], fields: [FIELD], code: 'ENOENT', message: error.message },
          { item: 'l', services: [], fields: [], code: 'ENOENT', message: error.message },
        ],
      },
      ...{ kernelError: null, repaired: 3, draining: 1, leftOut: 1 },
      problems: ['Service demo/a: spec.type: must be known'],
    } satisfies AgentReport);
    assert.deepEqual(reached, ['synced', 'synced']);
  });

  it('has the repairs that the last audit repeated, until an audit repeats none', () => {
    const { collected, events } = state();
    events.synced({ ...PASS, full: true, repeated: 3 }, 1);
    events.synced(PASS, 1);
    assert.equal(collected.report().repeated, 3, 'a pass for a change is not an audit');
    events.synced({ ...PASS, full: true, repeated: 0 }, 1);
    assert.equal('repeated' in collected.report(), false);
  });

  it('has the error of the kernel until a pass succeeds in reading it', () => {
    const { collected, events } = state();
    events.failed(error);
    assert.equal(collected.report().kernelError, `NetlinkError: ${error.message}`);
    events.synced(PASS, 1);
    assert.equal(collected.report().kernelError, null);
  });

  it('lists 100 problems at most, and counts all', () => {
    const { collected, events } = state(Array.from({ length: 250 }, (_, i) => `problem ${i}`));
    const { leftOut, problems } = collected.report();
    assert.deepEqual([leftOut, problems.length], [250, 100]);
    const failures = Array.from({ length: 130 }, () => ({ key: 'k', error, vital: true }));
    events.synced({ ...PASS, failures }, 1);
    const lines = statusLines(statusReport(HEALTHY, collected.report()), NOW, PLAIN);
    assert.deepEqual(
      lines.filter((line) => line.includes(' more')),
      ["  and 30 more: the agent's log has all", "  and 150 more: the agent's log has all"],
    );
  });
});

const PLAIN = { columns: 80, style: (_: unknown, text: string) => text };

/** The report of an agent whose last pass succeeded. */
function goodAgent(): AgentReport {
  const { collected, events } = state();
  events.synced(PASS, 5.5);
  return collected.report();
}

const HEALTHY = { healthy: true, nodeEligible: true, unread: [] };
const pass = () => goodAgent().lastPass as NonNullable<AgentReport['lastPass']>;

describe('the report', () => {
  it('has repairs that do not last as a fault, with a line', () => {
    const report = statusReport(HEALTHY, { ...goodAgent(), repaired: 9, repeated: 3 });
    assert.deepEqual([report.good, report.faults], [false, ['3 items repaired again in each audit']]);
    const lines = statusLines(report, NOW, PLAIN);
    assert.deepEqual(lines.slice(6, 9), [
      'drift     9 operations since the start restored what others had changed',
      '          another program undoes the repair of 3 items, or audits read another',
      '          table',
    ]);
  });

  it('names base chains of other programs, which are no fault', () => {
    const { collected, events } = state();
    events.synced(PASS, 1);
    assert.equal('foreignChains' in collected.report(), false);
    const chain = 'table ip kube-proxy, chain theirs (hook input, priority 0, policy drop)';
    collected.foreignChains = () => [chain];
    const agent = decodeAgentReport(JSON.stringify(collected.report()));
    assert.deepEqual(agent?.foreignChains, [chain]);
    const report = statusReport(HEALTHY, agent);
    assert.ok(report.good);
    const lines = statusLines(report, NOW, { ...PLAIN, columns: 200 });
    assert.ok(lines.includes(`foreign   not of this proxy, and stays: ${chain}`), lines.join('\n'));
  });

  it('names nodes that do not answer, which are no fault', () => {
    const { collected, events } = state();
    events.synced(PASS, 1);
    const change = { address: '192.0.2.2', sign: 'neighbour', reachable: false } as const;
    for (const node of ['node-b', 'node-c', 'node-d']) events.reachChanged?.({ ...change, node }, 1);
    events.reachChanged?.({ ...change, node: 'node-d', reachable: true }, 1);
    const agent = decodeAgentReport(JSON.stringify(collected.report()));
    assert.deepEqual(agent?.unreachableNodes, ['node-b', 'node-c']);
    const report = statusReport(HEALTHY, agent);
    assert.ok(report.good);
    const line = 'no answer node-b, node-c: their endpoints get no new connections';
    assert.ok(statusLines(report, NOW, PLAIN).includes(line));
  });

  it('has the fields of a changed configuration file that wait, which are no fault', () => {
    const configuration = { inForce: 'a', found: 'b', waiting: ['clusterCIDR', 'mode'] };
    const agent = { ...goodAgent(), configuration };
    const report = statusReport(HEALTHY, agent);
    assert.ok(report.good);
    assert.deepEqual(
      statusLines(report, NOW, PLAIN).filter((line) => line.startsWith('config')),
      ['config    the file has changed; waiting for the next start: clusterCIDR, mode'],
    );
    assert.deepEqual(decodeAgentReport(JSON.stringify(agent)), agent);
    assert.equal(decodeAgentReport(JSON.stringify({ ...agent, configuration: 'x' })), undefined);
  });

  it('is good if the agent is healthy and its last pass succeeded', () => {
    const report = statusReport(HEALTHY, goodAgent());
    assert.deepEqual([report.good, report.faults], [true, []]);
    assert.deepEqual(statusLines(report, NOW, PLAIN), [
      'status    good',
      'agent     kube-netlink-proxy 0.1.0, ipvs mode, IPv4 and IPv6',
      'node      node-a',
      'started   60 min ago',
      'last pass 42 s ago: 2 Services, 5 operations (waited 0.8 ms, planned in 1.3 ms,',
      '          kernel 3.5 ms)',
      'drift     none since the start',
      'draining  1 real server',
      'left out  nothing',
    ]);
  });

  it('is stale without contact with the API server, and names the Node that is missing or deleted', () => {
    const at = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
    const lost = { state: 'lost', since: at(15), error: 'ECONNREFUSED: GET http://a/b' } as const;
    const contacts = [
      { resource: 'services', ...lost, lastContact: at(45) },
      { resource: 'nodes', state: 'current', since: at(90), lastContact: at(3), error: null },
      { resource: 'endpointslices', ...lost, lastContact: at(50) },
      { resource: 'servicecidrs', state: 'starting', since: at(90), lastContact: null, error: null },
    ] as const;
    const agent = decodeAgentReport(JSON.stringify({ ...goodAgent(), nodeObject: 'seen', contacts }));
    assert.ok(agent);
    const report = statusReport(HEALTHY, agent, NOW);
    assert.deepEqual(report.faults, [
      'stale: no contact with the API server for 45 s (services, endpointslices): ECONNREFUSED: GET http://a/b',
    ]);
    const shown = statusLines(report, NOW, { ...PLAIN, columns: 200 });
    assert.equal(
      shown[4],
      'contact   services 45 s ago (lost), nodes 3 s ago, endpointslices 50 s ago (lost), servicecidrs never (starting)',
    );
    const faults = (nodeObject: 'missing' | 'deleted' | 'unread', nodeEligible: boolean) =>
      statusReport(
        { healthy: nodeEligible, nodeEligible, unread: [] },
        { ...goodAgent(), nodeObject },
      ).faults.join();
    assert.equal(faults('missing', false), 'there is no Node node-a: compare --hostname-override');
    assert.equal(faults('unread', false), 'the Node has not been read, or has no address yet');
    assert.equal(faults('deleted', true), 'the Node was deleted: its last state stays in force');
    for (const field of ['nodeObject', 'contacts'])
      assert.equal(decodeAgentReport(JSON.stringify({ ...agent, [field]: {} })), undefined, field);
  });

  it('has no line about draining in a mode without real servers', () => {
    const { collected, events } = state();
    events.synced({ ...PASS, counts: {} }, 1);
    const agent = decodeAgentReport(JSON.stringify(collected.report()));
    assert.ok(agent && !('draining' in agent));
    const lines = statusLines(statusReport(HEALTHY, agent), NOW, PLAIN);
    assert.ok(!lines.some((line) => line.includes('draining')));
  });

  const faults: [
    name: string,
    health: Partial<typeof HEALTHY>,
    agent: Partial<AgentReport>,
    fault: string,
  ][] = [
    ['the proxy is unhealthy', { healthy: false }, {}, 'the proxy is unhealthy'],
    [
      'the Node is being removed',
      { healthy: false, nodeEligible: false },
      {},
      'the Node was not seen, or is being removed',
    ],
    [
      'a former mode stays',
      {},
      { formerModes: [{ mode: 'ipvs', connections: 0, error: 'EPERM' }] },
      'the state of ipvs mode could not be removed',
    ],
    ['no pass has ended', {}, { lastPass: null }, 'no pass has ended'],
    ['operations failed', {}, { lastPass: { ...pass(), failed: 2 } }, '2 operations of the last pass failed'],
    ['items stay wrong', {}, { lastPass: { ...pass(), unknown: 1 } }, '1 item not in the desired state'],
    [
      'a setting that all Services need is refused',
      {},
      { lacking: ['EROFS', 'EPERM'] },
      'all Services need what the kernel refuses: EROFS',
    ],
    ['the kernel is unreadable', {}, { kernelError: 'EPERM' }, 'the kernel could not be read'],
    ['a file is unreadable', { unread: ['web.yaml'] as never }, {}, 'unreadable input: web.yaml'],
  ];
  for (const [name, health, agent, fault] of faults) {
    it(`names the fault if ${name}`, () => {
      const report = statusReport({ ...HEALTHY, ...health }, { ...goodAgent(), ...agent });
      assert.deepEqual([report.good, report.faults], [false, [fault]]);
      assert.ok(statusLines(report, NOW, PLAIN)[0]?.endsWith(fault));
    });
  }

  it('names a former mode whose state stays, until it is removed', () => {
    const { collected, events } = state();
    events.synced(PASS, 1);
    const shown = () => {
      const agent = decodeAgentReport(JSON.stringify(collected.report()));
      assert.ok(agent);
      const report = statusReport(HEALTHY, agent);
      assert.ok(report.good);
      return statusLines(report, NOW, PLAIN).filter((line) => line.startsWith('former'));
    };
    assert.deepEqual(shown(), []);
    events.kept?.('iptables', 2);
    assert.deepEqual(shown(), ['former    iptables mode: its state stays for 2 connections']);
    events.switched?.('iptables', { operations: 9, left: [], used: [], failures: [] });
    assert.deepEqual(shown(), []);
  });

  it('lists what was left out and what failed; text of the cluster cannot move the cursor', () => {
    const problems = ['Service demo/a: \u001b[2J'];
    const failures = [
      { item: 'k', services: ['demo/c'], fields: [FIELD], code: 'ENOENT', message: 'ENOENT: ipvs.add' },
      { item: 'k', services: [], fields: [], code: 'ENOENT', message: 'ENOENT: ipvs.add' },
      {
        item: 'l',
        services: ['demo/a\u001b', 'demo/b'],
        fields: [],
        code: 'ENOENT',
        message: 'ENOENT: ipvs.add',
      },
    ];
    const agent = { ...goodAgent(), leftOut: 1, problems, lastPass: { ...pass(), failed: 1, failures } };
    const lines = statusLines(statusReport(HEALTHY, agent), NOW, PLAIN);
    assert.ok(lines.includes(`  ${FIELD}: ENOENT: ipvs.add`));
    assert.ok(lines.includes('  ENOENT: ipvs.add'));
    assert.ok(lines.includes('  demo/a\\u001b, demo/b: ENOENT: ipvs.add'));
    assert.deepEqual(lines.slice(-2), ['left out  1 problem', '  Service demo/a: \\u001b[2J']);
  });
});

const HEALTHZ = JSON.stringify({ lastUpdated: 'x', currentTime: 'x', nodeEligible: true, healthy: true });

/** An agent's servers with these answers, both on one port. */
async function serving(healthz: Response, status: Response): Promise<string> {
  const handler = routes({ '/healthz': () => healthz, '/status': () => status });
  const { port } = closeAfter(await listen({ address: '127.0.0.1', port: 0 }, handler, () => {}));
  return `127.0.0.1:${port}`;
}

async function asked(healthz: Response, status: Response) {
  const address = await serving(healthz, status);
  return readStatus(
    { healthzBindAddress: address, metricsBindAddress: address.replace('127.0.0.1', '0.0.0.0') },
    2000,
  );
}

describe('the answers of the servers', () => {
  it('are read from the loopback address if the agent listens on all addresses', async () => {
    const report = await asked(json(200, HEALTHZ), json(200, JSON.stringify(goodAgent())));
    assert.deepEqual(report, statusReport(HEALTHY, goodAgent()));
  });

  it('with status 503 are an unhealthy proxy', async () => {
    const report = await asked(json(503, HEALTHZ), json(200, JSON.stringify(goodAgent())));
    assert.deepEqual(report.faults, ['the proxy is unhealthy']);
  });

  it('of another program are refused, with the address and the reason', async () => {
    const good = json(200, JSON.stringify(goodAgent()));
    await assert.rejects(
      asked(plain(200, 'hello'), good),
      /^Error: the program at 127\.0\.0\.1:\d+ is not the agent: \/healthz is 200$/,
    );
    await assert.rejects(
      asked(json(200, HEALTHZ), plain(404, '')),
      /is not the agent: it may be kube-proxy$/,
    );
    await assert.rejects(asked(json(200, HEALTHZ), json(200, '{}')), /is not the agent: \/status is 200$/);
    await assert.rejects(asked(json(200, HEALTHZ), json(500, 'x')), /is not the agent: \/status is 500$/);
  });

  it('that are missing are an error with the URL', async () => {
    await assert.rejects(askAgent('127.0.0.1:1', '/status', 1000), {
      message: 'no agent answers at http://127.0.0.1:1/status: ECONNREFUSED',
    });
    await assert.rejects(askAgent('', '/status', 1000), (thrown) => thrown instanceof NoAnswer);
    const handler = () => new Promise<Response>(() => {});
    const { port } = closeAfter(await listen({ address: '127.0.0.1', port: 0 }, handler, () => {}));
    await assert.rejects(askAgent(`127.0.0.1:${port}`, '/', 50), /: no response within 0\.05 s$/);
  });

  it('are not decoded if a field is missing or has another type', () => {
    const agent = goodAgent();
    assert.deepEqual(decodeAgentReport(JSON.stringify(agent)), agent);
    for (const field of Object.keys(agent).filter((name) => name !== 'kernelError')) {
      assert.equal(decodeAgentReport(JSON.stringify({ ...agent, [field]: {} })), undefined, field);
    }
    assert.equal(decodeAgentReport('['), undefined);
    assert.equal(decodeHealth(200, '{}'), undefined);
  });
});
