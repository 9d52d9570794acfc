import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { packedEntries } from '../../../bench/bytes.js';
import { countOperations, libraryOperations, type Phase, sampleOf } from '../../../bench/phases.js';
import { additionMessages, ENTRIES_PER_MESSAGE } from '../../../bench/rawMessages.js';
import { batchCommands, changeCommand, singleCommands } from '../../../bench/toolCommands.js';
import { familyWorkload } from '../../../bench/workloads.js';

const SIZE = { services: 3, endpoints: 2 };
const NUMBERS = { ipvs: 30, link: 7 };
const [services] = familyWorkload('ipvs', SIZE).phases as [Phase & { kind: 'services' }];
const [ports, plain] = familyWorkload('ipset', SIZE).phases as (Phase & { kind: 'entries' })[];
const [addresses] = familyWorkload('addresses', SIZE).phases as [Phase & { kind: 'addresses' }];
const RULES: Phase = {
  kind: 'rules',
  restores: [
    {
      family: 4,
      operations: [{ do: 'setChain', chain: { family: 4, table: 'nat', name: 'A', rules: ['-j RETURN'] } }],
    },
  ],
};

describe('the operations of a workload', () => {
  it('are counted', () => {
    assert.equal(countOperations([services]), 3 * (1 + 2));
    assert.equal(countOperations([services, ports as Phase, addresses, RULES]), 9 + 3 + 3 + 1);
  });

  it('of a sample are spread over the phases, and its virtual services have all real servers', () => {
    const phases = familyWorkload('ipvs', { services: 100, endpoints: 9 }).phases;
    const sample = sampleOf([...phases, RULES], 250);
    assert.equal(countOperations(sample), 250);
    assert.deepEqual(sample[0], {
      kind: 'services',
      services: (phases[0] as typeof services).services.slice(0, 25),
    });
    assert.equal(sample.length, 1);
  });

  it('are all in a sample that is large enough, and one of each phase in one that is too small', () => {
    assert.deepEqual(sampleOf([services, addresses], 1000), [services, addresses]);
    assert.equal(countOperations(sampleOf([services, addresses], 1)), 3 + 1);
  });

  it('are the same for all methods, in the same order', () => {
    for (const phase of [services, ports, plain, addresses] as Exclude<Phase, typeof RULES>[]) {
      const count = countOperations([phase]);
      assert.equal(libraryOperations(phase).operations.length, count);
      assert.equal(singleCommands(phase).length, count);
      assert.equal(additionMessages(phase, NUMBERS, true).count, count);
      const [batch] = batchCommands(phase);
      const lines = singleCommands(phase).map(({ command: [, ...words] }) => words.join(' '));
      assert.deepEqual(batch?.input.trimEnd().split('\n'), lines);
    }
  });
});

describe('commands', () => {
  it('are those of the tools', () => {
    const first = ([one, two]: readonly { command: readonly string[] }[]) =>
      [one, two].map((each) => each?.command.join(' '));
    assert.deepEqual(first(singleCommands(services)), [
      'ipvsadm -A -t 10.97.0.0:80 -s rr',
      'ipvsadm -a -t 10.97.0.0:80 -r 10.128.0.0:8080 -m -w 1',
    ]);
    assert.equal(first(singleCommands(ports as Phase))[0], 'ipset add KUBE-CLUSTER-IP 10.97.0.0,tcp:80');
    assert.equal(first(singleCommands(addresses))[1], 'ip addr add 10.97.0.1/32 dev kube-ipvs0');
    assert.equal(first(batchCommands(RULES))[0], 'iptables-restore --noflush -w 5');
    assert.match(batchCommands(RULES)[0]?.input ?? '', /^\*nat\n:A .*\n-A A -j RETURN\nCOMMIT\n$/);
  });

  it('add and delete one real server', () => {
    const [{ service, realServers }] = services.services as [(typeof services.services)[number]];
    const change = { service, realServer: realServers[0] as (typeof realServers)[number] };
    const [deleted, added] = [true, false].map((deleted) =>
      changeCommand({ ...change, deleted }).command.join(' '),
    );
    assert.equal(deleted, 'ipvsadm -d -t 10.97.0.0:80 -r 10.128.0.0:8080');
    assert.equal(added, 'ipvsadm -a -t 10.97.0.0:80 -r 10.128.0.0:8080 -m -w 1');
  });
});

describe('messages for the raw limit', () => {
  it('have many entries each, unless one in each is asked for', () => {
    const many = familyWorkload('ipset', { services: ENTRIES_PER_MESSAGE + 1, endpoints: 0 })
      .phases[0] as typeof addresses;
    assert.equal(additionMessages(many, NUMBERS).count, 2);
    assert.equal(additionMessages(many, NUMBERS, true).count, ENTRIES_PER_MESSAGE + 1);
  });

  it('follow one another, each with its length', () => {
    const { bytes, count } = additionMessages(services, NUMBERS);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let found = 0;
    for (let start = 0; start < bytes.length; start += view.getUint32(start, true)) {
      assert.equal(view.getUint16(start + 4, true), NUMBERS.ipvs);
      found++;
    }
    assert.equal(found, count);
  });

  it('of entries that the benchmark does not have are refused', () => {
    const phase = {
      ...(ports as Phase & { kind: 'entries' }),
      entries: [{ address: '10.0.0.1', comment: 'no' }],
    };
    assert.throws(
      () => additionMessages(phase, NUMBERS),
      new Error('the benchmark has no entries with comment'),
    );
  });

  it('need the number of the family IPVS', () => {
    assert.throws(() => additionMessages(services, { link: 1 }), new Error('the kernel has no IPVS'));
  });
});

describe('packed entries', () => {
  it('have 8 bytes: address, port in the order of the machine, protocol', () => {
    const bytes = packedEntries([
      { address: '10.1.2.3', protocol: 'udp', port: 53 },
      { address: '10.9.8.7' },
    ]);
    const port = [...new Uint8Array(Uint16Array.of(53).buffer)];
    assert.deepEqual([...bytes], [10, 1, 2, 3, ...port, 17, 0, 10, 9, 8, 7, 0, 0, 0, 0]);
  });

  it('are of IPv4', () => {
    assert.throws(
      () => packedEntries([{ address: 'fd00::1' }]),
      new Error('fd00::1 is not an address of 4 bytes'),
    );
  });
});
