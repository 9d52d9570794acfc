// The verdict on single requests, the objects of histories, their files, and the reports.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import { EMPTY_CLUSTER, stateAfter } from '../../judge/core/cluster.js';
import { frontendsOf } from '../../judge/core/frontends.js';
import { generateHistory } from '../../judge/core/generate.js';
import { type EndpointSpec, FAULTS, type FaultName, type ServiceSpec } from '../../judge/core/history.js';
import { reportPage, timelineOf } from '../../judge/core/html.js';
import { latenciesOf } from '../../judge/core/latency.js';
import { objectsOf } from '../../judge/core/objects.js';
import {
  type Change,
  type FaultPeriod,
  type Observation,
  type Recording,
  withDeath,
} from '../../judge/core/observations.js';
import { parseReplay, recordingText, replayText } from '../../judge/core/replay.js';
import { reportLines } from '../../judge/core/report.js';
import { type Bounds, RULES, type RuleName } from '../../judge/core/rules.js';
import { Tally } from '../../judge/core/tally.js';
import { judge } from '../../judge/core/verdict.js';
import { SIMULATED_BOUNDS, simulate } from '../../judge/simulated/simulate.js';

const KINDS = {
  steps: 30,
  pause: 200,
  faults: ['proxyKilled', 'chainsFlushed'] as FaultName[],
  faultTime: 300,
};
const BOUNDS: Bounds = { programming: 100, recovery: 1000, chance: 1e-9, refusal: 50 };
const IPVS: Bounds = { ...BOUNDS, ipvs: true };
const SPEC: ServiceSpec = {
  ...{
    number: 1,
    families: [4],
    protocols: ['TCP'],
    nodePort: false,
    externalIP: false,
    loadBalancer: false,
  },
  ...{ internalPolicy: 'Cluster', externalPolicy: 'Cluster', affinity: 0, ranges: false },
};
const [{ service: _, ...FRONTEND }] = frontendsOf('web', SPEC) as [ReturnType<typeof frontendsOf>[number]];
const POD_ADDRESS = '10.244.1.100';

/** A Service since 0 ms, and its endpoints since the given times. */
function changes(...endpoints: readonly [at: number, list: readonly EndpointSpec[]][]): Change[] {
  return [
    { at: 0, event: { do: 'setService', service: 'web', spec: SPEC } },
    ...endpoints.map(([at, list]) => ({
      at,
      event: { do: 'setEndpoints' as const, service: 'web', endpoints: list },
    })),
  ];
}

const ready = (pod: string): EndpointSpec => ({ pod, condition: 'ready' });

function answer(at: number, by: string, more: Partial<Observation> = {}): Observation {
  const request = { use: 'once', connection: at, target: { client: 'pod', ...FRONTEND } } as const;
  return { ...request, began: at, ended: at + 1, result: 'answered', by, seen: POD_ADDRESS, ...more };
}

function silence(at: number, result: Observation['result'], more: Partial<Observation> = {}): Observation {
  const { by: _by, seen: _seen, ...request } = answer(at, '', more);
  return { ...request, ended: at + 90, result };
}

function rulesBroken(
  all: readonly Change[],
  observations: readonly Observation[],
  faults: readonly FaultPeriod[] = [],
  bounds = BOUNDS,
): RuleName[] {
  const recording = { history: { seed: 1, steps: [] }, changes: all, faults, observations, ended: 10_000 };
  return judge(recording, bounds).map(({ rule }) => rule);
}

