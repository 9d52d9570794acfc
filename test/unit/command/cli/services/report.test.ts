// The list of virtual services: names, rates, order and table, on a fake kernel.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeFrontends } from '../../../../../src/command/cli/agentFrontends.js';
import type { Format, Output } from '../../../../../src/command/cli/output/output.js';
import { matching } from '../../../../../src/command/cli/services/inventory.js';
import { namesOf, virtualServiceName } from '../../../../../src/command/cli/services/names.js';
import { ipvsInventory } from '../../../../../src/command/cli/services/openInventory.js';
import { ratesBetween, type ServicesReport } from '../../../../../src/command/cli/services/report.js';
import { printServices } from '../../../../../src/command/cli/services/services.js';
import { shortNumber } from '../../../../../src/command/cli/services/table.js';
import type { IpvsCounters, RealServer, VirtualService } from '../../../../../src/kernel/ipvs/types.js';
import { FakeIpvs } from '../../../../../src/kernel/testing/ipvs.js';
import type { NamedFrontend } from '../../../../../src/proxy/services/namedFrontends.js';

const SETTINGS = { scheduler: 'rr', schedulerFlags: [], onePacket: false };
const WEB = { address: '10.96.0.80', port: 80, protocol: 'tcp' } as const;
const NODE_PORT = { address: '192.168.50.10', port: 30080, protocol: 'tcp' } as const;

const frontend = (rest: Partial<NamedFrontend>): NamedFrontend => ({
  ...{ service: 'demo/web', portName: 'http', kind: 'clusterIP', family: 4, ...WEB },
  ...rest,
});
const FRONTENDS = [frontend({}), frontend({ kind: 'nodePort', address: '', port: 30080 })];

function server(port: number, weight = 1): RealServer {
  const limits = { upperThreshold: 0, lowerThreshold: 0 };
  return { address: '10.244.1.11', port, weight, forwarding: 'masquerade', ...limits };
}

async function ipvsWith(...services: VirtualService[]): Promise<FakeIpvs> {
  const ipvs = new FakeIpvs();
  for (const service of services) await ipvs.add(service);
  return ipvs;
}

/** An output that keeps what is written. */
function kept(format: Format) {
  const written: string[] = [];
  const noted: string[] = [];
  const output: Output = {
    format,
    columns: 80,
    style: (_, text) => text,
    write: (text) => void written.push(text),
    note: (line) => void noted.push(line),
  };
  return { output, text: () => written.join(''), noted };
}

const NO_RATES = { connections: 0, inPackets: 0, outPackets: 0, inBytes: 0, outBytes: 0 };

const counters = (connections: bigint): IpvsCounters => ({
  connections,
  inPackets: connections * 10n,
  outPackets: 0n,
  inBytes: connections * 1000n,
  outBytes: 0n,
});

