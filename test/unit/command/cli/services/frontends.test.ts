// The list of the frontends in rules: names, rates, order and table.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { frontendsInventory } from '../../../../../src/command/cli/services/frontendsInventory.js';
import {
  type FrontendsReport,
  frontendsReport,
} from '../../../../../src/command/cli/services/frontendsReport.js';
import { namesOf } from '../../../../../src/command/cli/services/names.js';
import { showTop } from '../../../../../src/command/cli/services/top.js';
import type { ProgrammedFrontend } from '../../../../../src/command/explain/inventory.js';

const NO_AGENT = namesOf({ source: 'none', reason: 'no agent' }, []);

/** A frontend with one endpoint, and this number of connections of both. */
function frontend(address: string, connections: number, named = true): ProgrammedFrontend {
  const counters = { connections, bytes: connections * 60 };
  return {
    ...{ family: 4, address, port: 80, protocol: 'tcp', persistence: 0, chain: 'KUBE-SVC-A', counters },
    ...(named ? { service: 'demo/web', portName: 'http', kind: 'clusterIP' } : {}),
    endpoints: [{ address: '10.244.1.1', port: 8080, share: 1, chain: 'KUBE-SEP-A', counters }],
  };
}

const plain = (_: string, text: string) => text;

const withoutCounters = ({ counters: _, ...rest }: ProgrammedFrontend['endpoints'][number]) => rest;

describe('a report', () => {
  it('has the names of the rules, and no rates of one listing', () => {
    const sample = { before: undefined, after: [frontend('10.96.0.1', 5)], interval: 0 };
    const { names, interval, frontends } = frontendsReport(sample, NO_AGENT);
    assert.deepEqual([names, interval], [{ source: 'rules' }, 0]);
    assert.deepEqual([frontends[0]?.service, frontends[0]?.rates], ['demo/web', undefined]);
  });

  it('has the names of the agent if rules have no comments, also of a node port', () => {
    const common = { family: 4, portName: 'http', protocol: 'tcp' } as const;
    const names = namesOf({ source: 'agent' }, [
      { ...common, service: 'demo/a', kind: 'externalIP', address: '203.0.113.1', port: 80 },
      { ...common, service: 'demo/b', kind: 'nodePort', address: '', port: 30_080 },
    ]);
    const { address: _, ...nodePort } = { ...frontend('', 0, false), port: 30_080 };
    const after = [frontend('10.96.0.9', 0, false), nodePort, frontend('203.0.113.1', 0, false)];
    const report = frontendsReport({ before: undefined, after, interval: 0 }, names);
    assert.deepEqual(report.names, { source: 'agent' });
    assert.deepEqual(
      report.frontends.map(({ service, kind }) => [service, kind]),
      [
        ['demo/a', 'externalIP'],
        ['demo/b', 'nodePort'],
        [undefined, undefined],
      ],
    );
    const nobody = frontendsReport(
      { before: undefined, after: [frontend('10.96.0.9', 0, false)], interval: 0 },
      NO_AGENT,
    );
    assert.equal(nobody.names.source, 'none');
  });

  it('has rates of two listings; a rule that was written again counts from 0', () => {
    const before = [frontend('10.96.0.1', 5), frontend('10.96.0.2', 50)];
    const after = [frontend('10.96.0.1', 25), frontend('10.96.0.2', 10), frontend('10.96.0.3', 4)];
    const { frontends, interval } = frontendsReport({ before, after, interval: 2 }, NO_AGENT);
    assert.equal(interval, 2);
    assert.deepEqual(
      frontends.map(({ rates, endpoints }) => [rates, endpoints[0]?.rates?.connections]),
      [
        [{ connections: 10, bytes: 600 }, 10],
        [{ connections: 5, bytes: 300 }, 5],
        [{ connections: 2, bytes: 120 }, 2],
      ],
    );
  });
});

