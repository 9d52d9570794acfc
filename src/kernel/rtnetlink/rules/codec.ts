// Rules of policy routing ↔ messages. Numbers: include/uapi/linux/fib_rules.h.
import type { Family } from '../../net/address.js';
import { isIntegerWithin } from '../../shared/arguments.js';
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import {
  checked,
  type Fields,
  type Format,
  field,
  type Ignored,
  integer,
  type LinkNames,
  largeInteger,
  linkName,
  type Numbers,
  nameOf,
  nameOrNumber,
  readField,
  refuseAttributes,
  unless,
  writeFields,
} from '../fields.js';
import { unnamedFlags } from '../flags.js';
import { type Message, MessageWriter } from '../message.js';
import { AF, familyOfNumber, NLM_F, RTM, WRITE_FLAGS } from '../numbers.js';
import { checkFamily, checkPrefix, formatPrefix, type Prefix } from '../prefixes.js';
import { numberOf, routeProtocol, routeTable, TABLES } from '../routes/fields.js';
import type { NewRule, NumberRange, Rule, RuleAction, RuleName, RuleSelector, RuleState } from './types.js';

const FRA = { to: 1, from: 2, goto: 4, mark: 10, suppressPrefixLength: 14, table: 15, markMask: 16 } as const;
const HEADER_SIZE = 12; // struct fib_rule_hdr
const INVERT = 2;
const NONE = 0xffff_ffff; // no suppression
const STATES = { unresolved: 4, inputLinkMissing: 8, outputLinkMissing: 16 } as const;
const NAMED_FLAGS = INVERT | STATES.unresolved | STATES.inputLinkMissing | STATES.outputLinkMissing;
/** FRA_PAD. */
const IGNORED: Ignored = new Set([18]);

const ACTIONS: Numbers<Extract<RuleAction, string>> = {
  lookup: 1,
  goto: 2,
  nop: 3,
  blackhole: 6,
  unreachable: 7,
  prohibit: 8,
};
const ruleAction = nameOrNumber('u8', ACTIONS);

function isRange(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 2) return false;
  const { first, last } = value as NumberRange;
  return isIntegerWithin(last, 0, most) && isIntegerWithin(first, 0, last);
}

/** struct fib_rule_port_range, struct fib_rule_uid_range. */
function range(width: 'u16' | 'u32', most: number): Format<NumberRange> {
  const size = width === 'u16' ? 2 : 4;
  return {
    rule: `must be a range {first, last} of integers from 0 to ${most}`,
    type: 'object',
    accepts: (value) => isRange(value, most),
    write: (writer, { first, last }) => writer[width](first)[width](last),
    read: (attribute) => ({ first: attribute[width](), last: attribute[width](size) }),
  };
}

const suppression = unless(NONE, integer('u32', 0, 0x7fff_ffff));
const portMask = unless(0xffff, integer('u16', 1));
const LAST_DSCP = 0x3f;
const LAST_LABEL = 0xf_ffff;

type Scalars = Omit<RuleSelector, 'family' | 'from' | 'to' | 'invert' | 'tos' | 'mark'> &
  Pick<RuleName, 'goto'>;
const SCALARS: Fields<Scalars> = {
  inputLink: field(3, linkName),
  goto: field(FRA.goto, integer('u32')),
  priority: field(6, integer('u32')),
  realms: field(11, integer('u32', 1)),
  tunnelId: field(12, largeInteger),
  suppressGroup: field(13, suppression),
  suppressPrefixLength: field(FRA.suppressPrefixLength, suppression),
  outputLink: field(17, linkName),
  uids: field(20, range('u32', 0xffff_ffff)),
  protocol: field(21, routeProtocol),
  ipProtocol: field(22, integer('u8', 1)),
  sourcePorts: field(23, range('u16', 0xffff)),
  destinationPorts: field(24, range('u16', 0xffff)),
  dscp: field(25, integer('u8', 0, LAST_DSCP)),
  flowLabel: field(26, integer('u32be', 0, LAST_LABEL)),
  // Newer kernels list a mask with every value, also if it was not given.
  flowLabelMask: field(27, unless(LAST_LABEL, integer('u32be', 1, LAST_LABEL))),
  sourcePortMask: field(28, portMask),
  destinationPortMask: field(29, portMask),
  dscpMask: field(30, unless(LAST_DSCP, integer('u8', 1, LAST_DSCP))),
};
const L3MDEV = 19;
const NAMES = new Set([
  ...Object.keys(SCALARS),
  ...['family', 'from', 'to', 'invert', 'tos', 'mark', 'action', 'table', 'l3mdev'],
  ...[...Object.keys(STATES), 'flags', 'attributes'], // of one that was listed
]);
const MARK_NAMES = new Set(['value', 'mask']);