describe('the list of virtual services', () => {
  it('has a line for each one under the name of its Service, and one for each real server', async () => {
    const ipvs = await ipvsWith(
      { address: '10.96.0.9', port: 53, protocol: 'udp', ...SETTINGS },
      { ...NODE_PORT, ...SETTINGS },
      { ...WEB, ...SETTINGS, scheduler: 'wlc' },
    );
    await ipvs.addRealServer(WEB, server(8080));
    await ipvs.addRealServer(WEB, server(8081, 0));
    ipvs.activeConnections.set('10.244.1.11:8080', 3);
    ipvs.rates.set('tcp 10.96.0.80:80 -> 10.244.1.11:8080', { ...NO_RATES, connections: 1234 });
    const names = namesOf({ source: 'agent' }, FRONTENDS);
    const { output, text } = kept('text');
    await printServices({
      inventory: ipvsInventory(ipvs, names, []),
      isFiltered: false,
      interval: 0,
      output,
    });
    assert.equal(
      text(),
      `SERVICE
  ADDRESS                  SCHEDULER  WEIGHT  ACTIVE  INACTIVE  CONN/S
demo/web:http
  10.96.0.80:80/tcp        wlc                     3         0       0
    -> 10.244.1.11:8080                    1       3         0    1.2k
    -> 10.244.1.11:8081                    0       0         0       0
  192.168.50.10:30080/tcp  rr           none       0         0       0
-
  10.96.0.9:53/udp         rr           none       0         0       0
`,
    );
  });

  it('is JSON and YAML of a fixed shape', async () => {
    const ipvs = await ipvsWith({ ...WEB, ...SETTINGS, persistence: { timeout: 600, netmask: 32 } });
    await ipvs.addRealServer(WEB, server(8080));
    const zero = { connections: 0, inPackets: 0, outPackets: 0, inBytes: 0, outBytes: 0 };
    const json = kept('json');
    const names = namesOf({ source: 'manifests' }, FRONTENDS);
    await printServices({
      inventory: ipvsInventory(ipvs, names, []),
      isFiltered: false,
      interval: 0,
      output: json.output,
    });
    assert.deepEqual(JSON.parse(json.text()), {
      names: { source: 'manifests' },
      interval: 0,
      virtualServices: [
        {
          service: 'demo/web',
          portName: 'http',
          kind: 'clusterIP',
          ...WEB,
          scheduler: 'rr',
          settings: [],
          persistence: 600,
          activeConnections: 0,
          inactiveConnections: 0,
          counters: zero,
          rates: zero,
          realServers: [
            {
              ...{ address: '10.244.1.11', port: 8080, weight: 1, forwarding: 'masquerade' },
              ...{ upperThreshold: 0, lowerThreshold: 0 },
              ...{ activeConnections: 0, inactiveConnections: 0, counters: zero, rates: zero },
            },
          ],
        },
      ],
    } satisfies ServicesReport);
    const yaml = kept('yaml');
    await printServices({
      inventory: ipvsInventory(ipvs, names, []),
      isFiltered: false,
      interval: 0,
      output: yaml.output,
    });
    assert.match(yaml.text(), /^names:\n {2}source: manifests\n/);
    assert.match(yaml.text(), /\n {2}- service: demo\/web\n {4}portName: http\n/);
  });

  it('measures rates over the interval, and has more columns if it is wide', async () => {
    const ipvs = await ipvsWith({ ...WEB, ...SETTINGS });
    let lists = 0;
    const counted = {
      list: async () =>
        (await ipvs.list()).map((one) => ({ ...one, counters: counters(BigInt(lists++ * 50)) })),
    };
    const { output, text } = kept('wide');
    const names = namesOf({ source: 'none', reason: 'x' }, []);
    await printServices({
      inventory: ipvsInventory(counted, names, []),
      isFiltered: false,
      interval: 0.05,
      output,
    });
    const [headings = '', row = ''] = text().split('\n');
    assert.match(
      headings,
      /CONN\/S +IN PKT\/S +OUT PKT\/S +IN B\/S +OUT B\/S +KIND +PERSISTENCE +FORWARDING$/,
    );
    const rate = Number(/ none +0 +0 +(\d+)/.exec(row)?.[1]);
    assert.ok(rate > 0 && rate <= 1000, `50 connections in at least 0.05 s are ${row}`);
  });

  it('has a column of the settings that kube-proxy never sets, if there are any', async () => {
    const ipvs = await ipvsWith(
      {
        ...WEB,
        ...SETTINGS,
        scheduler: 'sh',
        schedulerFlags: ['sh-port'],
        persistence: { timeout: 9, netmask: 24 },
      },
      { address: '10.96.0.9', port: 53, protocol: 'udp', ...SETTINGS, scheduler: 'mh', onePacket: true },
      { ...NODE_PORT, ...SETTINGS, scheduler: 'mh', schedulerFlags: ['mh-port'] },
    );
    await ipvs.addRealServer(WEB, { ...server(8080), upperThreshold: 10, lowerThreshold: 4 });
    const { output, text } = kept('wide');
    const names = namesOf({ source: 'none', reason: 'x' }, []);
    await printServices({
      inventory: ipvsInventory(ipvs, names, []),
      isFiltered: false,
      interval: 0,
      output,
    });
    const [headings = '', ...rows] = text().split('\n');
    const at = headings.indexOf('SETTINGS');
    assert.deepEqual(
      rows.filter(Boolean).map((row) => row.slice(at)),
      ['no flags one-packet', 'sh-port netmask 24', 'upper 10 lower 4', ''],
    );
  });

  it('is limited to virtual services with one of the texts', async () => {
    const ipvs = await ipvsWith({ ...WEB, ...SETTINGS }, { ...NODE_PORT, ...SETTINGS });
    const names = namesOf({ source: 'agent' }, [frontend({})]);
    for (const [texts, found] of [
      [['demo/'], 1],
      [['30080'], 1],
      [['web', '192.'], 2],
      [['absent'], 0],
    ] as const) {
      const { output, text } = kept('text');
      await printServices({
        inventory: ipvsInventory(ipvs, names, texts),
        isFiltered: texts.length > 0,
        interval: 0,
        output,
      });
      if (found === 0) assert.equal(text(), 'no virtual service has such a name or address\n');
      else assert.equal(text().match(/\/tcp /g)?.length, found, texts.join());
    }
    assert.deepEqual(matching([], [], virtualServiceName), []);
  });

  it('names firewall marks, which have no Service', async () => {
    const ipvs = await ipvsWith({ firewallMark: 7, family: 4, ...SETTINGS });
    const { output, text } = kept('text');
    await printServices({
      inventory: ipvsInventory(ipvs, namesOf({ source: 'agent' }, FRONTENDS), []),
      isFiltered: false,
      interval: 0,
      output,
    });
    assert.match(text(), /\n- +fwmark 7 IPv4 +rr /);
  });
});

