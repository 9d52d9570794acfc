// Sets as the text of `ipset save`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSets } from '../../../../src/kernel/ipset/restore.js';
import { formatSets } from '../../../../src/kernel/ipset/save.js';
import type { EntryOf, IpsetOperation, SetDefinition, SetEntry } from '../../../../src/kernel/ipset/types.js';
import { throwOnFailure } from '../../../../src/kernel/shared/throwOnFailure.js';
import { FakeIpset } from '../../../../src/kernel/testing/ipset.js';
import { asked, comparable, expected, NAMED } from '../../../support/tables/ipsetLines.js';

const SET: SetDefinition = { name: 'a', type: 'hash:ip,port', family: 4 };

test('the fake keeps every type and option as the kernel does', async () => {
  const ipset = new FakeIpset();
  for (const { definition: set, entries } of NAMED) {
    await ipset.create(set, { strict: true });
    throwOnFailure(
      await ipset.apply(entries.map(([entry]) => ({ do: 'add', set, entry }) as IpsetOperation)),
    );
  }
  // Without what dump() leaves out, and in any order.
  const bare = (lines: readonly string[]) =>
    lines.map((line) => line.replace(/ bucketsize 4 initval 0x00001234/, ''));
  assert.deepEqual(comparable(ipset.dump()), bare(expected(NAMED)).sort());
  for (const { definition: set, entries } of NAMED) {
    for (const [{ before: _, after: __, ...entry }] of entries)
      await ipset.delete(set, entry as EntryOf, { strict: true });
  }
  assert.equal(/^add/m.test(ipset.dump()), false);
});

test('a text becomes operations, and sets become the same text', () => {
  const { operations, problems } = parseSets(asked(NAMED));
  assert.deepEqual(problems, []);
  const sets = new Map<string, { set: SetDefinition; entries: SetEntry[] }>();
  for (const { operation } of operations) {
    if (operation.do === 'create') sets.set(operation.set.name, { set: operation.set, entries: [] });
    else if (operation.do === 'add') sets.get(operation.set.name)?.entries.push(operation.entry);
    else assert.fail(operation.do);
  }
  const again = parseSets(formatSets(sets.values()));
  assert.deepEqual(again.problems, []);
  assert.deepEqual(
    again.operations.map(({ operation }) => operation),
    operations.map(({ operation }) => operation),
  );
});

test('operations have the numbers of their lines', () => {
  const text =
    '# saved\n\ncreate a hash:ip,port\n  add a 10.0.0.1,80 \nCOMMIT\ndel a 10.0.0.1,udp:53\nflush\n';
  assert.deepEqual(parseSets(text), {
    operations: [
      { line: 3, operation: { do: 'create', set: SET } },
      {
        line: 4,
        operation: { do: 'add', set: SET, entry: { address: '10.0.0.1', protocol: 'tcp', port: 80 } },
      },
      {
        line: 6,
        operation: { do: 'delete', set: SET, entry: { address: '10.0.0.1', protocol: 'udp', port: 53 } },
      },
      { line: 7, operation: { do: 'flushAll', confirm: 'remove every entry of every set' } },
    ],
    problems: [],
  });
});

test('types are known by earlier lines, by renaming and swapping, and by the caller', () => {
  const text = [
    ...['create a hash:ip family inet6', 'rename a b', 'add b fd00::1', 'create c list:set', 'swap b c'],
    ...['add b x', 'add c fd00::2', 'destroy c', 'add c fd00::3', 'add given 80'],
  ].join('\n');
  const { operations, problems } = parseSets(text, { sets: [{ name: 'given', type: 'bitmap:port' }] });
  assert.deepEqual(
    operations.filter(({ operation }) => operation.do === 'add').map(({ line }) => line),
    [3, 6, 7, 10],
  );
  assert.deepEqual(problems, [
    {
      line: 9,
      text: 'add c fd00::3',
      rule: 'the type of set c is unknown: its create line is missing before',
    },
  ]);
});

test('a strict text, and lines that are not', () => {
  const text = 'create a hash:ip,port\nadd a 10.0.0.1,80 -exist\ncreate -! b hash:mac\n';
  const strict = parseSets(text, { strict: true }).operations.map(({ operation }) => 'strict' in operation);
  assert.deepEqual(strict, [true, false, false]);
  assert.ok(parseSets(text).operations.every(({ operation }) => !('strict' in operation)));
});

const wrong: readonly (readonly [line: string, rule: RegExp])[] = [
  ['create', /^the name of a set is missing$/],
  ['create b', /^ is not a type of set$/],
  ['create b hash:foo', /^hash:foo is not a type of set$/],
  ['create b hash:ip hashsize', /^hashsize has no value$/],
  ['create b hash:ip hashsize many', /^hashsize must be a number, found many$/],
  ['create b hash:ip family ipx', /^family must be inet or inet6$/],
  ['create b hash:ip size 5', /^set.size must be left out for hash:ip, found 5$/],
  ['create b hash:ip colour red', /^colour is not an option of hash:ip$/],
  ['create b bitmap:ip', /^set.range\[0\] must be an IPv4 or IPv6 address/],
  ['add a', /^the command has no value$/],
  ['add a 10.0.0.1', /^entry.protocol must be one of/],
  ['add a 10.0.0.1,80,10.0.0.2,5', /has more parts than hash:ip,port$/],
  ['add a 10.0.0.1,http', /^the port must be a number, found http$/],
  ['add a 10.0.0.1,nothing:80', /^nothing is not a protocol$/],
  ['add a 10.0.0.1,icmp:nothing', /^nothing is not a message of icmp$/],
  ['add a 10.0.0.1,gre:5', /^gre has no ports: write gre:0$/],
  ['add a 10.0.0.1,70000', /^entry.port must be an integer from 0 to 65535, found 70000$/],
  ['add a example.com,80', /^entry.address must be an IPv4 or IPv6 address, found 'example.com'$/],
  ['add a 10.0.0.1,80 comment "open', /^a quotation mark is missing$/],
  ['add a 10.0.0.1,80 skbprio 5', /^skbprio must be as 1:10, found 5$/],
  ['add a 10.0.0.1,80 colour red', /^colour is not an option of an entry$/],
  ['swap a', /^the name of another set is missing$/],
  ['swap a b c', /^c is not an option of the command$/],
  ['test a 10.0.0.1,80', /^test is not a command of a saved text$/],
];

for (const [line, rule] of wrong) {
  test(`a line that is not an operation: ${line}`, () => {
    const { operations, problems } = parseSets(`create a hash:ip,port\n${line}\nflush a\n`);
    assert.deepEqual(
      operations.map((operation) => operation.line),
      [1, 3],
    );
    assert.equal(problems.length, 1);
    assert.deepEqual([problems[0]?.line, problems[0]?.text], [2, line]);
    assert.match(problems[0]?.rule ?? '', rule);
  });
}
