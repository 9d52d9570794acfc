// The rules that nft sends: those whose expressions the library has are read, and written again with the same attributes. The messages
// are those of `nft --debug=mnl`, which prints them whatever the kernel says.
// Needs: nftables
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, it } from 'node:test';
import { readRule } from '../../src/kernel/nftables/decode/tables.js';
import { OperationEncoder } from '../../src/kernel/nftables/encode/operations.js';
import type { Expression, Rule } from '../../src/kernel/nftables/types.js';
import { ByteWriter } from '../../src/kernel/shared/wire/byteWriter.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { messagesInDump } from '../support/nftables/mnlDump.js';
import { HOOKS, RULE_TEXTS } from '../support/nftables/ruleTexts.js';

/** `NFT_MSG_NEWRULE` of `NFNL_SUBSYS_NFTABLES` */
const NEW_RULE = 0x0a06;
/** Bytes of `struct nlmsghdr`. */
const HEADER = 16;
/** The least part of the rules that the library has to have. */
const LEAST_SHARE = 0.9;

let namespace: Namespace;
before(() => {
  namespace = makeNamespace();
});
after(() => namespace.remove());

/** The message of a rule. */
function sent(family: keyof typeof RULE_TEXTS, rule: string): Buffer {
  const set = family === 'inet' ? '\tset recent {\n\t\ttype ipv4_addr\n\t\tflags dynamic,timeout\n\t}\n' : '';
  const input = `table ${family} t {\n${set}\tchain other {\n\t}\n\tchain c {\n\t\t${HOOKS[family]}\n\t\t${rule}\n\t}\n}\n`;
  const command = ['netns', 'exec', namespace.name, 'nft', '--debug=mnl', '-c', '-f', '-'];
  const { stdout, stderr } = spawnSync('ip', command, { input, encoding: 'utf8' });
  const message = messagesInDump(stdout + stderr).find((each) => each.readUInt16LE(4) === NEW_RULE);
  assert.ok(message, `${rule}: ${stderr}`);
  return message;
}

/** What the library does not know of a rule. */
function unknownIn({ expressions }: Pick<Rule, 'expressions'>): string[] {
  return expressions.flatMap((each: Expression) => {
    if (each.kind === 'unknown') return [each.name];
    return each.kind === 'dynset' && each.expressions ? unknownIn({ expressions: each.expressions }) : [];
  });
}

/** Attributes: types, and values as bytes or as attributes. */
type Tree = [type: number, value: string | Tree][];

function attributesIn(bytes: Buffer, start: number, end: number): Tree {
  const attributes: Tree = [];
  for (let at = start; at + 4 <= end; at += (bytes.readUInt16LE(at) + 3) & ~3) {
    const [length, type] = [bytes.readUInt16LE(at), bytes.readUInt16LE(at + 2)];
    const value =
      type & 0x8000 ? attributesIn(bytes, at + 4, at + length) : bytes.toString('hex', at + 4, at + length);
    attributes.push([type & 0x3fff, value]);
  }
  return attributes;
}

/** Numbers of sets in the transaction, by name of the expression: rules are written here without the messages of their sets. */
const SET_IDS: Readonly<Record<string, number>> = { lookup: 4, dynset: 2 };
/** Flags of NAT, two of which the kernel adds for the registers. */
const NAT_FLAGS: Readonly<Record<string, number>> = { nat: 7, masq: 1, redir: 3 };

/** An expression in one of the forms that mean the same: without numbers that are 0, by type. */
function canonical(expression: Tree): unknown {
  const value = (type: number) => expression.find(([each]) => each === type)?.[1];
  const name = Buffer.from(String(value(1)), 'hex')
    .toString()
    .replace('\0', '');
  const data = value(2);
  const attributes = (typeof data === 'object' ? data : [])
    .filter(([type, each]) => type !== SET_IDS[name] && !(typeof each === 'string' && /^0*$/.test(each)))
    .map(([type, each]): [number, unknown] => {
      if (type === NAT_FLAGS[name]) return [type, Number.parseInt(String(each), 16) & ~3];
      if (name === 'dynset' && type === 7) return [type, canonical(each as Tree)];
      if (name === 'dynset' && type === 10)
        return [type, (each as Tree).map(([, inner]) => canonical(inner as Tree))];
      return [type, each];
    })
    .filter(([, each]) => each !== 0);
  return [name, attributes.sort(([a], [b]) => a - b)];
}

/** The expressions of the message of a rule. */
function expressionsIn(message: Buffer): unknown[] {
  const attributes = attributesIn(message, HEADER + 4, message.readUInt32LE(0));
  const list = attributes.find(([type]) => type === 4)?.[1];
  return typeof list === 'object' ? list.map(([, expression]) => canonical(expression as Tree)) : [];
}

let [all, known] = [0, 0];
const unknown = new Map<string, number>();

for (const family of Object.keys(RULE_TEXTS) as (keyof typeof RULE_TEXTS)[]) {
  it(`rules of ${family}, as nft sends them`, () => {
    for (const text of RULE_TEXTS[family]) {
      all++;
      const message = sent(family, text);
      const rule = readRule(new Uint8Array(message.subarray(HEADER)));
      const names = unknownIn(rule);
      for (const name of names) unknown.set(name, (unknown.get(name) ?? 0) + 1);
      if (names.length > 0) continue;
      known++;
      const writer = new ByteWriter();
      assert.equal(new OperationEncoder(writer).write({ do: 'addRule', rule }), undefined, text);
      assert.deepEqual(expressionsIn(writer.written()), expressionsIn(message), text);
    }
  });
}

it(`has the expressions of at least ${LEAST_SHARE * 100} % of them`, (t) => {
  t.diagnostic(
    `${known} of ${all} rules; unknown: ${[...unknown].map(([name, count]) => `${name} (${count})`).join(', ')}`,
  );
  assert.ok(known / all >= LEAST_SHARE, `${known} of ${all}`);
});