describe('the verdict', () => {
  const left = changes([0, [ready('pod-0'), ready('pod-2')]], [1000, [ready('pod-2')]]);

  it('counts the choices of all times with the same endpoints, between faults and other endpoints', () => {
    const both = [ready('pod-0'), ready('pod-2')];
    const times = Array.from({ length: 20 }, (_, i) => i * 500);
    const flips = changes(
      ...times.flatMap((at): [number, EndpointSpec[]][] => [
        [at, both],
        [at + 300, [ready('pod-2')]],
      ]),
    );
    const asked = times.flatMap((at) => [150, 200, 250].map((after) => answer(at + after, 'pod-2')));
    const damage: FaultPeriod[] = [{ fault: 'chainsFlushed', began: 5000, ended: 5000 }];
    assert.deepEqual(rulesBroken(flips, asked, damage), ['every-endpoint', 'every-endpoint']);
    assert.deepEqual(rulesBroken(flips, [...asked, answer(9900, 'pod-0')].slice(1, 4), damage), []);
    const once = asked.map((request, i) => (i === 30 ? { ...request, by: 'pod-0' } : request));
    assert.deepEqual(rulesBroken(flips, once), []);
  });

  it('names the source ranges, if the Service is deleted while a client beyond them is answered', () => {
    const spec: ServiceSpec = { ...SPEC, loadBalancer: true, ranges: true };
    const frontend = frontendsOf('web', spec).find(({ kind }) => kind === 'loadBalancer');
    assert.ok(frontend);
    const { service: _, ...target } = frontend;
    const all: Change[] = [
      { at: 0, event: { do: 'setService', service: 'web', spec } },
      { at: 0, event: { do: 'setEndpoints', service: 'web', endpoints: [ready('pod-0')] } },
      { at: 1000, event: { do: 'deleteService', service: 'web' } },
    ];
    const asked = (at: number) => answer(at, 'pod-0', { target: { client: 'stranger', ...target } });
    assert.deepEqual(rulesBroken(all, [asked(500)]), ['source-ranges']);
    assert.deepEqual(rulesBroken(all, [asked(1050)]), ['source-ranges']);
    assert.deepEqual(rulesBroken(all, [asked(2000)]), ['own-endpoints']);
  });

  it('a proxy that ends after a fault that may end it ended because of it, once', () => {
    const fault = (name: FaultName, began: number): FaultPeriod => ({
      fault: name,
      began,
      ended: began + 10,
    });
    const faults = [fault('memoryShort', 1), fault('serverDown', 20)];
    const found = withDeath(faults, 50);
    assert.deepEqual(found, [{ ...fault('memoryShort', 1), ended: 50, died: true }, faults[1]]);
    assert.equal(withDeath(found ?? [], 60), undefined);
    assert.equal(withDeath([fault('serverDown', 20)], 50), undefined);
  });

  it('permits an endpoint that left until the bound, and not later', () => {
    assert.deepEqual(rulesBroken(left, [answer(1090, 'pod-0')]), []);
    assert.deepEqual(rulesBroken(left, [answer(1110, 'pod-0')]), ['removed-not-chosen']);
  });

  it('permits it for longer while a fault delays the change', () => {
    const fault: FaultPeriod = { fault: 'proxyStopped', began: 1050, ended: 3000 };
    assert.deepEqual(rulesBroken(left, [answer(3900, 'pod-0')], [fault]), []);
    assert.deepEqual(rulesBroken(left, [answer(4200, 'pod-0')], [fault]), ['removed-not-chosen']);
  });

  it('demands an answer while a fault delays changes, and not while damage may not be repaired', () => {
    const lost = silence(2000, 'timeout');
    const delays: FaultPeriod = { fault: 'proxyKilled', began: 1900, ended: 2500 };
    const damages: FaultPeriod = { fault: 'chainsFlushed', began: 1900, ended: 1900 };
    assert.deepEqual(rulesBroken(left, [lost], [delays]), ['ready-answers']);
    assert.deepEqual(rulesBroken(left, [lost], [damages]), []);
    assert.deepEqual(rulesBroken(left, [silence(3100, 'timeout')], [damages]), ['ready-answers']);
    // A proxy that is down does not repair.
    assert.deepEqual(rulesBroken(left, [silence(3100, 'timeout')], [damages, delays]), []);
  });

  it('demands an answer while the clock steps, and not while the table of connections is small', () => {
    const lasting = (fault: FaultName): FaultPeriod[] => [{ fault, began: 1000, ended: 2000 }];
    const silent = [silence(1500, 'timeout')];
    const stays = changes([0, [ready('pod-0')]]);
    assert.deepEqual(rulesBroken(stays, silent, lasting('clockStepped')), ['ready-answers']);
    assert.deepEqual(rulesBroken(stays, silent, lasting('conntrackSmall')), []);
    assert.deepEqual(rulesBroken(stays, [silence(3200, 'timeout')], lasting('conntrackSmall')), [
      'ready-answers',
    ]);
  });

  it('permits the objects of an earlier time while the API server has them, and until the bound of recovery', () => {
    const older: FaultPeriod = { fault: 'serverOlder', began: 3000, ended: 3500, restored: 500 };
    assert.deepEqual(rulesBroken(left, [answer(2900, 'pod-0')], [older]), ['removed-not-chosen']);
    for (const at of [3010, 3400, 4400])
      assert.deepEqual(rulesBroken(left, [answer(at, 'pod-0')], [older]), []);
    assert.deepEqual(rulesBroken(left, [answer(4700, 'pod-0')], [older]), ['removed-not-chosen']);
    // It has no objects that were there at no time.
    assert.deepEqual(rulesBroken(left, [answer(3400, 'pod-1')], [older]), ['removed-not-chosen']);
    const since = { ...older, restored: 1500 };
    assert.deepEqual(rulesBroken(left, [answer(3400, 'pod-0')], [since]), ['removed-not-chosen']);
  });

  it('demands affinity to an endpoint only while each permitted behaviour chooses from it', () => {
    const spec: ServiceSpec = { ...SPEC, nodePort: true, externalPolicy: 'Local', affinity: 600 };
    const going: EndpointSpec = { pod: 'pod-0', condition: 'terminating' };
    const service: Change = { at: 0, event: { do: 'setService', service: 'web', spec } };
    const all = changes([0, ['pod-0', 'pod-2'].map(ready)], [1000, [going, ready('pod-2')]]).with(0, service);
    const nodePort = frontendsOf('web', spec).find(({ kind }) => kind === 'nodePort') as typeof FRONTEND;
    const moved = (at: number, client: 'pod' | 'outside') => {
      const to = { target: { ...nodePort, client }, seen: client === 'pod' ? POD_ADDRESS : '192.168.50.100' };
      return [answer(500, 'pod-0', to), answer(at, 'pod-2', to)];
    };
    assert.deepEqual(rulesBroken(all, moved(900, 'pod')), ['affinity']);
    // A client in the cluster may reach all endpoints, of which pod-2 is ready, or those of the node.
    assert.deepEqual(rulesBroken(all, moved(1200, 'pod')), []);
    assert.deepEqual(rulesBroken(all, moved(1200, 'outside')), ['local-policy', 'affinity']);
  });

  it('demands that affinity ends: a client that returns after the timeout sometimes reaches another endpoint', () => {
    const service: Change = {
      ...{ at: 0, event: { do: 'setService', service: 'web', spec: { ...SPEC, affinity: 1 } } },
    };
    const all = changes([0, ['pod-0', 'pod-2'].map(ready)]).with(0, service);
    const returns = (period: number) =>
      Array.from({ length: 40 }, (_, i) => answer(200 + i * period, 'pod-0'));
    assert.deepEqual(rulesBroken(all, returns(1200)), ['affinity-ends']);
    assert.deepEqual(rulesBroken(all, returns(1200).with(20, answer(24_200, 'pod-2'))), []);
    assert.deepEqual(rulesBroken(all, returns(1050)), [], 'the timers of a kernel may be late');
    assert.deepEqual(rulesBroken(all, returns(1200).slice(0, 20)), [], 'chance');
    assert.deepEqual(rulesBroken(all, returns(1200), [], IPVS), []);
    const others = [...Array(40).keys()].flatMap((i): [number, EndpointSpec[]][] => [
      [700 + i * 1200, [ready('pod-0')]],
      [800 + i * 1200, ['pod-0', 'pod-2'].map(ready)],
    ]);
    const rolling = [...all, ...changes(...others).slice(1)];
    assert.deepEqual(rulesBroken(rolling, returns(1200)), [], 'it had one endpoint meanwhile');
    const asked = returns(1200).flatMap((one) => [one, silence(one.began + 600, 'timeout')]);
    assert.ok(
      !rulesBroken(all, asked).includes('affinity-ends'),
      'a connection without an answer begins the time anew',
    );
  });

  it('lets an internal policy Local lead to other nodes in ipvs mode alone, while the node has no endpoint', () => {
    const spec: ServiceSpec = { ...SPEC, internalPolicy: 'Local' };
    const service: Change = { at: 0, event: { do: 'setService', service: 'web', spec } };
    const remote = changes([0, [ready('pod-2')]]).with(0, service);
    assert.deepEqual(rulesBroken(remote, [answer(500, 'pod-2')]), ['local-policy']);
    assert.deepEqual(rulesBroken(remote, [answer(500, 'pod-2'), silence(600, 'timeout')], [], IPVS), []);
    const both = changes([0, ['pod-0', 'pod-2'].map(ready)]).with(0, service);
    assert.deepEqual(rulesBroken(both, [answer(500, 'pod-2')], [], IPVS), ['local-policy']);
  });

  it('demands affinity of a Service, and in ipvs mode of each virtual service', () => {
    const spec = { ...SPEC, affinity: 600, externalIP: true };
    const all = changes([0, ['pod-0', 'pod-1'].map(ready)]).with(0, {
      ...{ at: 0, event: { do: 'setService', service: 'web', spec } },
    });
    const frontend = frontendsOf('web', spec).find(({ kind }) => kind === 'externalIP');
    assert.ok(frontend);
    const { service: _, ...external } = frontend;
    const elsewhere = answer(900, 'pod-1', { target: { client: 'pod', ...external } });
    assert.deepEqual(rulesBroken(all, [answer(500, 'pod-0'), elsewhere]), ['affinity']);
    assert.deepEqual(rulesBroken(all, [answer(500, 'pod-0'), elsewhere], [], IPVS), []);
    assert.deepEqual(rulesBroken(all, [answer(500, 'pod-0'), answer(900, 'pod-1')], [], IPVS), ['affinity']);
  });

  it('counts the choices of all clients of a virtual service in ipvs mode', () => {
    const all = changes([0, ['pod-0', 'pod-2'].map(ready)]);
    const node = { client: 'node', ...FRONTEND } as const;
    const inStep = Array.from({ length: 80 }, (_, i) =>
      i % 2 === 0
        ? answer(500 + i * 50, 'pod-0')
        : answer(500 + i * 50, 'pod-2', { target: node, seen: '192.168.50.10' }),
    );
    assert.deepEqual(rulesBroken(all, inStep), ['every-endpoint', 'every-endpoint']);
    assert.deepEqual(rulesBroken(all, inStep, [], IPVS), []);
    const one = inStep.map((request) => ({ ...request, by: 'pod-0' }));
    assert.ok(rulesBroken(all, one, [], IPVS).includes('every-endpoint'));
  });

  it('excuses a single datagram while an endpoint stops serving, and no second one', () => {
    const udp = { target: { client: 'pod', ...FRONTEND, protocol: 'UDP' } } as const;
    const spec: ServiceSpec = { ...SPEC, protocols: ['UDP'] };
    const all = left.with(0, { at: 0, event: { do: 'setService', service: 'web', spec } });
    const lost = (at: number) => silence(at, 'timeout', udp);
    assert.deepEqual(rulesBroken(all, [lost(1005)]), []);
    assert.deepEqual(rulesBroken(all, [lost(1005), lost(1006)]), ['ready-answers']);
    assert.deepEqual(rulesBroken(all, [lost(1500)]), ['ready-answers'], 'no endpoint stops then');
    assert.deepEqual(rulesBroken(all, [silence(1005, 'refused', udp)]), ['ready-answers']);
  });

  it('permits node ports in ipvs mode whose record was destroyed before a start of the proxy that no longer knows their Service', () => {
    const spec = { ...SPEC, nodePort: true };
    const frontend = frontendsOf('web', spec).find(({ kind }) => kind === 'nodePort');
    assert.ok(frontend);
    const { service: _, ...port } = frontend;
    const all = changes([0, [ready('pod-0')]], [700, [ready('pod-1')]]).with(0, {
      ...{ at: 0, event: { do: 'setService', service: 'web', spec } },
    });
    const deleted: Change[] = [...all, { at: 800, event: { do: 'deleteService', service: 'web' } }];
    const down: FaultPeriod = { fault: 'proxyEnded', began: 500, ended: 1000 };
    const faults: FaultPeriod[] = [down, { fault: 'setsDestroyed', began: 600, ended: 600 }];
    const late = (by: string, target = { client: 'pod', ...port } as const) => [answer(5000, by, { target })];
    assert.deepEqual(rulesBroken(deleted, late('pod-0'), faults, IPVS), []);
    assert.deepEqual(rulesBroken(deleted, late('pod-2'), faults, IPVS), ['own-endpoints']);
    assert.deepEqual(rulesBroken(deleted, late('pod-0'), faults), ['own-endpoints']);
    assert.deepEqual(rulesBroken(deleted, late('pod-0'), [down], IPVS), ['own-endpoints']);
    assert.deepEqual(rulesBroken(all, late('pod-0'), faults, IPVS), ['removed-not-chosen']);
    const clusterIP = [answer(5000, 'pod-0')];
    assert.deepEqual(rulesBroken(deleted, clusterIP, faults, IPVS), ['own-endpoints']);
  });

  it('does not demand affinity over a change of the mode, but answers and established connections', () => {
    const spec = { ...SPEC, affinity: 600 };
    const all = changes([0, ['pod-0', 'pod-1', 'pod-2'].map(ready)]).with(0, {
      ...{ at: 0, event: { do: 'setService', service: 'web', spec } },
    });
    const moved = [answer(500, 'pod-0'), answer(2000, 'pod-1')];
    const changed: FaultPeriod = { fault: 'modeChanged', began: 800, ended: 900 };
    assert.deepEqual(rulesBroken(all, moved, [{ ...changed, fault: 'proxyEnded' }]), ['affinity']);
    assert.deepEqual(rulesBroken(all, moved, [changed]), []);
    // It holds again after the change.
    assert.deepEqual(rulesBroken(all, [...moved, answer(2100, 'pod-2')], [changed]), ['affinity']);
    const long = { use: 'long', connection: 7 } as const;
    const opened = answer(500, 'pod-0', long);
    assert.deepEqual(rulesBroken(all, [opened, silence(850, 'reset', long)], [changed]), [
      'established-kept',
    ]);
    assert.deepEqual(rulesBroken(all, [silence(850, 'timeout')], [changed]), ['ready-answers']);
  });

  it('permits a terminating endpoint if no other is ready', () => {
    const going: EndpointSpec = { pod: 'pod-0', condition: 'terminating' };
    assert.deepEqual(rulesBroken(changes([0, [going]]), [answer(500, 'pod-0')]), []);
    assert.deepEqual(rulesBroken(changes([0, [going, ready('pod-1')]]), [answer(500, 'pod-0')]), [
      'terminating-not-chosen',
    ]);
  });

  it('tells a refusal from silence, which it must see twice, for a Service without endpoints', () => {
    const none = changes([0, []]);
    assert.deepEqual(rulesBroken(none, [silence(500, 'refused')]), []);
    assert.deepEqual(rulesBroken(none, [silence(500, 'timeout')]), []);
    assert.deepEqual(rulesBroken(none, [silence(500, 'timeout'), silence(700, 'timeout')]), ['refused']);
  });

  it('demands an established connection while its endpoint is there, whatever its condition', () => {
    const long = { use: 'long', connection: 7 } as const;
    const opened = answer(500, 'pod-0', long);
    const draining = changes(
      [0, [ready('pod-0')]],
      [600, [{ pod: 'pod-0', condition: 'terminating' }, ready('pod-1')]],
    );
    assert.deepEqual(rulesBroken(draining, [opened, answer(2000, 'pod-0', long)]), []);
    assert.deepEqual(rulesBroken(draining, [opened, silence(2000, 'reset', long)]), ['established-kept']);
    assert.deepEqual(rulesBroken(left, [opened, silence(2000, 'reset', long)]), []);
  });

  it('excuses one datagram of a stream that may be lost with the flow to an endpoint that left, and no second one', () => {
    const stream = { use: 'stream', connection: 7 } as const;
    const first = answer(900, 'pod-0', stream);
    assert.deepEqual(rulesBroken(left, [first, silence(1050, 'timeout', stream)]), []);
    assert.deepEqual(rulesBroken(left, [first, silence(1050, 'refused', stream)]), ['stream-answers']);
    const twice = [first, silence(1010, 'timeout', stream), silence(1090, 'timeout', stream)];
    assert.deepEqual(rulesBroken(left, twice), ['stream-answers']);
    const other = answer(900, 'pod-2', stream);
    assert.deepEqual(rulesBroken(left, [other, silence(1050, 'timeout', stream)]), ['stream-answers']);
    assert.deepEqual(rulesBroken(left, [first, silence(1150, 'timeout', stream)]), ['stream-answers']);
    // IPVS drops one too if the endpoint still serves, and the node gets an error.
    const both = [ready('pod-2'), { pod: 'pod-0', condition: 'terminating' }] as const;
    const drains = changes([0, [ready('pod-0'), ready('pod-2')]], [1000, both]);
    for (const result of ['timeout', 'unreachable'] as const) {
      const lost = silence(1050, result, stream);
      assert.deepEqual(rulesBroken(drains, [first, lost], [], IPVS), []);
      assert.deepEqual(rulesBroken(drains, [first, lost]), ['stream-answers']);
      assert.deepEqual(rulesBroken(drains, [other, lost], [], IPVS), ['stream-answers']);
    }
  });

  it('names the address that the pod should not have seen', () => {
    const [seen] = [answer(500, 'pod-0', { seen: '10.244.1.1' })];
    assert.deepEqual(rulesBroken(left, [seen]), ['source-address']);
  });

  it('lets the flow of a stream keep its source address when the policy becomes Local, and no new flow', () => {
    const spec = { ...SPEC, externalIP: true };
    const frontend = frontendsOf('web', spec).find(({ kind }) => kind === 'externalIP') ?? assert.fail();
    const { service: _, ...target } = { client: 'outside' as const, ...frontend };
    const become = (at: number, policy: 'Cluster' | 'Local'): Change => ({
      at,
      event: { do: 'setService', service: 'web', spec: { ...spec, externalPolicy: policy } },
    });
    const [, endpoints] = changes([0, [ready('pod-0')]]) as [Change, Change];
    const changed = [become(0, 'Cluster'), endpoints, become(1000, 'Local')];
    const stream = (at: number, connection: number, seen = '10.244.1.1') =>
      answer(at, 'pod-0', { use: 'stream', connection, target, seen });
    assert.deepEqual(rulesBroken(changed, [stream(900, 7), stream(1500, 7), stream(1900, 7)]), []);
    assert.deepEqual(rulesBroken(changed, [stream(1500, 7)]), ['source-address']);
    const again = [stream(900, 7), stream(1500, 7, '192.168.50.100'), stream(1900, 7)];
    assert.deepEqual(rulesBroken(changed, again), ['source-address']);
  });

  it('has a source for each rule', () => {
    for (const [name, { says, source }] of Object.entries(RULES)) {
      assert.ok(says.endsWith('.') && source.length > 20, name);
    }
  });
});

