// Every verb on a real kernel: flows of real sockets in a namespace, conntrack(8) as witness.
// Needs: conntrack, zones, nat
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import {
  type Conntrack,
  type Flow,
  type FlowFilter,
  type FlowSelection,
  natOf,
  openConntrack,
} from '../../src/kernel/conntrack/index.js';
import { type Datagram, ends, lineOf, TrackingNamespace } from '../support/namespaces/flows.js';

/** For both families alike: two clients' worth of flows to two services, and one past them. */
const FLOWS: Readonly<Record<4 | 6, readonly Datagram[]>> = {
  4: [
    '10.0.0.9:4000 10.96.0.10:53',
    '10.0.0.9:4001 10.96.0.10:53',
    '10.0.0.9:5000 10.96.0.10:53',
    '10.0.0.9:4000 10.96.0.11:53',
    '10.0.0.9:4002 10.96.0.10:54',
  ],
  6: [
    '[fd00::9]:4000 [fd00:96::a]:53',
    '[fd00::9]:4001 [fd00:96::a]:53',
    '[fd00::9]:5000 [fd00:96::a]:53',
    '[fd00::9]:4000 [fd00:96::b]:53',
    '[fd00::9]:4002 [fd00:96::a]:54',
  ],
};
const ADDRESS = {
  4: {
    client: '10.0.0.9',
    service: '10.96.0.10',
    other: '10.96.0.11',
    first: '10.0.0.1',
    second: '10.0.0.2',
  },
  6: { client: 'fd00::9', service: 'fd00:96::a', other: 'fd00:96::b', first: 'fd00::1', second: 'fd00::2' },
} as const;

let namespace: TrackingNamespace;
let ct: Conntrack;
before(async () => {
  namespace = new TrackingNamespace('knp-conntrack');
  ct = await openConntrack({ netns: namespace.path });
});
after(async () => {
  ct.close();
  await namespace.delete();
});

const flush = () => namespace.conntrack('-F');
const sendAll = () => namespace.send(...FLOWS[4], ...FLOWS[6]);
const lines = (flows: readonly Flow[]) => flows.map(lineOf).sort();

describe('selecting', () => {
  before(sendAll);
  after(flush);

  for (const family of [4, 6] as const) {
    const { client, service, other, first, second } = ADDRESS[family];
    const cases: [string, Omit<FlowSelection, 'family'>, number[]][] = [
      ['nothing', {}, [0, 1, 2, 3, 4]],
      ['the protocol', { protocol: 'udp' }, [0, 1, 2, 3, 4]],
      ['its number', { protocol: 17 }, [0, 1, 2, 3, 4]],
      ['another protocol', { protocol: 'tcp' }, []],
      ['original source', { original: { source: client } }, [0, 1, 2, 3, 4]],
      ['original destination', { original: { destination: service } }, [0, 1, 2, 4]],
      ['an address of nobody', { original: { destination: first } }, []],
      ['original source port', { protocol: 'udp', original: { sourcePort: 4000 } }, [0, 3]],
      ['original destination port', { protocol: 'udp', original: { destinationPort: 53 } }, [0, 1, 2, 3]],
      ['reply source', { reply: { source: second } }, [2]],
      ['reply source and port', { protocol: 'udp', reply: { source: first, sourcePort: 5353 } }, [0, 1]],
      ['reply destination', { reply: { destination: client } }, [0, 1, 2, 3, 4]],
      ['reply destination port', { protocol: 'udp', reply: { destinationPort: 5000 } }, [2]],
      [
        'both directions',
        {
          protocol: 'udp',
          original: { destination: service, destinationPort: 53 },
          reply: { source: first },
        },
        [0, 1],
      ],
      ['the other service', { protocol: 'udp', original: { destination: other, destinationPort: 53 } }, [3]],
    ];
    for (const [name, selection, expected] of cases) {
      it(`selects by ${name}, IPv${family}`, async () => {
        const flows = await ct.list({ family, ...selection }).toArray();
        assert.deepEqual(ends(flows), expected.map((i) => FLOWS[family][i]).sort());
      });
    }
  }

  for (const count of [2, 4, 5, 40]) {
    it(`lists the flows that any of ${count} selections selects, each once`, async () => {
      const selections = [
        { family: 4, protocol: 'udp', original: { destination: '10.96.0.10' } },
        { family: 6, protocol: 'udp', original: { destinationPort: 53 } },
        ...Array.from({ length: count - 2 }, (_, i): FlowSelection => {
          return { family: 4, protocol: 'udp', original: { sourcePort: 4000, destinationPort: 50 + i } };
        }),
      ] as const;
      const expected = [...FLOWS[4].slice(0, 3), FLOWS[4][4], ...FLOWS[6].slice(0, 4)];
      if (count > 5) expected.push(FLOWS[4][3]); // to port 53 from 4000
      assert.deepEqual(ends(await ct.list(selections).toArray()), expected.sort());
    });
  }
});