/** The message that adds or deletes a rule, with the defaults of iproute2. */
export function encodeRule(verb: 'add' | 'delete', rule: NewRule | RuleName): MessageWriter {
  const writer = new MessageWriter(verb === 'add' ? RTM.newRule : RTM.deleteRule, WRITE_FLAGS[verb]);
  if (!writer.check.object('rule', rule, NAMES, 'a rule')) return writer;
  refuseListed(writer, rule);
  const named = checkFamily(writer.check, 'rule.family', rule.family);
  const from = rule.from === undefined ? undefined : checkPrefix(writer.check, 'rule.from', rule.from, named);
  const to =
    rule.to === undefined ? undefined : checkPrefix(writer.check, 'rule.to', rule.to, named ?? from?.family);
  const family: Family = named ?? from?.family ?? to?.family ?? 4;
  const table = tableOf(writer, verb, rule);
  const { tos = 0, invert = false, l3mdev = false } = rule;
  for (const [name, value] of Object.entries({ invert, l3mdev })) {
    if (typeof value !== 'boolean') writer.check.fail(`rule.${name}`, value, 'must be true or false', true);
  }
  writer
    .u8(AF[family])
    .u8(to?.length ?? 0)
    .u8(from?.length ?? 0)
    .u8(writer.check.integer('rule.tos', tos, 0, 255));
  writer
    .u8(table < 256 ? table : 0)
    .u8(0)
    .u8(0)
    .u8(actionOf(writer, verb, rule));
  writer.u32(invert ? INVERT : 0);
  if (to && to.length > 0) writer.attribute(FRA.to, () => writer.bytes(to.bytes));
  if (from && from.length > 0) writer.attribute(FRA.from, () => writer.bytes(from.bytes));
  if (table >= 256) writer.attribute(FRA.table, () => writer.u32(table));
  if (l3mdev) writer.attribute(L3MDEV, () => writer.u8(1));
  writeMark(writer, rule);
  writeFields<Partial<Scalars>>(writer, 'rule.', { ...defaults(verb, rule), ...rule }, SCALARS);
  if (verb === 'delete' && !narrows(rule, from, to)) writer.check.fail('rule', rule, NARROWING_RULE, true);
  return writer;
}

const NARROWING = [
  ...([
    'priority',
    'inputLink',
    'outputLink',
    'tos',
    'ipProtocol',
    'sourcePorts',
    'destinationPorts',
  ] as const),
  ...([
    'uids',
    'tunnelId',
    'realms',
    'table',
    'goto',
    'suppressPrefixLength',
    'suppressGroup',
    'dscp',
    'flowLabel',
  ] as const),
];
const NARROWING_RULE =
  'must have a field that few rules have, as priority, from, to, table, mark or a link: without one, the first rule of the family would be deleted';

/** Whether a rule has a field that few others have. The kernel ignores a prefix of length 0, a TOS of 0 and a mark of 0. */
function narrows(rule: RuleName, from: Prefix | undefined, to: Prefix | undefined): boolean {
  const { mark, tos, l3mdev } = rule;
  if ((from?.length ?? 0) > 0 || (to?.length ?? 0) > 0 || l3mdev === true) return true;
  if (mark !== undefined && (mark.value > 0 || (mark.mask ?? 0) > 0)) return true;
  return NARROWING.some((name) => rule[name] !== undefined && (name !== 'tos' || tos !== 0));
}

function defaults(verb: 'add' | 'delete', { protocol }: RuleName): Partial<Scalars> {
  return verb === 'add' && protocol === undefined ? { protocol: 'boot' } : {};
}

/** Refuses what cannot be written of a rule that was listed. */
function refuseListed(writer: MessageWriter, rule: Partial<RuleState>): void {
  refuseAttributes(writer.check, 'rule.', rule);
  const { flags } = rule;
  if (flags !== undefined)
    writer.check.fail(
      'rule.flags',
      flags,
      'must be left out: the library writes the rule without them',
      true,
    );
}

