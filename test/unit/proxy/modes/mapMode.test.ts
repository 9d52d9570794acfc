// Tests the contract of modes with a minimal mode: transactions, audits, notifications, clean-up, and a switch of
// modes.
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../../../src/proxy/modes/ipvs/index.js';
import type { FormerMode, FormerState, KeyedOperation, Mode } from '../../../../src/proxy/modes/mode.js';
import { createProxy, type ServiceProxy } from '../../../../src/proxy/proxy.js';
import { cleanUp } from '../../../../src/proxy/reconcile/cleanUp.js';
import type { SyncSummary } from '../../../../src/proxy/reconcile/summary.js';
import { readManifest } from '../../../../src/proxy/source/manifestFile.js';
import type { SourceEvents } from '../../../../src/proxy/source/source.js';
import { until } from '../../../support/apiServer/cluster.js';
import { service, slice } from '../../../support/clusters/manifests.js';
import { MapKernel } from '../../../support/mapMode/mapKernel.js';
import { createMapMode } from '../../../support/mapMode/mapMode.js';

/** Longer than any test. */
const NO_AUDIT = 3_600_000;

const running: ServiceProxy[] = [];
afterEach(async () => {
  for (const proxy of running.splice(0)) await proxy.stop();
});

type AnyMode = Mode<unknown, KeyedOperation>;

/** A mode that ran before, with as many connections as `connections` returns. */
function former(mode: AnyMode, connections?: () => number): FormerMode & { opened: number; closed: number } {
  const counted = connections && { connections: async () => connections() };
  const result = {
    name: mode.name,
    opened: 0,
    closed: 0,
    async open(): Promise<FormerState> {
      result.opened++;
      return { mode, ...counted, close: () => void result.closed++ };
    },
  };
  return result;
}

/** What a source reports at its start. */
interface Input {
  readonly text: string;
  /** Manifests whose objects are missing. */
  readonly unread?: readonly string[];
}

/** Reports the objects of a manifest. */
async function report({ text, unread = [] }: Input, source: SourceEvents): Promise<void> {
  const { objects } = await readManifest('objects.yaml', text);
  source.changed([...objects.values()].map((object) => ({ type: 'set', object })));
  source.incomplete?.(unread);
  source.synced();
}

/** A proxy with these objects, its passes, and what it tells of former modes. */
function proxyOf(
  { host }: MapKernel,
  mode: AnyMode,
  input: Input,
  formerModes: readonly FormerMode[] = [],
  drainBound?: number,
) {
  const passes: SyncSummary[] = [];
  const switched: string[] = [];
  let told: SourceEvents | undefined;
  const proxy = createProxy({
    source: {
      async start(events) {
        told = events;
        await report(input, events);
      },
      stop() {},
    },
    mode,
    formerModes,
    drainBound,
    rtnetlink: host.rtnetlink,
    conntrack: host.conntrack,
    watchHost: host.watchHost,
    nodeName: 'node-a',
    events: {
      synced: (summary) => passes.push(summary),
      problems: () => {},
      failed: (error) => assert.fail(String(error)),
      retrying: () => {},
      switched: (name, { left }) => switched.push(`${name} left ${left.length}`),
      kept: (name, connections) => switched.push(`${name} kept for ${connections}`),
      unswitched: (name, error) => switched.push(`${name}: ${String(error)}`),
    },
  });
  running.push(proxy);
  return { proxy, passes, switched, source: () => told ?? assert.fail('not started') };
}

/** Starts a proxy with the objects of this manifest. */
async function start(
  kernel: MapKernel,
  mode: AnyMode,
  input: string | Input,
  formerModes: readonly FormerMode[] = [],
  drainBound?: number,
) {
  const started = proxyOf(
    kernel,
    mode,
    typeof input === 'string' ? { text: input } : input,
    formerModes,
    drainBound,
  );
  await started.proxy.start();
  await until('a pass was made', () => started.passes.length > 0);
  return started;
}

const WEB = service('web', '10.96.0.1') + slice('web', '10.0.0.1');
const API = service('api', '10.96.0.2') + slice('api', '10.0.0.2');
const STATE = [
  ['10.96.0.1:80/tcp', ['10.0.0.1:8080']],
  ['10.96.0.2:80/tcp', ['10.0.0.2:8080']],
];

/** The Service of `web.yaml` is in the kernel only. */
const UNREAD: Input = { text: API, unread: ['web.yaml'] };

const stateOf = ({ table }: MapKernel) => [...(table ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));

it('the failed operation of a transaction has its error, and all others are applied in the same pass', async () => {
  const kernel = new MapKernel();
  const bad = new NetlinkError({ code: 'EINVAL', operation: 'map.set' });
  kernel.fault = (_, target) => (target === '10.96.0.2:80/tcp' ? bad : undefined);
  const { passes } = await start(kernel, createMapMode(kernel, NO_AUDIT), WEB + API);
  assert.deepEqual(
    passes[0]?.failures.map(({ key, error }) => [key, error.code]),
    [['entry 10.96.0.2:80/tcp', 'EINVAL']],
  );
  assert.deepEqual(kernel.transactions.slice(0, 2), [3, 2]);
  assert.deepEqual(stateOf(kernel), STATE.slice(0, 1));
  kernel.fault = () => undefined;
  await until('it succeeds', () => passes.at(-1)?.failures.length === 0);
  assert.deepEqual(stateOf(kernel), STATE);
});