describe('a history', () => {
  it('has objects that a proxy accepts', () => {
    let count = 0;
    for (let seed = 1; seed <= 20; seed++) {
      let state = EMPTY_CLUSTER;
      for (const { event } of generateHistory(seed, KINDS).steps) {
        state = stateAfter(state, event);
        for (const object of objectsOf(state).values()) {
          const { problems } = decodeObject(object);
          assert.deepEqual(problems, [], JSON.stringify(object));
          count++;
        }
      }
    }
    assert.ok(count > 2000, `only ${count} objects`);
  });

  it('is the same after it was written to a file', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const history = generateHistory(seed, KINDS);
      assert.deepEqual(parseReplay(replayText(history)), history);
    }
  });

  it('has a file with all that happened in it', () => {
    const { history, ...recording } = simulate(generateHistory(1, KINDS));
    const written = JSON.parse(recordingText({ history, ...recording }));
    assert.deepEqual(written, { seed: history.seed, ...recording, waits: [] });
  });

  const broken: [what: string, change: (text: string) => string, told: RegExp][] = [
    ['no list of steps', (text) => text.replace('"steps"', '"stops"'), /^steps: must be a list/],
    [
      'an unknown event',
      (text) => text.replace('"setService"', '"setServiced"'),
      /^steps\[0\]\.event\.do: must be one of "setService"/,
    ],
    [
      'an unknown pod',
      (text) => text.replace(/"pod-\d"/, '"pod-9"'),
      /^steps\[1\]\.event\.endpoints\[0\]\.pod: must be one of "pod-0"/,
    ],
    [
      'a time below 0',
      (text) => text.replace(/"after":\d+/, '"after":-1'),
      /^steps\[0\]\.after: must be an integer/,
    ],
  ];
  for (const [what, change, told] of broken) {
    it(`is refused with ${what}`, () => {
      const text = replayText(generateHistory(2, KINDS));
      assert.notEqual(change(text), text);
      assert.throws(() => parseReplay(change(text)), { message: told });
    });
  }
});