describe('rates', () => {
  it('are per second, and start at 0 if a counter was reset or is new', () => {
    assert.equal(ratesBetween(counters(100n), counters(150n), 2).connections, 25);
    assert.equal(ratesBetween(counters(100n), counters(30n), 2).inBytes, 15_000);
    assert.equal(ratesBetween(undefined, counters(30n), 3).connections, 10);
    assert.equal(ratesBetween(counters(2n ** 60n), counters(2n ** 60n + 4n), 2).connections, 2);
  });

  for (const [value, text] of [
    [0, '0'],
    [0.04, '0'],
    [0.5, '0.5'],
    [12.34, '12.3'],
    [99.96, '100'],
    [999.4, '999'],
    [999.6, '1k'],
    [1234, '1.2k'],
    [45_600_000, '45.6M'],
    [7.2e15, '7200T'],
  ] as const) {
    it(`${value} is shown as ${text}`, () => assert.equal(shortNumber(value), text));
  }
});

describe('the answer of the agent', () => {
  it('is validated', () => {
    assert.deepEqual(decodeFrontends(JSON.stringify({ frontends: FRONTENDS }), 'x'), FRONTENDS);
    const settings = [frontend({ settings: ['fail-fast removed'] })];
    assert.deepEqual(decodeFrontends(JSON.stringify({ frontends: settings }), 'x'), settings);
    const wrong = ['x', ['a\nb'], [1], null].map((value) =>
      JSON.stringify({ frontends: [{ ...frontend({}), settings: value }] }),
    );
    for (const text of wrong)
      assert.throws(() => decodeFrontends(text, 'x'), /the program at x is not the agent/);
    for (const text of ['', '{}', '{"frontends":[{}]}', '{"frontends":[{"service":1}]}', '<html>']) {
      assert.throws(() => decodeFrontends(text, '127.0.0.1:1'), {
        message: `the program at 127.0.0.1:1 is not the agent: /services is ${JSON.stringify(text)}`,
      });
    }
  });
});