it('an audit after the period of the mode repairs a change without a notification', async () => {
  const kernel = new MapKernel();
  const { passes } = await start(kernel, createMapMode(kernel, 20), WEB + API);
  kernel.tamper((table) => table.delete('10.96.0.1:80/tcp'), false);
  await until('it is repaired', () => passes.some(({ repaired }) => repaired === 1));
  assert.deepEqual(stateOf(kernel), STATE);
});

it('a notification of the mode immediately causes a full pass', async () => {
  const kernel = new MapKernel();
  const { passes } = await start(kernel, createMapMode(kernel, NO_AUDIT), WEB + API);
  kernel.tamper((table) => table.clear(), true);
  await until('it is repaired', () => passes.length > 1);
  assert.deepEqual([passes[1]?.full, passes[1]?.operations], [true, 2]);
  assert.deepEqual(stateOf(kernel), STATE);
});

it('a clean-up removes everything', async () => {
  const kernel = new MapKernel();
  const mode = createMapMode(kernel, NO_AUDIT);
  await start(kernel, mode, WEB + API);
  assert.deepEqual(await cleanUp(mode), { operations: 3, failures: [], left: [], used: [] });
  assert.equal(kernel.table, undefined);
});

it('a switch from ipvs mode and back removes the items of the former mode after the new ones are programmed', async () => {
  const kernel = new MapKernel();
  const { ipvs, ipset, rtnetlink } = kernel.host;
  const ipvsMode = () => createIpvsMode(kernel.host, { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' });
  const mapMode = () => createMapMode(kernel, NO_AUDIT);
  const hasIpvs = () => ipvs.dump() + ipset.dump() + rtnetlink.dump('kube-ipvs0') !== '';
  const stop = async () => {
    for (const proxy of running.splice(0)) await proxy.stop();
  };

  await start(kernel, ipvsMode(), WEB + API);
  assert.ok(hasIpvs());
  await stop();

  // Captures the state at the deletion of a virtual service.
  let inPlace: unknown;
  ipvs.fault = (operation) => {
    if (operation.includes('delete')) inPlace ??= stateOf(kernel);
    return undefined;
  };
  const toMap = await start(kernel, mapMode(), WEB + API, [former(ipvsMode())]);
  await until('the former mode is gone', () => toMap.switched.length > 0);
  assert.deepEqual(inPlace, STATE);
  assert.deepEqual([toMap.switched, hasIpvs(), stateOf(kernel)], [['ipvs left 0'], false, STATE]);
  await stop();

  const toIpvs = await start(kernel, ipvsMode(), WEB + API, [former(mapMode())]);
  await until('the former mode is gone', () => toIpvs.switched.length > 0);
  assert.deepEqual([toIpvs.switched, hasIpvs(), kernel.table], [['map left 0'], true, undefined]);
});

it('the removal of items of a former mode is retried after the next full pass', async () => {
  const kernel = new MapKernel();
  const ipvsMode = createIpvsMode(kernel.host, {
    ...IPVS_DEFAULTS,
    auditPeriod: 20,
    kernelRelease: '6.1.0',
  });
  await start(kernel, createMapMode(kernel, NO_AUDIT), WEB);
  for (const proxy of running.splice(0)) await proxy.stop();
  const busy = new NetlinkError({ code: 'EBUSY', operation: 'map.deleteTable' });
  kernel.fault = (operation) => (operation === 'deleteTable' ? busy : undefined);
  const mapMode = former(createMapMode(kernel, NO_AUDIT));
  const { switched } = await start(kernel, ipvsMode, WEB, [mapMode]);
  await until('it was tried', () => switched.length > 0);
  kernel.fault = () => undefined;
  await until('it is gone', () => kernel.table === undefined);
  assert.deepEqual([switched[0], switched.at(-1)], ['map left 1', 'map left 0']);
  assert.equal(mapMode.opened, mapMode.closed);
});

describe('the items of a former mode', () => {
  const ipvsMode = (kernel: MapKernel, auditPeriod = 20) =>
    createIpvsMode(kernel.host, { ...IPVS_DEFAULTS, auditPeriod, kernelRelease: '6.1.0' });
  const leftByMap = async () => {
    const kernel = new MapKernel();
    await start(kernel, createMapMode(kernel, NO_AUDIT), WEB);
    for (const proxy of running.splice(0)) await proxy.stop();
    return kernel;
  };

  it('stay while connections need them', async () => {
    const kernel = await leftByMap();
    let connections = 2;
    const mapMode = former(createMapMode(kernel, NO_AUDIT), () => connections);
    const { switched } = await start(kernel, ipvsMode(kernel), WEB, [mapMode]);
    await until('it was looked at again', () => switched.length > 1);
    assert.deepEqual([switched.slice(0, 2), kernel.table?.size], [Array(2).fill('map kept for 2'), 1]);
    connections = 0;
    await until('it is gone', () => switched.at(-1) === 'map left 0');
    assert.deepEqual([kernel.table, mapMode.opened - mapMode.closed], [undefined, 0]);
  });

  it('stay no longer than the time limit', async () => {
    const kernel = await leftByMap();
    const mapMode = former(createMapMode(kernel, NO_AUDIT), () => 1);
    const { switched } = await start(kernel, ipvsMode(kernel), WEB, [mapMode], 100);
    await until('it is gone', () => switched.at(-1) === 'map left 0');
    assert.equal(switched[0], 'map kept for 1');
  });

  it('that cannot be read are reported, and those of other modes are removed', async () => {
    const kernel = await leftByMap();
    const broken: FormerMode = { name: 'broken', open: () => Promise.reject(new Error('no module')) };
    const absent: FormerMode = { name: 'absent', open: async () => undefined };
    const mapMode = former(createMapMode(kernel, NO_AUDIT));
    const { switched } = await start(kernel, ipvsMode(kernel), WEB, [broken, absent, mapMode]);
    await until('it was tried again', () => switched.filter((line) => line.startsWith('broken')).length > 1);
    assert.deepEqual(switched.slice(0, 3), [
      'broken: Error: no module',
      'map left 0',
      'broken: Error: no module',
    ]);
    assert.equal(mapMode.opened, 1);
  });

  it('stay while the pass of the running mode has failures', async () => {
    const kernel = await leftByMap();
    kernel.host.ipvs.fault = (operation) =>
      operation === 'ipvs.addService' ? new NetlinkError({ code: 'ENOMEM', operation }) : undefined;
    const { passes, switched } = await start(kernel, ipvsMode(kernel), WEB, [
      former(createMapMode(kernel, NO_AUDIT)),
    ]);
    await until('an audit ended', () => passes.filter(({ full }) => full).length > 1);
    assert.deepEqual([switched, kernel.table?.size], [[], 1]);
  });

  it('stay while an object is unreadable, which they may serve, until it is read and programmed', async () => {
    const kernel = await leftByMap();
    const { passes, switched, source } = await start(kernel, ipvsMode(kernel), UNREAD, [
      former(createMapMode(kernel, NO_AUDIT)),
    ]);
    await until('an audit ended', () => passes.filter(({ full }) => full).length > 1);
    assert.deepEqual([switched, kernel.table?.size], [[], 1]);
    let served: boolean | undefined;
    kernel.fault = (operation) => {
      if (operation === 'deleteTable') served ??= kernel.host.ipvs.dump().includes('10.96.0.1:80');
      return undefined;
    };
    const { objects } = await readManifest('web.yaml', WEB);
    source().changed([...objects.values()].map((object) => ({ type: 'set', object })));
    source().incomplete?.([]);
    await until('it is gone', () => switched.length > 0);
    assert.deepEqual([served, switched, kernel.table], [true, ['map left 0'], undefined]);
  });

  it('stay if an object becomes readable during a pass that does not plan it, and go after the next one', async () => {
    const kernel = await leftByMap();
    const mode = ipvsMode(kernel, NO_AUDIT);
    let read = () => {};
    const late = {
      ...mode,
      apply: async (operations: Parameters<typeof mode.apply>[0]) => {
        read();
        return mode.apply(operations);
      },
    };
    const { proxy, switched, source } = proxyOf(kernel, late as AnyMode, UNREAD, [
      former(createMapMode(kernel, NO_AUDIT)),
    ]);
    const { objects } = await readManifest('web.yaml', WEB);
    read = () => {
      read = () => {};
      source().changed([...objects.values()].map((object) => ({ type: 'set', object })));
      source().incomplete?.([]);
    };
    let served: boolean | undefined;
    kernel.fault = (operation) => {
      if (operation === 'deleteTable') served ??= kernel.host.ipvs.dump().includes('10.96.0.1:80');
      return undefined;
    };
    await proxy.start();
    await until('it is gone', () => switched.length > 0);
    assert.deepEqual([served, kernel.table], [true, undefined]);
  });

  it('stay after one pass, and in a plan, while an object is unreadable', async () => {
    const kernel = await leftByMap();
    const mapMode = former(createMapMode(kernel, NO_AUDIT));
    const planned = await proxyOf(kernel, ipvsMode(kernel), UNREAD, [mapMode]).proxy.plan();
    assert.ok(planned.length > 0);
    assert.deepEqual(
      planned.filter(({ formerMode }) => formerMode !== undefined),
      [],
    );
    const { failures, full } = await proxyOf(kernel, ipvsMode(kernel), UNREAD, [mapMode]).proxy.once();
    assert.deepEqual([failures, full, kernel.table?.size, mapMode.opened], [[], true, 1, 0]);
    await proxyOf(kernel, ipvsMode(kernel), { text: WEB + API }, [mapMode]).proxy.once();
    assert.equal(kernel.table, undefined);
  });
});