describe('list', () => {
  afterEach(flush);

  it('lists the same flows as conntrack(8), in both families', async () => {
    await sendAll();
    const flows = await ct.list().toArray();
    assert.deepEqual(lines(flows), namespace.witness());
    assert.deepEqual(ends(flows), [...FLOWS[4], ...FLOWS[6]].sort());
    const [flow] = flows.filter(
      ({ original }) => original.sourcePort === 5000 && original.source === '10.0.0.9',
    );
    assert.equal(flow?.family, 4);
    assert.equal(flow.protocol, 'udp');
    assert.deepEqual(flow.reply, {
      source: '10.0.0.2',
      destination: '10.0.0.9',
      sourcePort: 5353,
      destinationPort: 5000,
    });
    assert.ok(flow.timeout > 0 && flow.timeout <= 120);
    assert.deepEqual(natOf(flow), { destination: { address: '10.0.0.2', port: 5353 } });
  });

  it('lists nothing of a namespace without flows, and of no selection', async () => {
    assert.deepEqual(await ct.list().toArray(), []);
    await sendAll();
    assert.deepEqual(await ct.list([]).toArray(), []);
  });

  it('lists protocols with ports, with types and codes, and with neither; marks and zones', async () => {
    const insert = (words: string) => namespace.conntrack('-I', '-t', '100', ...words.split(' '));
    insert(
      '-s 10.0.0.9 -d 10.0.0.1 -p tcp --sport 4000 --dport 80 --state ESTABLISHED -m 4294967295 -u ASSURED,SEEN_REPLY',
    );
    insert(
      '-s fd00::9 -d fd00::1 -p sctp --sport 4000 --dport 80 --state ESTABLISHED --orig-vtag 1 --reply-vtag 2',
    );
    insert('-s 10.0.0.9 -d 10.0.0.1 -p icmp --icmp-type 8 --icmp-code 0 --icmp-id 65535');
    insert('-s fd00::9 -d fd00::1 -p icmpv6 --icmpv6-type 128 --icmpv6-code 0 --icmpv6-id 7');
    insert('-s 10.0.0.9 -d 10.0.0.1 -p udp --sport 4000 --dport 80 -w 65535');
    insert('-s 10.0.0.9 -d 10.0.0.1 -p udp --sport 4000 --dport 80');
    const flows = await ct.list().toArray();
    assert.deepEqual(lines(flows), namespace.witness());
    assert.deepEqual(await ct.deleteFlows(flows), new Array(6).fill(undefined));
    assert.deepEqual(namespace.witness(), []);
  });

  it('selects by ports of a protocol for which the kernel ignores them', async () => {
    for (const port of [80, 81]) {
      const words = `-s 10.0.0.9 -d 10.0.0.1 -p sctp --sport 4000 --dport ${port} --state ESTABLISHED`;
      namespace.conntrack('-I', '-t', '100', ...`${words} --orig-vtag 1 --reply-vtag 2`.split(' '));
    }
    const flows = await ct.list({ family: 4, protocol: 'sctp', original: { destinationPort: 81 } }).toArray();
    assert.deepEqual(ends(flows), ['10.0.0.9:4000 10.0.0.1:81']);
  });

  it('lists thousands, each once, while others are added and deleted', async () => {
    const flow = (port: number) => `-A -t 600 -s 10.0.0.9 -d 10.0.0.1 -p udp --sport ${port} --dport 80`;
    namespace.conntrackAll(Array.from({ length: 5000 }, (_, i) => flow(10_000 + i)));
    const names = (flows: readonly Flow[]) => new Set(flows.map(({ original }) => original.sourcePort));
    const steady = await ct.list({ family: 4, protocol: 'udp' }).toArray();
    assert.equal(steady.length, 5000);
    assert.equal(names(steady).size, 5000);
    const passing = steady.filter((_, i) => i % 2 === 1);
    const [results, ...listings] = await Promise.all([
      openConntrack({ netns: namespace.path }).then((own) =>
        own.deleteFlows(passing).finally(() => own.close()),
      ),
      ...Array.from({ length: 5 }, () =>
        ct.list({ family: 4, protocol: 'udp' }, { partial: true }).toArray(),
      ),
    ]);
    assert.ok(results.every((result) => result === undefined));
    for (const listing of listings) {
      assert.equal(names(listing).size, listing.length);
      assert.ok(listing.length >= 2500);
    }
    assert.equal((await ct.list({ family: 4 }).toArray()).length, 2500);
  });
});

