// When the state of a former mode is removed, on a clock that the test moves: neither a Service that the kernel refuses nor a connection keeps
// it for ever, whatever the period of the audits.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { AgentState } from '../../../src/command/agent/agentReport.js';
import { inOrder } from '../../../src/command/agent/listeners.js';
import { Refusals } from '../../../src/command/agent/refusals.js';
import { NetlinkError } from '../../../src/kernel/errors.js';
import { FakeKernel } from '../../../src/kernel/testing/index.js';
import { createIptablesMode, IPTABLES_DEFAULTS } from '../../../src/proxy/modes/iptables/index.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../../src/proxy/modes/ipvs/index.js';
import type { KeyedOperation, Mode } from '../../../src/proxy/modes/mode.js';
import {
  createNftablesMode,
  NFTABLES_DEFAULTS,
  type NftablesLayout,
} from '../../../src/proxy/modes/nftables/index.js';
import { createProxy } from '../../../src/proxy/proxy.js';
import type { SyncSummary } from '../../../src/proxy/reconcile/summary.js';
import { readManifest } from '../../../src/proxy/source/manifestFile.js';
import { service, slice } from '../../support/clusters/manifests.js';
import { VirtualTime } from '../../support/fakes/virtualTime.js';
import { MapKernel } from '../../support/mapMode/mapKernel.js';
import { createMapMode } from '../../support/mapMode/mapMode.js';

type AnyMode = Mode<unknown, KeyedOperation>;

/** An audit in nftables mode is this rare, in ms. */
const HOUR = 3_600_000;

interface Story {
  readonly isRefused?: (target: string) => boolean;
  /** The mode that runs; default ipvs mode. */
  readonly mode?: (kernel: FakeKernel) => AnyMode;
  /** Faults of the kernel, and when they end, in ms. */
  readonly fault?: { readonly begin: (kernel: FakeKernel) => () => void; readonly until: number };
  readonly synced?: (summary: SyncSummary) => void;
  /** Connections of the former mode at a time, in ms. */
  readonly connections?: (now: number) => number;
  /** Its period of audits, in ms. */
  readonly auditPeriod?: number;
  /** In ms. */
  readonly drainBound?: number;
  /** Of the Services; default `TCP`. */
  readonly protocol?: 'UDP';
  /** What happens before the last item of the former mode goes. */
  readonly finish?: (kernel: FakeKernel) => void;
  /** The end of the story. */
  readonly ended?: (kernel: FakeKernel) => Promise<void>;
}

/** Runs a proxy for some minutes. Returns the time at which the former mode's state is removed, in ms. */
async function removedAfter({
  isRefused = () => false,
  mode,
  fault,
  synced = () => {},
  connections = () => 0,
  auditPeriod = IPVS_DEFAULTS.auditPeriod,
  drainBound,
  protocol,
  finish,
  ended,
}: Story): Promise<number | undefined> {
  const time = new VirtualTime();
  try {
    const kernel = new FakeKernel();
    kernel.ipvs.fault = (operation, target) =>
      isRefused(target) ? new NetlinkError({ code: 'EINVAL', operation, target }) : undefined;
    let end = fault?.begin(kernel);
    const manifests = [1, 2, 3, 4].map((n) => service(`s${n}`, `10.96.0.${n}`)).join('');
    const text = protocol
      ? `${manifests}${slice('s1', '10.0.0.2')}`.replaceAll(
          /port: (80|8080)}/g,
          `port: $1, protocol: ${protocol}}`,
        )
      : manifests;
    const { objects } = await readManifest('objects.yaml', text);
    let removed: number | undefined;
    const proxy = createProxy({
      source: {
        async start(events) {
          events.changed([...objects.values()].map((object) => ({ type: 'set', object })));
          events.synced();
        },
        stop: () => {},
      },
      mode:
        mode?.(kernel) ??
        (createIpvsMode(kernel, { ...IPVS_DEFAULTS, auditPeriod, kernelRelease: '6.1.0' }) as AnyMode),
      formerModes: [
        {
          name: 'map',
          open: async () => ({
            mode: createMapMode(new MapKernel(), auditPeriod) as AnyMode,
            connections: async () => connections(time.now),
            finish: async () => {
              finish?.(kernel);
              removed ??= time.now;
            },
            close: () => {},
          }),
        },
      ],
      drainBound,
      rtnetlink: kernel.rtnetlink,
      conntrack: kernel.conntrack,
      watchHost: async () => ({ close: () => {} }),
      nodeName: 'node-a',
      events: {
        synced,
        problems: () => {},
        failed: (error) => assert.fail(String(error)),
        retrying: () => {},
      },
    });
    await proxy.start();
    while (time.now < 600_000) {
      for (let i = 0; i < 100; i++) await turn();
      const [next] = time.timers;
      assert.ok(next);
      time.fire(next);
      if (!fault || time.now < fault.until) continue;
      end?.();
      end = undefined;
    }
    await ended?.(kernel);
    await proxy.stop();
    return removed;
  } finally {
    time.restore();
  }
}

it('the state of a former mode is removed at once if nothing is refused', async () => {
  assert.equal(await removedAfter({}), 0);
});

it('the state of a former mode stays while most Services are refused', async () => {
  const isRefused = (target: string) => /10\.96\.0\.[123]:/.test(target);
  assert.equal(await removedAfter({ isRefused }), undefined);
});