describe('a report', () => {
  const history = generateHistory(2, { ...KINDS, pause: 400 });
  const recording: Recording = simulate(history, 'terminatingChosen');
  const judged = [{ recording, violations: judge(recording, SIMULATED_BOUNDS) }];
  const tally = new Tally(SIMULATED_BOUNDS);
  for (const one of judged) tally.add(one);
  const report = tally.report('a <proxy>', 'simulated');

  it('has the violations, with their rules and sources, and the latencies by kind', () => {
    const violation = report.violations.find(({ rule }) => rule === 'terminating-not-chosen');
    assert.equal(violation?.source, RULES['terminating-not-chosen'].source);
    const total = Object.values(report.broken).reduce((sum, count) => sum + count, 0);
    assert.equal(total, judged[0]?.violations.length);
    const kinds = report.latencies.map(({ kind }) => kind);
    assert.ok(
      kinds.includes('repair of chainsFlushed') && kinds.includes('endpoint is chosen'),
      kinds.join(),
    );
    for (const { p50, p90, p99, most } of report.latencies)
      assert.ok(p50 <= p90 && p90 <= p99 && p99 <= most);
    assert.ok(reportLines(report).some((line) => line.startsWith('violations: ')));
  });

  it('has each fault in the picture and in the times of repair', () => {
    const faults = Object.keys(FAULTS) as FaultName[];
    const steps = faults.map((fault) => ({ after: 400, event: { do: 'fault' as const, fault, lasts: 300 } }));
    const begun = generateHistory(2, { ...KINDS, faults: [], steps: 12 });
    const all = simulate({ seed: 2, steps: [...begun.steps, ...steps] });
    const page = timelineOf({ recording: all, violations: [] });
    const kinds = [...latenciesOf(all, SIMULATED_BOUNDS).keys()];
    for (const fault of faults) {
      assert.match(page, new RegExp(`<rect [^>]*><title>${fault}, \\d+ to \\d+ ms`));
      assert.ok(kinds.includes(`repair of ${fault}`), fault);
    }
    assert.match(page, /serverOlder, \d+ to \d+ ms, with the objects of \d+ ms/);
  });

  it('has the time until the last answer that only the objects of an earlier time permit', () => {
    const gone = changes([0, [ready('pod-0'), ready('pod-2')]], [1000, [ready('pod-2')]]);
    const fault: FaultPeriod = { fault: 'serverOlder', began: 3000, ended: 3500, restored: 500 };
    const observations = [answer(3100, 'pod-0'), answer(3600, 'pod-0'), answer(3700, 'pod-2')];
    const one = {
      history: { seed: 1, steps: [] },
      changes: gone,
      faults: [fault],
      observations,
      ended: 5000,
    };
    assert.deepEqual(latenciesOf(one, BOUNDS).get('repair of serverOlder'), [101]);
  });

  it('is a page with a picture, in which nothing of the command line is markup', () => {
    const page = reportPage(report, judged);
    assert.match(page, /a &lt;proxy&gt;/);
    assert.match(page, /<svg [\s\S]*#b00020[\s\S]*<\/svg>/);
    assert.doesNotMatch(page, /<proxy>|NaN|undefined/);
    const opened = page.match(/<(svg|table|details)\b/g)?.length;
    assert.equal(page.match(/<\/(svg|table|details)>/g)?.length, opened);
  });
});
