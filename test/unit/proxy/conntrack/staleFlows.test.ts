// The flows that are listed and deleted after changes of UDP Service ports.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Flow } from '../../../../src/kernel/conntrack/types.js';
import { familyOf, joinHostPort } from '../../../../src/kernel/net/address.js';
import { AddressPorts } from '../../../../src/kernel/net/addressPorts.js';
import { selectFlows, staleFlows } from '../../../../src/proxy/conntrack/staleFlows.js';
import type { Endpoint } from '../../../../src/proxy/services/endpointList.js';
import type { Frontend, ServicePort } from '../../../../src/proxy/services/types.js';
import { endpointList } from '../../../support/clusters/endpoints.js';
import { threadTimes } from '../../../support/measures/threadTimes.js';

/** `10.0.0.1:5353`, `[fd00::1]:5353`. */
function split(text: string): { address: string; port: number } {
  const colon = text.lastIndexOf(':');
  return { address: text.slice(0, colon).replace(/[[\]]/g, ''), port: Number(text.slice(colon + 1)) };
}

/** `10.0.0.1:5353`: serving and ready, unless followed by `terminating`, `unready` or `gone`. */
function endpoint(text: string): Endpoint {
  const [where = '', state = ''] = text.split(' ');
  return {
    ...split(where),
    ready: state === '',
    serving: state !== 'gone',
    terminating: state === 'terminating' || state === 'gone',
    local: false,
    zoneHints: [],
    nodeHints: [],
  };
}

/** `clusterIP 10.96.0.10:53`, `nodePort :30053`. */
function frontend(text: string): Frontend {
  const [kind, where = ''] = text.split(' ') as [Frontend['kind'], string];
  return { kind, ...split(where), localPolicy: true, sourceRanges: [] };
}

/** A Service port. The lists for traffic policies are empty, because they must have no effect. */
function port(frontends: string[], endpoints: string[], more: Partial<ServicePort> = {}): ServicePort {
  const family = more.family ?? familyOf(split(frontends[0]?.split(' ')[1] ?? '').address);
  const list = endpointList(family, endpoints.map(endpoint));
  return {
    family,
    portName: 'dns',
    protocol: 'udp',
    affinitySeconds: 0,
    frontends: frontends.map(frontend),
    endpoints: list,
    clusterEndpoints: AddressPorts.none(family),
    localEndpoints: AddressPorts.none(family),
    ...more,
  };
}

/** `10.96.0.10:53 10.0.0.1:5353`: original destination, source of the replies. */
function flow(text: string, more: Partial<Flow> = {}): Flow {
  const [to, from] = text.split(' ').map(split) as [ReturnType<typeof split>, ReturnType<typeof split>];
  const client = { address: familyOf(to.address) === 4 ? '10.0.0.9' : 'fd00::9', port: 4000 };
  return {
    family: familyOf(to.address),
    protocol: 'udp',
    original: {
      source: client.address,
      destination: to.address,
      sourcePort: client.port,
      destinationPort: to.port,
    },
    reply: {
      source: from.address,
      destination: client.address,
      sourcePort: from.port,
      destinationPort: client.port,
    },
    zone: 0,
    replyZone: 0,
    id: 1,
    status: [],
    mark: 0,
    timeout: 30,
    use: 1,
    ...more,
  };
}

/** Node ports are served on all addresses but one, of another host. */
const FOREIGN = '192.168.50.11';

/** @param frontends cluster, external and load-balancer IPs with UDP ports of unchanged Services */
const lookup = (frontends: readonly string[] = []) => ({
  isFrontend: (address: string, port: number) => frontends.includes(joinHostPort(address, port)),
  servesNodePorts: (address: string) => address !== FOREIGN,
});

/** The texts of the stale flows. */
function stale(ports: ServicePort[], flows: string[], frontends: string[] = []): string[] {
  const found = staleFlows(
    flows.map((text) => flow(text)),
    ports,
    lookup(frontends),
  );
  const texts = new Map(flows.map((text) => [JSON.stringify(flow(text)), text]));
  return found.map((one) => texts.get(JSON.stringify(one)) ?? '?');
}

const ALL = [
  'clusterIP 10.96.0.10:53',
  'externalIP 203.0.113.1:53',
  'loadBalancerIP 203.0.113.2:53',
  'nodePort :30053',
];