describe('the table', () => {
  const list = [
    frontend('10.96.0.1', 5),
    { ...frontend('10.96.0.2', 9000), endpoints: [], refused: 'REJECT' as const },
  ];
  const inventory = (texts: readonly string[] = []) => frontendsInventory(async () => list, NO_AGENT, texts);

  it('has a line for each frontend, and one for each endpoint', () => {
    const report = inventory().report({ before: undefined, after: list, interval: 0 }, 'name');
    assert.deepEqual(report.lines({ wide: false, realServers: true, columns: 80, style: plain }), [
      'SERVICE        ADDRESS                SHARE  CONN  CONN/S',
      'demo/web:http  10.96.0.1:80/tcp                 5       -',
      '                 -> 10.244.1.1:8080    100%     5       -',
      'demo/web:http  10.96.0.2:80/tcp      REJECT    9k       -',
    ]);
    const [headings = ''] = report.lines({
      ...{ wide: true, realServers: false },
      ...{ columns: Number.POSITIVE_INFINITY, style: plain },
    });
    assert.match(headings, /CONN\/S +BYTES +B\/S +KIND +PERSISTENCE +CHAIN$/);
  });

  it('shows those with one of the texts', () => {
    const sample = { before: undefined, after: list, interval: 0 };
    const found = inventory(['0.2:']).report(sample, 'name');
    assert.equal(found.size, 1);
    assert.deepEqual(
      (found.result as FrontendsReport).frontends.map(({ address }) => address),
      ['10.96.0.2'],
    );
  });

  it('of top, of rules without counters, has the connections of conntrack, or no column of numbers', async () => {
    const of = (address: string, active: number): ProgrammedFrontend => {
      const { counters: _, endpoints, ...rest } = frontend(address, 0);
      return { ...rest, connections: { active, inactive: 1 }, endpoints: endpoints.map(withoutCounters) };
    };
    const counted = [of('10.96.0.1', 3), of('10.96.0.2', 50)];
    const topOf = async (list: readonly ProgrammedFrontend[], counts: 'conntrack' | 'none') => {
      let text = '';
      const write = (part: string) => {
        text += part;
      };
      const inventory = frontendsInventory(async () => list, NO_AGENT, [], counts);
      const order = inventory.orders[0] ?? assert.fail();
      const output = { format: 'text', columns: 120, style: plain, write, note() {} } as const;
      await showTop({ inventory, interval: 0.01, order, count: 1 }, { output });
      return { orders: inventory.orders, text, rows: text.match(/10\.96\.0\.\d/g) };
    };
    const top = await topOf(counted, 'conntrack');
    assert.deepEqual(top.orders, ['active', 'inactive', 'name']);
    assert.deepEqual(top.rows, ['10.96.0.2', '10.96.0.1']);
    assert.match(top.text, /, 53 active, 2 inactive; by active connections\n/);
    assert.doesNotMatch(top.text, /CONN\/S|B\/S| - /);
    const uncounted = counted.map(({ connections: _, ...rest }) => rest);
    const none = await topOf(uncounted, 'none');
    assert.deepEqual([none.orders, none.rows], [['name'], ['10.96.0.1', '10.96.0.2']]);
    assert.doesNotMatch(none.text, /CONN\/S|ACTIVE| - /);
  });

  it('of top has the busiest first', async () => {
    let lists = 0;
    const list = async () => {
      lists++;
      return [frontend('10.96.0.1', lists), frontend('10.96.0.2', lists * 500)];
    };
    let text = '';
    const write = (part: string) => {
      text += part;
    };
    const parts = {
      inventory: frontendsInventory(list, NO_AGENT, []),
      interval: 0.01,
      order: 'rate',
      count: 1,
    } as const;
    await showTop(parts, { output: { format: 'text', columns: 80, style: plain, write, note() {} } });
    assert.match(text, /^2 frontends of 1 Service port, \S+ new\/s; by new connections per second\n/);
    assert.deepEqual(text.match(/10\.96\.0\.\d/g), ['10.96.0.2', '10.96.0.1']);
    assert.equal(lists, 2);
  });
});
