// Tables and chains as messages.
import { isIntegerWithin } from '../../shared/arguments.js';
import { isText, putText } from '../expressions/formats.js';
import {
  CHAIN,
  DEVICE,
  HOOK,
  hooksOf,
  MESSAGE,
  NESTED,
  POLICIES,
  RULE,
  TABLE,
  TABLE_FLAGS,
} from '../numbers.js';
import type { BaseChain, NameInTable, NewChain, NewTable, TableName } from '../types.js';
import { flagsOf, type Messages, numberOf } from './messages.js';

/** Fields of what a listing has, which are accepted where an object is named or written again. */
const LISTED = ['handle', 'use', 'attributes', 'userData'];
const TABLE_FIELDS = new Set(['family', 'name', 'flags', 'comment', 'owner', ...LISTED]);
const CHAIN_FIELDS = new Set(['family', 'table', 'name', 'base', 'comment', 'flags', ...LISTED]);
const BASE_FIELDS = new Set(['type', 'hook', 'priority', 'policy', 'devices']);
const CHAIN_TYPES: ReadonlySet<unknown> = new Set(['filter', 'nat', 'route']);

/** The message that adds a table. `flags` are those of the message. */
export function encodeTable(messages: Messages, flags: number, table: NewTable): void {
  const { check } = messages;
  if (!check.object('table', table, TABLE_FIELDS, 'a table')) return;
  messages.refuseListed('table', table);
  messages.begin(MESSAGE.newTable, flags, messages.family('table.family', table.family));
  messages.name(TABLE.name, 'table.name', table.name);
  messages.u32(TABLE.flags, flagsOf(check, 'table.flags', table.flags, TABLE_FLAGS));
  messages.comment(TABLE.userData, 'table', table.comment);
  messages.end();
}

/** The message that deletes a table, or its rules: `type` and the attribute of the name say which. */
export function encodeTableName(
  messages: Messages,
  type: number,
  table: TableName,
  attribute: number = TABLE.name,
): void {
  if (!messages.check.object('table', table, TABLE_FIELDS, 'a table')) return;
  messages.begin(type, 0, messages.family('table.family', table.family));
  messages.name(attribute, 'table.name', table.name);
  messages.end();
}

/** The message that adds a chain. */
export function encodeChain(messages: Messages, flags: number, chain: NewChain): void {
  const { check } = messages;
  if (!check.object('chain', chain, CHAIN_FIELDS, 'a chain')) return;
  messages.refuseListed('chain', chain);
  const { flags: listed } = chain as { readonly flags?: unknown };
  if (listed !== undefined)
    check.fail('chain.flags', listed, 'must be left out: the library writes the chain without them', true);
  const family = messages.family('chain.family', chain.family);
  messages.begin(MESSAGE.newChain, flags, family);
  messages.name(CHAIN.table, 'chain.table', chain.table);
  messages.name(CHAIN.name, 'chain.name', chain.name);
  if (chain.base !== undefined) writeBase(messages, family, chain.base);
  messages.comment(CHAIN.userData, 'chain', chain.comment);
  messages.end();
}

function writeBase(messages: Messages, family: number, base: BaseChain): void {
  const { bytes, check } = messages;
  if (!check.object('chain.base', base, BASE_FIELDS, 'a base chain')) return;
  const { type, hook, priority, policy } = base;
  const hooks = hooksOf(family);
  const number = typeof hook === 'number' ? hook : (numberOf(hooks, hook) ?? -1);
  if (!isIntegerWithin(number, 0, 255)) {
    const rule = `must be a hook of the family: ${Object.keys(hooks).join(', ')}, or an integer from 0 to 255`;
    check.fail('chain.base.hook', hook, rule, typeof hook !== 'string');
  }
  const start = bytes.begin(CHAIN.hook | NESTED);
  messages.u32(HOOK.number, number);
  messages.u32(
    HOOK.priority,
    check.integer('chain.base.priority', priority, -0x8000_0000, 0x7fff_ffff) >>> 0,
  );
  if (base.devices !== undefined) writeDevices(messages, 'chain.base.devices', base.devices, HOOK);
  bytes.end(start);
  if (policy !== undefined) {
    const code = numberOf(POLICIES, policy);
    if (code === undefined)
      check.fail('chain.base.policy', policy, 'must be accept or drop', typeof policy !== 'string');
    messages.u32(CHAIN.policy, code ?? 0);
  }
  if (CHAIN_TYPES.has(type)) putText(bytes, CHAIN.type, type);
  else check.fail('chain.base.type', type, 'must be one of filter, nat, route', typeof type !== 'string');
}

/** The most bytes of the name of a link: `IFNAMSIZ` - 1. */
const LONGEST_LINK_NAME = 15;

/** Writes names of links, and beginnings of names. Only a hook of a chain has an attribute for a single name. */
export function writeDevices(
  { bytes, check }: Messages,
  path: string,
  devices: readonly string[],
  attributes: { readonly device?: number; readonly devices: number },
): void {
  if (!Array.isArray(devices) || devices.length === 0 || devices.length > 256) {
    check.fail(path, devices, 'must be a list of 1 to 256 names of links', true);
    return;
  }
  const isPattern = (device: unknown) => typeof device === 'string' && device.endsWith('*');
  const single = devices.length === 1 && !isPattern(devices[0]) ? attributes.device : undefined;
  const start = single === undefined ? bytes.begin(attributes.devices | NESTED) : -1;
  devices.forEach((device: unknown, index) => {
    if (!isText(device, 1, LONGEST_LINK_NAME)) {
      const rule = `must be the name of a link, of 1 to ${LONGEST_LINK_NAME} bytes`;
      check.fail(`${path}[${index}]`, device, rule, typeof device !== 'string');
    } else if (isPattern(device)) putText(bytes, DEVICE.prefix, device.slice(0, -1));
    else putText(bytes, single ?? DEVICE.name, device);
  });
  if (start >= 0) bytes.end(start);
}

/** The message that deletes a chain. */
export function encodeChainName(messages: Messages, type: number, chain: NameInTable): void {
  if (!messages.check.object('chain', chain, CHAIN_FIELDS, 'a chain')) return;
  messages.begin(type, 0, messages.family('chain.family', chain.family));
  messages.name(CHAIN.table, 'chain.table', chain.table);
  messages.name(CHAIN.name, 'chain.name', chain.name);
  messages.end();
}

/** The message that deletes the rules of a chain. */
export function encodeFlushChain(messages: Messages, chain: NameInTable): void {
  if (!messages.check.object('chain', chain, CHAIN_FIELDS, 'a chain')) return;
  messages.begin(MESSAGE.deleteRule, 0, messages.family('chain.family', chain.family));
  messages.name(RULE.table, 'chain.table', chain.table);
  messages.name(RULE.chain, 'chain.name', chain.name);
  messages.end();
}
