// Look-ups in sets and maps: their keys, and the texts of sets.
import { atOnce } from '../../../steps.js';
import type { ValueType } from '../../types.js';
import { layoutOf } from '../../values/valueTypes.js';
import { anonymousText, type SetContent } from '../sets.js';
import { dataText, isPlainKey, type LoadedType, nameText, quoted, setTypeOf } from '../values.js';
import { contentOf, type Of, value } from './loaded.js';
import type { PrintedRule } from './printed.js';
import { isOrdered, type Loaded, numberOf, shownText, textOf } from './registers.js';

/** A look-up: one that loads data is a value, any other a statement. */
export function lookUp(rule: PrintedRule, expression: Of<'lookup'>): void {
  const { register, invert } = expression;
  const { content, key, text } = lookedUp(rule, expression);
  if (register === undefined) {
    rule.add(`${key} ${invert ? '!= ' : ''}${text}`);
    if (content?.set.anonymous && !invert) rule.conditions.learnOfSet(key, content.elements);
  } else if (invert || (register === 0) !== (content?.set.data === 'verdict' || (!content && register === 0)))
    rule.add(`[lookup ${key} ${text}]`);
  else if (register === 0) {
    rule.conditions.keep();
    rule.add(`${key} vmap ${text}`);
  } else {
    const { data, dataIsInterval, dataLength = 4 } = content?.set ?? {};
    const types = data === undefined || data === 'verdict' ? 'integer' : data;
    const type: LoadedType = typeof types === 'string' ? types : 'integer';
    const loaded = { ...value(`${key} map ${text}`, type, dataLength), types };
    rule.load(register, dataIsInterval ? { ...loaded, hasEnds: true } : loaded);
  }
}

/** A set, and the texts of it and of its key. */
export function lookedUp(rule: PrintedRule, { set, source }: Pick<Of<'lookup'>, 'set' | 'source'>) {
  const name = typeof set === 'string' ? set : '';
  const content = typeof set === 'string' ? rule.surroundings.find(set) : contentOf(set);
  const types = content?.set.key;
  // Before they are used: a value may be another one the next time.
  const parts = rule.registers.parts(source, typeof types === 'object' ? types.length : 1) ?? [];
  const key = keyText(rule, source, content);
  return { content, key, text: setText(rule, name, parts, content) };
}

/** The key of a look-up: one value, or one for each type of the set. */
export function keyText(rule: PrintedRule, register: number, content: SetContent | undefined): string {
  if (!content) return textOf(rule.source(register));
  const { key, flags } = content.set;
  const parts = rule.registers.parts(register, typeof key === 'object' ? key.length : 1);
  const isInterval = flags.includes('interval');
  if (!parts?.every((part) => (isInterval ? isOrdered(part) : !part.isSwapped)))
    return `[register ${register}]`;
  const types = typeof key === 'number' ? [] : typeof key === 'string' ? [key] : key;
  if (!content.set.anonymous)
    return parts
      .map((part, i) => stated(rule, part, isInterval, types[i]) ?? wholeText(rule.used(part)))
      .join(' . ');
  // A reader takes the types from the values.
  const isOther = (part: Loaded, i: number) => !isSameKey(setTypeOf(part), types[i], parts.length > 1);
  if (parts.some(isOther)) return `[${types} of ${parts.map(textOf).join(' . ')}]`;
  return parts.map((part) => textOf(rule.used(part))).join(' . ');
}

/** A value that the rule states, in the notation of the type of the key; undefined if it is another one. */
function stated(rule: PrintedRule, part: Loaded, isInterval: boolean, type?: ValueType): string | undefined {
  const { constant } = part;
  if (!constant || type === undefined) return undefined;
  rule.registers.use(part);
  return linkText(rule, { ...part, type }, constant, isInterval) ?? dataText(type, constant, isInterval);
}

/** A set of the table by its name, or one of the rule by its elements. */
function setText(rule: PrintedRule, name: string, parts: readonly Loaded[], content?: SetContent): string {
  if (!content?.set.anonymous) return `@${nameText(name)}`;
  if (parts.every((part) => !part.field && isPlainKey(part)))
    return rule.surroundings.written?.get(content.elements) ?? atOnce(anonymousText(content));
  const isInterval = content.set.flags.includes('interval');
  const show = (part: Loaded, bytes: Uint8Array) =>
    linkText(rule, part, bytes, isInterval) ?? shownText(part, bytes, part.isNetwork || isInterval, ' | ');
  return atOnce(anonymousText(content, { parts, show }));
}

/** The name of the link of an index; undefined of other values. */
export function linkText(
  rule: PrintedRule,
  { type, bits }: Loaded,
  bytes: Uint8Array,
  isNetwork = false,
): string | undefined {
  if (type !== 'iface_index' || bits || bytes.length !== 4) return undefined;
  const link = rule.surroundings.links.get(numberOf(bytes, isNetwork));
  return link === undefined ? undefined : quoted(link);
}

/** The text of a whole value: of some bits, without those behind them. */
export function wholeText(loaded: Loaded): string {
  return loaded.inFront ?? (loaded.field?.[0] ? `[bits of ${textOf(loaded)}]` : textOf(loaded));
}

/** Whether a set has elements of a type. In a listing, the integers in a concatenation have no length of their own. */
function isSameKey(type: ValueType | undefined, listed: ValueType | undefined, isPart: boolean): boolean {
  if (type === listed) return type !== undefined;
  if (!type?.startsWith('integer') || !listed?.startsWith('integer')) return false;
  return isPart || layoutOf(type).length === layoutOf(listed).length;
}
