// Names of operations, in errors and in reports of batches: every family has one for every value, also of another type.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PACKING as CONNTRACK } from '../../src/kernel/conntrack/packing.js';
import { PACKING as IPSET } from '../../src/kernel/ipset/verbs.js';
import { PACKING as IPVS } from '../../src/kernel/ipvs/verbs.js';
import { NAMING as NETLINK } from '../../src/kernel/netlink/names.js';
import { PACKING as RTNETLINK } from '../../src/kernel/rtnetlink/verbs.js';
import { attemptAt, type Naming } from '../../src/kernel/shared/batch.js';

const VALUES = [undefined, null, NaN, -1, 1n, '', Symbol('a'), () => 1, [], new Map(), Object.create(null)];

/** The fields in which the operations of the families have objects or names. */
const FIELDS = {
  ...{
    ipvs: ['service', 'realServer', 'timeouts', 'daemon', 'state'],
    ipset: ['set', 'entry', 'name', 'other'],
  },
  ...{
    rtnetlink: ['name', 'kind', 'link', 'address', 'route', 'rule', 'neighbour'],
    conntrack: ['flow', 'changes'],
  },
  netlink: ['type', 'flags'],
} as const;

const VERBS = [
  ...[
    'addService',
    'addRealServer',
    'zero',
    'flush',
    'startDaemon',
    'stopDaemon',
    'create',
    'add',
    'swap',
    'rename',
  ],
  ...['addLink', 'setLink', 'deleteLink', 'addAddress', 'addRoute', 'deleteRule', 'addNeighbour', 'addFlow'],
];

const NAMINGS = [IPVS, IPSET, RTNETLINK, CONNTRACK, NETLINK] as readonly Naming<unknown>[];

/** An operation with each value as verb, as each argument, and as each field of an argument. */
function* operationsOf(family: string): Generator<unknown> {
  yield* VALUES;
  for (const value of VALUES) {
    yield { do: value };
    for (const verb of VERBS) {
      for (const field of FIELDS[family as keyof typeof FIELDS]) {
        yield { do: verb, [field]: value };
        const inner = Object.fromEntries(
          ['name', 'address', 'link', 'port', 'protocol', 'type', 'original', 'mark', 'icmp'].map((name) => [
            name,
            value,
          ]),
        );
        yield { do: verb, service: { address: 'a', port: 1 }, set: { name: 'a' }, [field]: inner };
      }
    }
  }
}

for (const naming of NAMINGS) {
  it(`names every operation of ${naming.family}, whatever its values`, () => {
    for (const operation of operationsOf(naming.family)) {
      const { operation: name, target } = attemptAt(operation, naming);
      assert.match(name, new RegExp(`^${naming.family}\\.`));
      assert.ok(target === undefined || typeof target === 'string', typeof target);
      assert.equal(typeof naming.nameOf(operation), 'string');
    }
  });
}
