// Rulesets that nft loads, read and printed by us: the text is that of `nft list ruleset`, and what was read is written back as it was.
// Needs: nftables
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, it } from 'node:test';
import {
  type Expression,
  type NewRule,
  type Nftables,
  type NftablesOperation,
  openNftables,
  type Rule,
  throwOnFailure,
} from '../../src/kernel/nftables/index.js';
import {
  formatRuleset,
  parseRuleset,
  RulesetError,
  readRuleset,
} from '../../src/kernel/nftables/text/index.js';
import type { Ruleset } from '../../src/kernel/nftables/text/ruleset.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { NOT_READ_BY_NFT, RULE_LINES, SETS } from '../support/nftables/ruleLines.js';
import { FIREWALL, KUBE_PROXY } from '../support/nftables/rulesets.js';
import { HOOKS } from '../support/nftables/ruleTexts.js';
import { ROOT } from '../support/paths.js';

let namespace: Namespace;
let nftables: Nftables;

const nft = (...args: readonly string[]) => namespace.run('nft', ...args);
const load = (text: string) =>
  execFileSync('ip', ['netns', 'exec', namespace.name, 'nft', '-f', '-'], { input: text, encoding: 'utf8' });

before(async () => {
  namespace = makeNamespace();
  nftables = await openNftables({ netns: namespace.path });
});
after(async () => {
  await nftables.close();
  namespace.remove();
});
beforeEach(() => nft('flush', 'ruleset'));

const recordings = join(ROOT, 'test/oracle/recordings');
const RULESETS: readonly [name: string, text: string][] = [
  ['the tables of kube-proxy', KUBE_PROXY],
  ['a firewall', FIREWALL],
  ...readdirSync(recordings)
    .map((name): [string, string] => [name, join(recordings, name, 'nftables/nft.txt')])
    .filter(([, path]) => existsSync(path))
    .map(([name, path]): [string, string] => [`the recording ${name}`, readFileSync(path, 'utf8')]),
];

for (const [name, text] of RULESETS) {
  it(`${name}: printed as nft lists it, and written back as it was`, async () => {
    load(text);
    const listed = nft('list', 'ruleset');
    const read = { ...(await readRuleset(nftables)), links: new Map([[1, 'lo']]) };
    assert.equal(formatRuleset(read), listed);
    nft('flush', 'ruleset');
    const results = await nftables.apply(operationsOf(read));
    assert.deepEqual(
      results.flatMap((result) => result?.message ?? []),
      [],
    );
    assert.equal(nft('list', 'ruleset'), listed);
  });

  it(`${name}: read from its listing, and applied`, async () => {
    load(text);
    const listed = nft('list', 'ruleset');
    nft('flush', 'ruleset');
    throwOnFailure(await nftables.apply(parseRuleset(listed)));
    assert.equal(nft('list', 'ruleset'), listed);
  });
}

/** The least part of the rules for which a kernel must have the modules. */
const LEAST_SHARE = 0.8;

/** A table with rules, as nft lists it. */
function tableOf(family: keyof typeof RULE_LINES, lines: readonly string[]): string {
  const rules = lines.map((line) => `\t\t${line}\n`).join('');
  const chains = `\tchain other {\n\t}\n\n\tchain c {\n\t\t${HOOKS[family]} policy accept;\n${rules}\t}\n`;
  return `table ${family} t {\n${family === 'inet' ? SETS : ''}${chains}}\n`;
}

/** Loads a text. False if the kernel refuses it: some miss expressions, helpers, or counters of sets. Another error is one of the text. */
function isLoaded(text: string): boolean {
  const command = ['netns', 'exec', namespace.name, 'nft', '-f', '-'];
  const { status, stderr } = spawnSync('ip', command, { input: text, encoding: 'utf8' });
  if (status !== 0) assert.match(stderr, /Error: (?:Could not process rule|No such file or directory)/);
  return status === 0;
}

/** Whether this machine's kernel has what a rule needs. */
function isUsable(family: keyof typeof RULE_LINES, line: string): boolean {
  const is = isLoaded(tableOf(family, [line]));
  nft('flush', 'ruleset');
  return is;
}

for (const family of Object.keys(RULE_LINES) as (keyof typeof RULE_LINES)[])
  it(`rules of ${family}: applied, listed by nft as they were, read and applied again`, async () => {
    const all = RULE_LINES[family].filter((line) => !NOT_READ_BY_NFT.has(line));
    const lines = all.filter((line) => isUsable(family, line));
    assert.ok(lines.length >= LEAST_SHARE * all.length, `${lines.length} rules`);
    const text = tableOf(family, lines);
    throwOnFailure(await nftables.apply(parseRuleset(text)));
    const listed = nft('list', 'ruleset');
    assert.equal(listed, text);
    assert.equal(formatRuleset({ ...(await readRuleset(nftables)), links: new Map([[1, 'lo']]) }), listed);
    const ours = await nftables.listRules().toArray();
    nft('flush', 'ruleset');
    // nft itself makes the same expressions of the text.
    load(listed);
    const theirs = await nftables.listRules().toArray();
    const compared = ({ expressions }: Rule) => expressions.map(withoutName);
    assert.deepEqual(ours.map(compared), theirs.map(compared));
  });

