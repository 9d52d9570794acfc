// The endpoints of a Service port, from its slices.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SliceEndpoint, SliceEndpoints } from '../../../../src/proxy/objects/sliceEndpoints.js';
import type { EndpointSlice, SlicePort } from '../../../../src/proxy/objects/types.js';
import { STATE } from '../../../../src/proxy/services/endpointList.js';
import { endpointsOfPort as endpointsOf, SlicesByPort } from '../../../../src/proxy/services/endpoints.js';

const HTTP: SlicePort = { name: 'http', protocol: 'tcp', port: 8080 };
const PORT = { family: 4, name: 'http', protocol: 'tcp' } as const;

/** `r` ready, `s` serving, `t` terminating; `@zone`, `%node` hints. */
function endpoint(text: string): SliceEndpoint {
  const [address = '', marks = '', nodeName = '', ...hints] = text.split(' ');
  const hinted = (sign: string) => hints.filter((hint) => hint.startsWith(sign)).map((hint) => hint.slice(1));
  return {
    address,
    ready: marks.includes('r'),
    serving: marks.includes('s'),
    terminating: marks.includes('t'),
    nodeName,
    zoneHints: hinted('@'),
    nodeHints: hinted('%'),
  };
}

function slice(endpoints: readonly string[], ports: readonly SlicePort[] = [HTTP]): EndpointSlice {
  return {
    kind: 'EndpointSlice',
    namespace: 'demo',
    name: 'web-a',
    serviceName: 'web',
    family: 4,
    ports,
    endpoints: SliceEndpoints.of(4, endpoints.map(endpoint)),
    triggerTime: undefined,
  };
}

const STATES = slice([
  '10.0.0.1 rs node-a',
  '10.0.0.2 st node-a',
  '10.0.0.3 rs node-b',
  '10.0.0.4 t node-b',
  '10.0.0.5 s',
]);

const endpointsOfPort = (
  slices: readonly EndpointSlice[],
  port: Parameters<typeof endpointsOf>[1],
  nodeName: string,
) => endpointsOf(new SlicesByPort(slices), port, nodeName);

describe('the endpoints of a Service port', () => {
  it('are those of all its slices, each once, sorted by number', () => {
    const list = endpointsOfPort(
      [slice(['10.0.0.10 rs', '10.0.0.9 rs']), slice(['10.0.0.2 rs', '10.0.0.10 rs'])],
      PORT,
      '',
    );
    assert.deepEqual([...list.addressPorts], ['10.0.0.2:8080', '10.0.0.9:8080', '10.0.0.10:8080']);
    assert.equal(list.size, 3);
  });

  it('are at the port of the same name and protocol', () => {
    const ports: SlicePort[] = [
      { name: 'dns', protocol: 'tcp', port: 53 },
      { name: 'http', protocol: 'udp', port: 443 },
      HTTP,
    ];
    const list = endpointsOfPort([slice(['10.0.0.1 rs', '10.0.0.2 rs'], ports)], PORT, '');
    assert.deepEqual([...list.addressPorts], ['10.0.0.1:8080', '10.0.0.2:8080']);
    assert.equal(endpointsOfPort([STATES], { ...PORT, name: 'dns' }, '').size, 0);
    assert.equal(endpointsOfPort([STATES], { ...PORT, family: 6 }, '').addressPorts.family, 6);
  });

  it('may have several ports', () => {
    const other = { ...HTTP, port: 9090 };
    const list = endpointsOfPort(
      [slice(['10.0.0.1 rs node-a']), slice(['10.0.0.1 s node-b', '10.0.0.2 rs node-a'], [other])],
      PORT,
      'node-a',
    );
    assert.deepEqual([...list.addressPorts], ['10.0.0.1:8080', '10.0.0.1:9090', '10.0.0.2:9090']);
    assert.deepEqual([...list.local], ['10.0.0.1:8080', '10.0.0.2:9090']);
  });

  it('of a pod that moves between slices: the one that is not terminating, is on this node, or is ready', () => {
    for (const [winner, loser] of [
      ['10.0.0.1 s node-b', '10.0.0.1 rst node-a'],
      ['10.0.0.1 s node-a', '10.0.0.1 rs node-b'],
      ['10.0.0.1 rs node-b', '10.0.0.1 s node-b'],
    ] as const) {
      for (const order of [
        [winner, loser],
        [loser, winner],
      ]) {
        const list = endpointsOfPort(
          order.map((text) => slice([text])),
          PORT,
          'node-a',
        );
        const { nodeName, ...state } = endpoint(winner);
        assert.deepEqual([...list], [{ ...state, port: 8080, local: nodeName === 'node-a' }]);
      }
    }
  });

  it('are selected by state', () => {
    const list = endpointsOfPort([STATES], PORT, 'node-a');
    const numbers = (state: number) => Array.from(list.select(state), (text) => Number(text.slice(7, 8)));
    assert.deepEqual(numbers(STATE.ready), [1, 3]);
    assert.deepEqual(numbers(STATE.serving), [1, 2, 3, 5]);
    assert.deepEqual(numbers(STATE.serving | STATE.terminating), [2]);
    assert.deepEqual(numbers(STATE.local), [1, 2]);
    assert.deepEqual(numbers(STATE.local | STATE.ready), [1]);
    assert.deepEqual([...list.terminating], ['10.0.0.2:8080', '10.0.0.4:8080']);
    assert.deepEqual([...list.local], ['10.0.0.1:8080', '10.0.0.2:8080']);
    for (const state of [STATE.local | STATE.ready, STATE.ready | STATE.terminating])
      assert.equal(list.has(state), numbers(state).length > 0);
  });

  it('are on no node if their own or this one is unknown', () => {
    assert.equal(endpointsOfPort([STATES], PORT, '').local.size, 0);
    assert.equal(endpointsOfPort([STATES], PORT, 'node-c').has(STATE.local), false);
  });

  it('of one slice with the port that it is stored with take no memory of their own', () => {
    const only = { ...STATES, ports: [{ ...HTTP, port: STATES.endpoints.addressPorts.portAt(0) }] };
    const list = endpointsOfPort([only], PORT, '');
    assert.equal(list.addressPorts, only.endpoints.addressPorts);
    assert.equal(list.select(0), only.endpoints.addressPorts);
  });

  it('have hints if one of them has', () => {
    const hinted = endpointsOfPort([slice(['10.0.0.2 rs n', '10.0.0.1 rs n @z %n'])], PORT, '');
    assert.deepEqual(
      [hinted.zoneHints, hinted.nodeHints],
      [
        [['z'], []],
        [['n'], []],
      ],
    );
    const joined = endpointsOfPort([slice(['10.0.0.2 rs n']), slice(['10.0.0.1 rs n @z'])], PORT, '');
    assert.deepEqual([joined.zoneHints, joined.nodeHints], [[['z'], []], undefined]);
    const none = endpointsOfPort([STATES], PORT, '');
    assert.deepEqual([none.zoneHints, none.nodeHints], [undefined, undefined]);
  });
});