describe('the selection of flows', () => {
  it('has each address and port of a UDP port, and its node port on any address', () => {
    assert.deepEqual(selectFlows([port(ALL, ['10.0.0.1:5353'])]), [
      { family: 4, protocol: 'udp', original: { destination: '10.96.0.10', destinationPort: 53 } },
      { family: 4, protocol: 'udp', original: { destination: '203.0.113.1', destinationPort: 53 } },
      { family: 4, protocol: 'udp', original: { destination: '203.0.113.2', destinationPort: 53 } },
      { family: 4, protocol: 'udp', original: { destinationPort: 30053 } },
    ]);
  });

  it('has the family of the port', () => {
    const six = port(['clusterIP [fd00:96::a]:53', 'nodePort :30053'], ['[fd00::1]:5353'], { family: 6 });
    assert.deepEqual(selectFlows([six]), [
      { family: 6, protocol: 'udp', original: { destination: 'fd00:96::a', destinationPort: 53 } },
      { family: 6, protocol: 'udp', original: { destinationPort: 30053 } },
    ]);
  });

  it('is without the node port of a port that no endpoint serves', () => {
    for (const endpoints of [[], ['10.0.0.1:5353 gone']]) {
      const selected = selectFlows([port(ALL, endpoints)]);
      assert.deepEqual(
        selected.map(({ original }) => original?.destination),
        ['10.96.0.10', '203.0.113.1', '203.0.113.2'],
      );
    }
  });

  it('is empty for other protocols', () => {
    assert.deepEqual(
      selectFlows([
        port(ALL, ['10.0.0.1:5353'], { protocol: 'tcp' }),
        port(ALL, ['10.0.0.1:5353'], { protocol: 'sctp' }),
      ]),
      [],
    );
  });

  it('is all UDP flows of the family if there are many frontends', () => {
    const many = Array.from(
      { length: 20_000 },
      (_, i) => `externalIP 198.${i >> 16}.${(i >> 8) & 255}.${i & 255}:53`,
    );
    assert.deepEqual(selectFlows([port(many, ['10.0.0.1:53'])]), [{ family: 4, protocol: 'udp' }]);
  });

  it('has an address and port once if several Services claim it', () => {
    const one = port(['clusterIP 10.96.0.1:53', 'externalIP 203.0.113.1:53'], ['10.0.0.1:53']);
    const other = port(['clusterIP 10.96.0.2:53', 'externalIP 203.0.113.1:53'], ['10.0.0.2:53']);
    assert.deepEqual(
      selectFlows([one, other]).map(({ original }) => original?.destination),
      ['10.96.0.1', '203.0.113.1', '10.96.0.2'],
    );
  });
});

describe('a flow is stale', () => {
  const serving = [
    '10.0.0.1:5353',
    '10.0.0.2:5353 terminating',
    '10.0.0.3:5353 unready',
    '10.0.0.4:5353 gone',
  ];
  const ports = [port(ALL, serving)];

  for (const to of ['10.96.0.10:53', '203.0.113.1:53', '203.0.113.2:53', '192.168.0.5:30053']) {
    it(`if it was sent to ${to} and its replies do not come from a serving endpoint`, () => {
      const gone = [
        `${to} 10.0.0.4:5353`, // no longer serves
        `${to} 10.0.0.5:5353`, // removed
        `${to} 10.0.0.1:53`, // another port
        `${to} ${to}`, // not forwarded
      ];
      const right = [`${to} 10.0.0.1:5353`, `${to} 10.0.0.2:5353`, `${to} 10.0.0.3:5353`];
      assert.deepEqual(stale(ports, [...right, ...gone]), gone);
    });
  }

  it('not if it has another destination', () => {
    assert.deepEqual(
      stale(ports, [
        '10.96.0.10:54 10.0.0.5:5353',
        '10.96.0.11:53 10.0.0.5:5353',
        '10.0.0.5:5353 10.0.0.5:5353',
      ]),
      [],
    );
  });

  it('if it was translated, is not to a node port, and no endpoint serves', () => {
    const flows = [
      '10.96.0.10:53 10.0.0.4:5353',
      '10.96.0.10:53 10.96.0.10:53',
      '192.168.0.5:30053 10.0.0.4:5353',
    ];
    assert.deepEqual(stale([port(ALL, [])], flows), flows.slice(0, 1));
  });

  it('if it was translated and its port was removed, unless an unchanged port has the address and port now', () => {
    const gone = { ...port(ALL, []), removed: true as const };
    const flows = [
      '10.96.0.10:53 10.0.0.4:5353',
      '203.0.113.1:53 10.0.0.4:5353',
      '10.96.0.10:53 10.96.0.10:53',
      '192.168.0.5:30053 10.0.0.4:5353',
    ];
    const found = (ports: Parameters<typeof staleFlows>[1], frontends: string[] = []) =>
      staleFlows(
        flows.map((text) => flow(text)),
        ports,
        lookup(frontends),
      ).length;
    assert.equal(found([gone]), 2);
    assert.equal(found([gone], ['203.0.113.1:53']), 1);
    // A changed port has it now: its endpoints count.
    const live = port(['clusterIP 10.96.0.10:53'], ['10.0.0.4:5353']);
    assert.equal(found([gone, live], ['10.96.0.10:53']), 2);
    assert.deepEqual(stale([live], flows.slice(0, 1)), []);
  });

  it('not if it was sent to the node port of another host', () => {
    assert.deepEqual(
      stale(ports, [`${FOREIGN}:30053 ${FOREIGN}:30053`, `${FOREIGN}:30053 10.0.0.4:5353`]),
      [],
    );
  });

  it('not if its protocol or that of the port is not UDP', () => {
    const tcp = flow('10.96.0.10:53 10.0.0.5:5353', { protocol: 'tcp' });
    const sctp = flow('10.96.0.10:53 10.0.0.5:5353', { protocol: 'sctp' });
    const icmp = flow('10.96.0.10:53 10.0.0.5:5353', { protocol: 1 });
    assert.deepEqual(staleFlows([tcp, sctp, icmp], ports, lookup()), []);
    const onTcp = [port(ALL, serving, { protocol: 'tcp' })];
    assert.deepEqual(stale(onTcp, ['10.96.0.10:53 10.0.0.5:5353', '192.168.0.5:30053 10.0.0.5:5353']), []);
  });

  it('only in its own family', () => {
    const four = port(['clusterIP 10.96.0.10:53', 'nodePort :30053'], ['10.0.0.1:5353']);
    const six = port(['clusterIP [fd00:96::a]:53', 'nodePort :30053'], ['[fd00::1]:5353'], { family: 6 });
    const flows = [
      '[fd00:96::a]:53 [fd00::1]:5353',
      '[fd00:96::a]:53 [fd00::2]:5353',
      '[fd00:5::5]:30053 [fd00::1]:5353',
      '[fd00:5::5]:30053 [fd00::2]:5353',
    ];
    assert.deepEqual(stale([four, six], flows), [flows[1], flows[3]]);
    assert.deepEqual(stale([four], flows), []);
  });
});