describe('delete', () => {
  afterEach(flush);

  for (const family of [4, 6] as const) {
    const { service, other, second } = ADDRESS[family];
    const cases: [string, Omit<FlowFilter, 'family'>, number[]][] = [
      ['original destination', { original: { destination: other } }, [3]],
      [
        'original destination and port',
        { protocol: 'udp', original: { destination: service, destinationPort: 54 } },
        [4],
      ],
      ['port', { protocol: 'udp', original: { destinationPort: 53 } }, [0, 1, 2, 3]],
      ['reply source', { original: { destination: service }, reply: { source: second } }, [2]],
      ['an address of nobody', { original: { destination: second } }, []],
    ];
    for (const [name, filter, expected] of cases) {
      it(`deletes by ${name} and nothing else, IPv${family}`, async () => {
        await sendAll();
        const gone = expected.map((i) => FLOWS[family][i]);
        const deletion = await ct.delete({ family, ...filter } as FlowFilter);
        assert.deepEqual(deletion, { deleted: gone.length, failures: [] });
        const left = [...FLOWS[4], ...FLOWS[6]].filter((datagram) => !gone.includes(datagram));
        assert.deepEqual(ends(await ct.list().toArray()), left.sort());
        assert.equal(namespace.witness().length, left.length);
      });
    }
  }

  it('deletes thousands', async () => {
    const flow = (i: number) =>
      `-A -t 600 -s 10.0.0.9 -d 10.0.${i % 2}.1 -p udp --sport ${10_000 + i} --dport 80`;
    namespace.conntrackAll(Array.from({ length: 4000 }, (_, i) => flow(i)));
    const filter = { family: 4, original: { destination: '10.0.0.1' } } as const;
    assert.deepEqual(await ct.delete(filter), { deleted: 2000, failures: [] });
    assert.equal(namespace.witness().length, 2000);
    assert.deepEqual(await ct.delete(filter), { deleted: 0, failures: [] });
  });

  it('refuses a filter that would select everything, and deletes no flow', async () => {
    await sendAll();
    const before = namespace.witness();
    const filters: unknown[] = [
      undefined,
      {},
      { family: 4 },
      { family: 4, protocol: 'udp' },
      { family: 4, original: {} },
      { family: 4, original: {}, reply: {} },
      { family: 4, original: { destination: undefined } },
      { family: 4, protocol: 'udp', original: { dst: '10.96.0.10' } },
      { family: 4, protocol: undefined, original: { destination: '10.96.0.10' } },
    ];
    for (const filter of filters) {
      await assert.rejects(ct.delete(filter as FlowFilter), TypeError);
    }
    await assert.rejects(
      ct.delete({ family: 4, protocol: 'udp' } as FlowFilter),
      /must name an address, a port, a mark, a zone or a label/,
    );
    assert.deepEqual(namespace.witness(), before);
  });
});