for (const auditPeriod of [IPVS_DEFAULTS.auditPeriod, HOUR])
  describe(`with an audit each ${auditPeriod / 1000} s, the state of a former mode is removed`, () => {
    it('after a minute if few Services are refused', async () => {
      const isRefused = (target: string) => target.includes('10.96.0.1:');
      const after = (await removedAfter({ isRefused, auditPeriod })) ?? assert.fail('it stayed');
      assert.ok(after >= 60_000 && after <= 150_000, `${after} ms`);
    });

    it('at most half a minute after its connections have ended', async () => {
      const connections = (now: number) => (now < 100_000 ? 2 : 0);
      const after = (await removedAfter({ connections, auditPeriod })) ?? assert.fail('it stayed');
      assert.ok(after >= 100_000 && after <= 130_000, `${after} ms`);
    });

    it('at its time limit, whatever connections there are', async () => {
      assert.equal(await removedAfter({ connections: () => 1, auditPeriod, drainBound: 100_000 }), 100_000);
    });
  });

it('a UDP flow that the rules of a former mode sent to an endpoint that left is deleted after them', async () => {
  const client = { source: '10.244.9.9', sourcePort: 40_000 };
  const track = ({ conntrack }: FakeKernel, endpoint: string, sourcePort: number) =>
    conntrack.track({
      protocol: 'udp',
      original: { ...client, sourcePort, destination: '10.96.0.1', destinationPort: 80 },
      reply: { source: endpoint, sourcePort: 8080, destination: client.source, destinationPort: sourcePort },
    });
  let left: string[] = [];
  const after = await removedAfter({
    protocol: 'UDP',
    // Longer than the checks of flows that follow the first pass.
    connections: (now) => (now < 100_000 ? 1 : 0),
    finish: (kernel) => {
      track(kernel, '10.0.0.1', 40_000);
      track(kernel, '10.0.0.2', 40_001);
    },
    ended: async ({ conntrack }) => {
      left = (await conntrack.list().toArray()).map(({ reply }) => reply.source);
    },
  });
  assert.ok(after !== undefined && after >= 100_000, `${after} ms`);
  assert.deepEqual(left, ['10.0.0.2']);
});

/** Lets one kind of operation fail. */
const failing =
  (part: 'ipvs' | 'ipset' | 'iptables' | 'nftables' | 'rtnetlink' | 'sysctl', what: RegExp, code: string) =>
  (kernel: FakeKernel) => {
    kernel[part].fault = (operation, target) =>
      what.test(`${operation} ${target}`) ? new NetlinkError({ code, operation, target }) : undefined;
    return () => {
      kernel[part].fault = () => undefined;
    };
  };

const iptables = (kernel: FakeKernel) => createIptablesMode(kernel, IPTABLES_DEFAULTS) as AnyMode;
const nftables = (layout: NftablesLayout) => (kernel: FakeKernel) =>
  createNftablesMode(kernel, { ...NFTABLES_DEFAULTS, layout }) as AnyMode;

it('the state of a former mode is removed as soon as a retry succeeds, also without an audit', async () => {
  const begin = failing('nftables', /./, 'EPERM');
  const after = await removedAfter({ mode: nftables('kube-proxy'), fault: { begin, until: 5000 } });
  assert.ok(after !== undefined && after >= 5000 && after < 20_000, `${after} ms`);
});

const ABOUT = { version: '1.0.0', node: 'node-a', mode: 'ipvs', families: [4, 6], startedAt: '' } as const;

/** What all Services of a mode need: whether a former mode may go does not depend on a Service. */
const NEEDED: readonly (readonly [
  title: string,
  begin: (kernel: FakeKernel) => () => void,
  mode?: Story['mode'],
])[] = [
  ['IPVS: conntrack cannot be set', failing('sysctl', /vs\/conntrack/, 'EROFS')],
  ['IPVS: ip_forward cannot be set', failing('sysctl', /ip_forward/, 'EPERM')],
  ['IPVS: the setting is absent', failing('sysctl', /expire_nodest_conn/, 'ENOENT')],
  ['IPVS: no kube-ipvs0', failing('rtnetlink', /addLink/, 'EPERM')],
  ['IPVS: a set cannot be added', failing('ipset', /KUBE-CLUSTER-IP/, 'EPERM')],
  ['IPVS: the lock of iptables is held', failing('iptables', /restore/, 'ERR_TIMEOUT')],
  ['iptables: the lock of iptables is held', failing('iptables', /restore/, 'ERR_TIMEOUT'), iptables],
  ['iptables: route_localnet cannot be set', failing('sysctl', /route_localnet/, 'EROFS'), iptables],
  ['nftables: no right', failing('nftables', /./, 'EPERM'), nftables('kube-proxy')],
  ['nftables: a base chain', failing('nftables', /nat-prerouting/, 'ENOENT'), nftables('kube-proxy')],
  ['nftables, scalable: a base chain', failing('nftables', /nat-prerouting/, 'ENOENT'), nftables('scalable')],
];

describe('the state of a former mode stays while the running one lacks what all Services need', () => {
  for (const [title, begin, mode] of NEEDED)
    it(title, async () => {
      const state = new AgentState(ABOUT, { lines: () => [] }, () => 0);
      const reasons = new Set<string>();
      const reporting = inOrder([state.listener()]);
      const refusals = new Refusals();
      const concerns = new Set<string>();
      const synced = (summary: SyncSummary) => {
        reporting.synced(summary, 0);
        for (const reason of state.report().lacking ?? []) reasons.add(reason.split(':')[0] ?? '');
        concerns.add(refusals.after(summary));
      };
      const after = await removedAfter({ ...(mode && { mode }), fault: { begin, until: 200_000 }, synced });
      assert.ok(after !== undefined && after >= 200_000 && after < 300_000, `${after} ms`);
      assert.ok(concerns.has('all') || concerns.has('settings'), 'not ready');
      assert.deepEqual([reasons.size > 0, state.report().lacking], [true, undefined], [...reasons].join());
    });
});
