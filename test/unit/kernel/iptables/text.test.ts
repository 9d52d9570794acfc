import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { parseSaved } from '../../../../src/kernel/iptables/saved.js';
import { linesOf, restoreInput, restoreTables } from '../../../../src/kernel/iptables/text.js';
import type { IptablesOperation } from '../../../../src/kernel/iptables/types.js';
import { ROOT } from '../../../support/paths.js';

it('reads the output of iptables-save, each table on its own', () => {
  const saved = parseSaved(
    readFileSync(join(ROOT, 'test/oracle/recordings/node-port/ipvs/iptables.txt'), 'utf8'),
  );
  assert.deepEqual(saved.get('nat/KUBE-MARK-MASQ'), ['-j MARK --set-xmark 0x4000/0x4000']);
  assert.equal(saved.get('filter/KUBE-NODE-PORT')?.length, 1);
  assert.notDeepEqual(saved.get('nat/KUBE-NODE-PORT'), saved.get('filter/KUBE-NODE-PORT'));
  assert.deepEqual(saved.get('nat/INPUT'), []);
  assert.equal(saved.get('filter/KUBE-NOWHERE'), undefined);
});

it('reads rules with counters, and ignores lines that are not rules', () => {
  const saved = parseSaved('# Generated\n*nat\n:A - [1:60]\n[3:180] -A A -j RETURN \nCOMMIT\n');
  assert.deepEqual([...saved], [['nat/A', ['-j RETURN']]]);
});

it('reads the name of a counter after one or two spaces', () => {
  const saved = parseSaved('*filter\n:A - [0:0]\n-A A -m nfacct --nfacct-name  x -j DROP\nCOMMIT\n');
  assert.deepEqual(saved.get('filter/A'), ['-m nfacct --nfacct-name x -j DROP']);
});

it('writes one restore: each table once, chains before rules, removals after', () => {
  const chain = (name: string, ...rules: string[]) => ({ family: 4, table: 'nat', name, rules }) as const;
  const rule = { family: 4, table: 'filter', chain: 'INPUT', text: '-j A' } as const;
  const text = restoreInput([
    { do: 'deleteRule', rule: { ...rule, chain: 'OUTPUT' } },
    { do: 'insertRule', rule },
    { do: 'insertRule', rule: { ...rule, text: '-j B' } },
    { do: 'setChain', chain: chain('B', '-j A', '-j RETURN') },
    { do: 'setChain', chain: chain('A') },
    { do: 'appendRule', rule: { ...rule, text: '-j C' } },
    { do: 'deleteChain', chain: chain('C') },
  ]);
  assert.equal(
    text.toString(),
    '*nat\n:B - [0:0]\n:A - [0:0]\n:C - [0:0]\n-A B -j A\n-A B -j RETURN\n-X C\nCOMMIT\n' +
      '*filter\n-A INPUT -j C\n-I INPUT -j A\n-I INPUT -j B\n-D OUTPUT -j A\nCOMMIT\n',
  );
});

it('writes large tables with each line once, in UTF-8, and finds the operation of each line', () => {
  const rule = (i: number) => `-m comment --comment "Müller ${i}" -j RETURN`;
  const operations = Array.from({ length: 2000 }, (_, i): IptablesOperation => {
    if (i % 3 === 0)
      return { do: 'deleteRule', rule: { family: 4, table: 'filter', chain: 'A', text: rule(i) } };
    const rules = Array.from({ length: i % 4 }, (_, n) => rule(n));
    return { do: 'setChain', chain: { family: 4, table: 'nat', name: `CHAIN-${i}`, rules } };
  });
  const tables = restoreTables(operations);
  assert.deepEqual(
    tables.map(({ table }) => table),
    ['nat', 'filter'],
  );
  for (const { table, input, lines } of tables) {
    const found = linesOf(operations, table);
    assert.equal(Buffer.concat(input).toString(), found.map(({ text }) => `${text}\n`).join(''));
    assert.equal(found.length, lines);
    for (const { text, place } of found) {
      if (place === undefined) assert.match(text, /^\*(nat|filter)$|^COMMIT$/);
      else if (place % 3 === 0) assert.equal(text, `-D A ${rule(place)}`);
      else assert.match(text, new RegExp(`^:CHAIN-${place} |^-A CHAIN-${place} `));
    }
  }
  assert.ok(tables.every(({ input }) => input.length > 3));
});
