// Every option of every type on this kernel, and the table itself against `ipset help`.
// Needs: ipset
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openIpset } from '../../src/kernel/ipset/index.js';
import { ipset as tool } from '../support/tables/ipset.js';
import { ipsetOptions } from '../support/tables/ipsetOptions.js';
import { ROWS, SYNTAX } from '../support/tables/ipsetTable.js';

ipsetOptions();

/** The methods of the library for the commands of the tool. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  create: ['create'],
  add: ['add'],
  del: ['delete'],
  test: ['test'],
  destroy: ['destroy', 'destroyAll'],
  list: ['list', 'get', 'entries'],
  save: ['get'], // and formatSets
  restore: ['apply'], // and parseSets
  flush: ['flush', 'flushAll'],
  rename: ['rename'],
  swap: ['swap'],
  help: ['types'],
  version: ['capabilities'],
  quit: ['close'],
};

/** The options of the tool, and how a caller of the library has the same. */
const OPTIONS: Readonly<Record<string, string>> = {
  '-o': 'values and formatSets',
  '-s': 'an array that is sorted',
  '-q': 'the library prints nothing',
  '-r': 'names are not looked up',
  '-!': 'strict',
  '-n': 'list',
  '-t': 'list',
  '-f': 'formatSets and parseSets',
};

const words = (text: string, pattern: RegExp) =>
  new Set([...text.matchAll(pattern)].map(([, word = '']) => word));

it('the table has every command, option and type of ipset help', async () => {
  const help = tool('help');
  const [commands = '', rest = ''] = help.split('\nOptions:\n');
  const [options = '', types = ''] = rest.split('\nSupported set types:\n');
  assert.deepEqual(
    words(commands.replace(/^[\s\S]*\nCommands:\n/, ''), /^([a-z]+)/gm),
    new Set(Object.keys(COMMANDS)),
  );
  assert.deepEqual(words(options, /^(-\S)/gm), new Set(Object.keys(OPTIONS)));
  assert.deepEqual(words(types, /^ +(\S+)/gm), new Set(Object.keys(SYNTAX)));
  const ipset = await openIpset();
  for (const method of Object.values(COMMANDS).flat()) {
    assert.equal(typeof ipset[method as keyof typeof ipset], 'function', method);
  }
  await ipset.close();
});

for (const [type, syntax] of Object.entries(SYNTAX)) {
  it(`the table has every option of ipset help ${type}`, () => {
    const help = tool('help', type).replace(/^[\s\S]* type specific options:\n/, '');
    const [, create = ''] = /^create SETNAME [\s\S]*?(?=^add )/m.exec(help)?.[0].split(type) ?? [];
    const [, add = ''] = /^add +SETNAME [\s\S]*?(?=^del )/m.exec(help)?.[0].split(`${type} `) ?? [];
    assert.equal(add.split('\n')[0]?.trim(), syntax);
    const rows = ROWS.filter(({ set }) => set.type === type);
    const created = rows.map(({ text }) => text).join(' ');
    const added = rows.flatMap(({ entries }) => entries.map(([, asked]) => asked)).join(' ');
    for (const [text, table] of [
      [create, created],
      [add.split('\n').slice(1).join('\n'), added],
    ] as const) {
      const known = words(table, /(?:^|\s)([a-z]+)(?=\s|$)/g);
      const named = words(text, /(?:^|[[|]| )([a-z][a-z0-9]+)(?= (?:[A-Z"]|bitmask|inet|IP)|\]|\|)/gm);
      named.delete('inet');
      named.delete('inet6');
      assert.ok(named.size >= 4, `${[...named]}`);
      for (const word of named) assert.ok(known.has(word), `no row of ${type} has ${word}`);
    }
  });
}