/** A deletion without an action deletes a rule with any action. */
function actionOf(writer: MessageWriter, verb: 'add' | 'delete', { action, goto }: RuleName): number {
  if (action !== undefined) {
    if (!checked(writer, 'rule.action', action, ruleAction)) return 0;
    const number = numberOf(action, ACTIONS);
    if (goto !== undefined && number !== ACTIONS.goto)
      writer.check.fail('rule.goto', goto, 'is of the action goto', true);
    if (goto === undefined && number === ACTIONS.goto && verb === 'add')
      writer.check.fail('rule.goto', goto, 'must be the priority of a later rule: the action is goto', true);
    return number;
  }
  if (goto !== undefined) return ACTIONS.goto;
  return verb === 'add' ? ACTIONS.lookup : 0;
}

function tableOf(writer: MessageWriter, verb: 'add' | 'delete', rule: RuleName): number {
  const { table, action, goto, l3mdev } = rule;
  if (table === undefined) {
    const looksUp = (action ?? (goto === undefined ? 'lookup' : 'goto')) === 'lookup';
    return verb === 'add' && looksUp && !l3mdev ? TABLES.main : 0;
  }
  if (!checked(writer, 'rule.table', table, routeTable)) return 0;
  if (l3mdev) writer.check.fail('rule.table', table, 'excludes l3mdev', true);
  return numberOf(table, TABLES);
}

function writeMark(writer: MessageWriter, { mark }: RuleName): void {
  if (mark === undefined || !writer.check.object('rule.mark', mark, MARK_NAMES, 'a mark')) return;
  const value = writer.check.integer('rule.mark.value', mark.value, 0, 0xffff_ffff);
  writer.attribute(FRA.mark, () => writer.u32(value));
  if (mark.mask === undefined) return;
  const mask = writer.check.integer('rule.mark.mask', mark.mask, 0, 0xffff_ffff);
  writer.attribute(FRA.markMask, () => writer.u32(mask));
}

/** The message that lists rules, of one family or both. */
export function encodeListRules(family?: Family): MessageWriter {
  const writer = new MessageWriter(RTM.getRule, NLM_F.dump);
  const checkedFamily = checkFamily(writer.check, 'family', family);
  writer.u8(checkedFamily === undefined ? 0 : AF[checkedFamily]);
  for (let i = 1; i < HEADER_SIZE; i++) writer.u8(0);
  return writer;
}

/** Reads a rule. Undefined for one of another family: of multicast routing. */
export function readRule(message: Message, links: LinkNames): Rule | undefined {
  const family = familyOfNumber(message.u8(0));
  if (family === undefined) return undefined;
  const action = nameOf(ACTIONS, message.u8(7)) ?? message.u8(7);
  const flags = message.u32(8);
  const rule: Record<string, unknown> = { family, priority: 0, action };
  if (message.u8(3) !== 0) rule['tos'] = message.u8(3);
  if (flags & INVERT) rule['invert'] = true;
  for (const [name, bit] of Object.entries(STATES)) if (flags & bit) rule[name] = true;
  if (flags & ~NAMED_FLAGS) rule['flags'] = unnamedFlags(flags & ~NAMED_FLAGS);
  const mark: { value?: number; mask?: number } = {};
  for (const attributes = message.attributes(HEADER_SIZE); attributes.next(); ) {
    readAttribute(attributes, rule, mark, { family, to: message.u8(1), from: message.u8(2) }, links);
  }
  // Without a mask the kernel lists a mask of all bits.
  if (mark.value !== undefined || mark.mask) rule['mark'] = { value: mark.value ?? 0, mask: mark.mask ?? 0 };
  if (rule['table'] === 0) delete rule['table'];
  return rule as unknown as Rule;
}

function readAttribute(
  attribute: AttributeCursor,
  rule: Record<string, unknown>,
  mark: { value?: number; mask?: number },
  { family, to, from }: { family: Family; to: number; from: number },
  links: LinkNames,
): void {
  switch (attribute.type) {
    case FRA.to:
      rule['to'] = formatPrefix(family, attribute, to);
      break;
    case FRA.from:
      rule['from'] = formatPrefix(family, attribute, from);
      break;
    case FRA.table:
      rule['table'] = routeTable.read(attribute, links);
      break;
    case FRA.mark:
      mark.value = attribute.u32();
      break;
    case FRA.markMask:
      mark.mask = attribute.u32();
      break;
    case L3MDEV:
      if (attribute.u8() !== 0) rule['l3mdev'] = true;
      break;
    default:
      readField(attribute, SCALARS, rule, links, IGNORED);
  }
}