/** What a table may have: what is printed of it is the same to nft. */
const CONTENTS = [
  'set s { type ifname; flags interval; elements = { "dum*", "eth0" }\n }',
  'set s { type ipv4_addr; flags interval; elements = { 10.0.0.0/8, * }\n }',
  'map m { type ipv4_addr : verdict; elements = { 1.1.1.1 : drop, * : accept }\n }',
  'set s { type ipv4_addr; flags timeout; gc-interval 30s; }',
  'set s { type ipv4_addr; counter; elements = { 1.1.1.1 counter packets 1 bytes 2 }\n }',
  'set s { type ipv4_addr; flags dynamic; ct count over 3; }',
  'set s { typeof ip dscp; comment "d"; }',
  'set s { typeof ether saddr . vlan id; elements = { 00:11:22:33:44:55 . 5 }\n }',
  'map m { typeof ip saddr : ip dscp; elements = { 1.1.1.1 : cs1 }\n }',
  'counter c { }\n map m { type ipv4_addr : counter; elements = { 1.1.1.1 : "c" }\n }',
  'map m { type ipv4_addr : interval ipv4_addr; flags interval; elements = { 1.1.1.1 : 2.2.2.2-2.2.2.9 }\n }',
  'chain c { numgen inc mod 16 vmap { 0-7 : accept, 8-15 : drop }\n }',
  'limit l { rate over 5 kbytes/minute burst 9 bytes; }',
  'ct helper h { type "ftp" protocol tcp; comment "h"; }',
  'ct timeout o { protocol tcp; policy = { established : 5, close : 4 }; }',
  'ct expectation e { protocol udp; dport 53; timeout 5s; size 9; }',
  'synproxy p { mss 1460; wscale 7; timestamp sack-perm; }',
];

for (const content of CONTENTS)
  it(`printed, read and applied again: ${content}`, async () => {
    const text = `table ip t {\n ${content}\n}\n`;
    if (!isLoaded(text)) return;
    const listed = nft('list', 'ruleset');
    const ours = formatRuleset(await readRuleset(nftables));
    nft('flush', 'ruleset');
    throwOnFailure(await nftables.apply(parseRuleset(ours)));
    assert.equal(nft('list', 'ruleset'), listed);
    nft('flush', 'ruleset');
    load(ours);
    assert.equal(nft('list', 'ruleset'), listed);
  });

/** What nft loads and the library cannot write, with what is printed of it. */
const UNWRITABLE: readonly [text: string, printed: RegExp][] = [
  ['set s { typeof ct zone; }', /type \[integer16\]/],
  ['chain c { ct zone { 5, 6 }\n }', /\[[a-z0-9]* of ct zone\]/],
];

for (const [content, printed] of UNWRITABLE)
  it(`what has no notation of the library is printed, and refused when it is read: ${content}`, async () => {
    const text = `table ip t {\n ${content}\n}\n`;
    if (!isLoaded(text)) return;
    const ours = formatRuleset(await readRuleset(nftables));
    assert.match(ours, printed);
    assert.throws(() => parseRuleset(ours), RulesetError);
  });

/** Without the names of sets of rules, which are numbered. */
function withoutName(expression: Expression): Expression {
  return expression.kind === 'lookup' && /^__(?:set|map)\d+$/.test(String(expression.set))
    ? { ...expression, set: '__' }
    : expression;
}

/** The operations that make a ruleset of what was read. */
function operationsOf({ tables, chains, rules, sets, objects }: Ruleset): NftablesOperation[] {
  const named = sets.filter(({ set }) => !set.anonymous);
  return [
    ...tables.map((table): NftablesOperation => ({ do: 'addTable', table })),
    ...chains.map((chain): NftablesOperation => ({ do: 'addChain', chain })),
    ...objects.map((object) => ({ do: 'addObject', object }) as NftablesOperation),
    ...named.map(({ set }) => ({ do: 'addSet', set }) as NftablesOperation),
    ...named.map(({ set, elements }) => ({ do: 'addElements', set, elements }) as NftablesOperation),
    ...rules.map((rule): NftablesOperation => ({ do: 'addRule', rule: withSets(rule, sets) })),
  ];
}

/** The rule with its own sets in place of their names. */
function withSets(rule: NewRule, sets: Ruleset['sets']): NewRule {
  const expressions = rule.expressions.map((expression): Expression => {
    if (expression.kind !== 'lookup') return expression;
    const found = sets.find(
      ({ set }) =>
        set.anonymous &&
        set.name === expression.set &&
        set.table === rule.table &&
        set.family === rule.family,
    );
    if (!found) return expression;
    const { key, data, flags } = found.set;
    assert.ok(typeof key !== 'number' && typeof data !== 'number');
    const types = data === undefined ? { key, flags } : { key, data, flags };
    return { ...expression, set: { ...types, elements: found.elements } };
  });
  return { ...rule, expressions };
}