describe('the port of a flow', () => {
  const web = port(['clusterIP 10.96.0.10:53', 'nodePort :30053'], ['10.0.0.1:5353']);

  it('is found by address before node port', () => {
    // The other port's number is this one's node port.
    const other = port(['clusterIP 10.96.0.20:30053'], ['10.0.0.2:5353']);
    const flows = ['10.96.0.20:30053 10.0.0.2:5353', '10.96.0.20:30053 10.0.0.1:5353'];
    assert.deepEqual(stale([web, other], flows), [flows[1]]);
  });

  it('is found by address even if it has no serving endpoint', () => {
    const empty = port(['clusterIP 10.96.0.20:30053'], []);
    const flows = ['10.96.0.20:30053 10.0.0.1:5353'];
    assert.deepEqual(stale([web], flows), []);
    assert.deepEqual(stale([web, empty], flows), flows);
  });

  it('is found by address even if it has not changed', () => {
    const flows = ['10.96.0.20:30053 10.0.0.2:5353', '192.168.0.5:30053 10.0.0.2:5353'];
    assert.deepEqual(stale([web], flows, ['10.96.0.20:30053']), [flows[1]]);
  });

  it('has the endpoints of both Services if two claim its address', () => {
    const other = port(['externalIP 10.96.0.10:53'], ['10.0.0.2:5353']);
    const flows = [
      '10.96.0.10:53 10.0.0.1:5353',
      '10.96.0.10:53 10.0.0.2:5353',
      '10.96.0.10:53 10.0.0.3:5353',
    ];
    assert.deepEqual(stale([web, other], flows), [flows[2]]);
  });
});

it('the frontends of a port share the list of its endpoints: 20 000 frontends and 1000 endpoints cost no product', () => {
  const many = Array.from(
    { length: 20_000 },
    (_, i) => `externalIP 198.${i >> 16}.${(i >> 8) & 255}.${i & 255}:53`,
  );
  const pods = Array.from({ length: 1000 }, (_, i) => `10.0.${i >> 8}.${i & 255}:53`);
  const large = port(many, pods);
  const before = threadTimes().ran;
  const stale = staleFlows(
    [flow('198.0.1.1:53 10.0.3.1:53'), flow('198.0.1.1:53 10.9.9.9:53')],
    [large],
    lookup(),
  );
  const ran = threadTimes().ran - before;
  assert.deepEqual(stale, [flow('198.0.1.1:53 10.9.9.9:53')]);
  assert.ok(ran < 1000, `${ran} ms`);
});