describe('deleteFlows', () => {
  afterEach(flush);

  it('deletes the given flows, in any order, and no other', async () => {
    await sendAll();
    const flows = await ct.list().toArray();
    const chosen = flows.filter(({ original }) => original.sourcePort === 4000).reverse();
    assert.equal(chosen.length, 4);
    assert.deepEqual(await ct.deleteFlows(chosen), [undefined, undefined, undefined, undefined]);
    const left = flows.filter((flow) => !chosen.includes(flow));
    assert.deepEqual(namespace.witness(), lines(left));
  });

  it('reports flows that are gone as deleted', async () => {
    await namespace.send('10.0.0.9:4000 10.96.0.10:53', '10.0.0.9:4001 10.96.0.10:53');
    const flows = await ct.list().toArray();
    flush();
    assert.deepEqual(await ct.deleteFlows(flows), [undefined, undefined]);
  });

  it('keeps another flow with the same tuple, unless the id is left out', async () => {
    await namespace.send('10.0.0.9:4000 10.96.0.10:53');
    const [flow] = (await ct.list().toArray()) as [Flow];
    const there = namespace.witness();
    // A later flow may have the same id: it is a hash of where the flow lies in memory.
    assert.deepEqual(await ct.deleteFlows([{ ...flow, id: (flow.id ^ 1) >>> 0 }]), [undefined]);
    assert.deepEqual(await ct.deleteFlows([{ ...flow, zone: 1 }]), [undefined]);
    assert.deepEqual(namespace.witness(), there);
    assert.deepEqual(await ct.deleteFlows([{ protocol: 17, original: flow.original }]), [undefined]);
    assert.deepEqual(namespace.witness(), []);
  });

  it('names the flow that breaks a rule, and deletes the others', async () => {
    await namespace.send('10.0.0.9:4000 10.96.0.10:53');
    const [flow] = (await ct.list().toArray()) as [Flow];
    const wrong = { ...flow, original: { ...flow.original, destination: 'fd00::1' } };
    const [first, second] = await ct.deleteFlows([wrong, flow]);
    assert.equal(first?.code, 'ERR_INVALID_ARGUMENT');
    assert.equal(first.target, 'udp 10.0.0.9:4000 -> [fd00::1]:53');
    assert.match(first.message, /original\.destination must be an IPv4 address/);
    assert.equal(second, undefined);
    assert.deepEqual(namespace.witness(), []);
  });

  it('continues after flows that are gone, over several batches', async () => {
    await namespace.send('10.0.0.9:4000 10.96.0.10:53');
    const [flow] = (await ct.list().toArray()) as [Flow];
    const many = Array.from({ length: 1000 }, (_, i) => ({
      ...flow,
      original: { ...flow.original, sourcePort: 6000 + i },
    }));
    const results = await ct.deleteFlows([...many, flow]);
    assert.equal(results.length, 1001);
    assert.ok(results.every((result) => result === undefined));
    assert.deepEqual(namespace.witness(), []);
  });
});

describe('opening and closing', () => {
  afterEach(flush);

  it('sees its own namespace only', async () => {
    await sendAll();
    const other = new TrackingNamespace('knp-conntrack-2');
    const there = await openConntrack({ netns: other.path });
    try {
      assert.deepEqual(await there.list().toArray(), []);
      const deletion = await there.delete({ family: 4, original: { destination: '10.96.0.10' } });
      assert.deepEqual(deletion, { deleted: 0, failures: [] });
      assert.equal((await ct.list().toArray()).length, 10);
    } finally {
      there.close();
      await other.delete();
    }
  });

  it('names paths that are missing, or no network namespace', async () => {
    const missing = { code: 'ENOENT', operation: 'conntrack.open', target: '/run/netns/knp-none' };
    await assert.rejects(openConntrack({ netns: '/run/netns/knp-none' }), missing);
    await assert.rejects(openConntrack({ netns: '/etc/hostname' }), { code: 'EINVAL', hint: undefined });
  });

  it('finishes calls made before close(), and refuses later ones', async () => {
    await sendAll();
    const own = await openConntrack({ netns: namespace.path });
    const listing = own.list().toArray();
    own.close();
    own.close();
    assert.equal((await listing).length, 10);
    await assert.rejects(own.list().toArray(), { code: 'ERR_CLOSED', operation: 'conntrack.list' });
    await assert.rejects(own.deleteFlows([]), { code: 'ERR_CLOSED' });
  });
});

// A filter that selects everything cannot be written down: this file would not compile.
export function everything(): Promise<number>[] {
  return [
    // @ts-expect-error without an address or a port
    ct.delete({ family: 4 }),
    // @ts-expect-error without an address or a port
    ct.delete({ family: 4, protocol: 'udp' }),
    // @ts-expect-error without an address or a port
    ct.delete({ family: 4, original: {} }),
    // @ts-expect-error without a family
    ct.delete({ original: { destination: '10.96.0.10' } }),
  ];
}
