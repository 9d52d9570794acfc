// Arguments of the functions that read and write the text of nft: what breaks a rule is refused, not printed. A listed object may have
// what the library cannot write: it is checked without that.

import { argumentError, type InvalidValue, isIntegerWithin } from '../../shared/arguments.js';
import { Checker } from '../../shared/checker.js';
import { ByteWriter } from '../../shared/wire/byteWriter.js';
import { StepCounter, type Steps } from '../../steps.js';
import { OperationEncoder } from '../encode/operations.js';
import { isText, isVerdict } from '../expressions/formats.js';
import type { Expression, NftablesOperation } from '../types.js';
import type { Ruleset } from './ruleset.js';

/** Most bytes of the name of a link: `IFNAMSIZ` - 1. */
const LONGEST_LINK_NAME = 15;

/** What is invalid in names of links by their indexes. */
export function findInvalidLinks(field: string, links: unknown): InvalidValue | undefined {
  const rule = `must be a Map with names of links, of 1 to ${LONGEST_LINK_NAME} bytes, by their indexes`;
  if (!(links instanceof Map)) return { field, value: links, rule, wrongType: true };
  for (const [index, name] of links as Map<unknown, unknown>) {
    if (!isIntegerWithin(index, 1, 0x7fff_ffff)) return { field, value: index, rule, wrongType: false };
    if (!isText(name, 1, LONGEST_LINK_NAME)) return { field, value: name, rule, wrongType: false };
  }
  return undefined;
}

const FIELDS: ReadonlySet<string> = new Set([
  ...['tables', 'chains', 'rules', 'sets', 'objects', 'flowTables', 'links'],
]);
const CONTENT: ReadonlySet<string> = new Set(['set', 'elements']);
/** Fields of an object of any type, beside its name. */
const BESIDE_CONTENT: ReadonlySet<string> = new Set(['handle', 'use', 'comment']);
const LISTS = ['tables', 'chains', 'rules', 'sets', 'objects', 'flowTables'] as const;

/** Throws the error of a call whose ruleset is invalid. A rule whose `lookup` has a set of its own is checked in one step. */
export function* checkRuleset(operation: string, ruleset: Ruleset): Steps<void> {
  const checker = new RulesetChecker();
  yield* checker.ruleset(ruleset);
  const { invalid } = checker.check;
  if (invalid) throw argumentError(operation, invalid);
}

/** The rule that statements of elements are checked in, and the set of elements of unknown types. */
const PLACE = { family: 'ip', table: 't', chain: 'c' } as const;
const ANY_SET = Object.freeze({ family: 'ip', table: 't', name: 's', key: 'integer' } as const);

/** In place of the key of an element that has none. */
const NO_KEY = new Uint8Array();

/** What a listed object has beside what is written. */
type Listed = Readonly<Record<string, unknown>>;

class RulesetChecker {
  readonly check = new Checker();
  readonly #bytes = new ByteWriter();
  readonly #encoder = new OperationEncoder(this.#bytes);
  readonly #counter = new StepCounter();

  *ruleset(ruleset: Ruleset): Steps<void> {
    const { check } = this;
    if (!check.object('ruleset', ruleset, FIELDS, 'a ruleset')) return;
    for (const name of LISTS) {
      const isAbsent = name === 'flowTables' && ruleset[name] === undefined;
      if (!isAbsent && !Array.isArray(ruleset[name]))
        check.fail(`ruleset.${name}`, ruleset[name], 'must be an array', true);
    }
    const { links } = ruleset;
    const invalid = links === undefined ? undefined : findInvalidLinks('ruleset.links', links);
    if (invalid) check.invalid ??= invalid;
    if (check.invalid) return;
    yield* this.#each('tables', ruleset.tables, (path, value) => {
      this.#table(path, value);
    });
    yield* this.#each('chains', ruleset.chains, (path, value) => {
      this.#chain(path, value);
    });
    yield* this.#each('rules', ruleset.rules, (path, value) => {
      this.#rule(path, value);
    });
    yield* this.#each('sets', ruleset.sets, (path, value) => this.#set(path, value));
    yield* this.#each('objects', ruleset.objects, (path, value) => {
      this.#object(path, value);
    });
    yield* this.#each('flowTables', ruleset.flowTables ?? [], (path, value) => {
      const { attributes, userData, ...flowTable } = value as Listed;
      this.#operation(path, 'flowTable', { do: 'addFlowTable', flowTable });
    });
  }

  /** Checks each value of a list, in steps if one has several. */
  *#each<T>(
    name: string,
    list: readonly T[],
    one: (path: string, value: T & Listed) => Steps<void> | undefined,
  ): Steps<void> {
    for (let i = 0; i < list.length && !this.check.invalid; i++) {
      const value = list[i] as T & Listed;
      const steps = this.check.isObject(`${name}[${i}]`, value) ? one(`${name}[${i}]`, value) : undefined;
      if (steps) yield* steps;
      if (this.#counter.isFull()) yield;
    }
  }

  #table(path: string, { flags, attributes, userData, ...table }: Listed): void {
    if (!Array.isArray(flags)) this.check.fail(`${path}.flags`, flags, 'must be an array of flags', true);
    this.#operation(path, 'table', { do: 'addTable', table: { ...table, flags } });
  }

  #chain(path: string, { flags, attributes, userData, ...chain }: Listed): void {
    if (flags !== undefined) this.check.integer(`${path}.flags`, flags, 0, 0xffff_ffff);
    this.#operation(path, 'chain', { do: 'addChain', chain });
  }

  #rule(path: string, { attributes, userData, expressions, ...rule }: Listed): void {
    const known = this.#known(`${path}.expressions`, expressions);
    this.#operation(path, 'rule', { do: 'addRule', rule: { ...rule, expressions: known } });
  }

  /** The expressions with others in place of those that the library does not know, which cannot be written. */
  #known(path: string, expressions: unknown): unknown {
    if (!Array.isArray(expressions)) return expressions;
    return expressions.map((expression: Expression | null | undefined, i) => {
      if (expression?.kind === 'dynset' && expression.expressions !== undefined) {
        const nested = this.#known(`${path}[${i}].expressions`, expression.expressions);
        return { ...expression, expressions: nested };
      }
      if (expression?.kind !== 'unknown') return expression;
      const { kind, name, data, ...others } = expression;
      const { check } = this;
      check.onlyFields(`${path}[${i}].`, others, new Set(), 'an unknown expression');
      if (!isText(name, 1, 255))
        check.fail(
          `${path}[${i}].name`,
          name,
          'must be a name of 1 to 255 bytes without a zero',
          typeof name !== 'string',
        );
      if (!(data instanceof Uint8Array)) check.fail(`${path}[${i}].data`, data, 'must be a Uint8Array', true);
      return { kind: 'notrack' };
    });
  }

  *#set(path: string, content: Listed): Steps<void> {
    const { check } = this;
    check.onlyFields(`${path}.`, content, CONTENT, 'a set with its elements');
    const { set, elements } = content;
    if (!Array.isArray(elements))
      check.fail(`${path}.elements`, elements, 'must be an array of elements', true);
    if (check.invalid || !check.isObject(`${path}.set`, set)) return;
    const { attributes, userData, anonymous, key, data, flags, expressions, ...others } = set as Listed;
    if (anonymous !== undefined && anonymous !== true)
      check.fail(`${path}.set.anonymous`, anonymous, 'must be true, or left out', true);
    if (!Array.isArray(flags)) check.fail(`${path}.set.flags`, flags, 'must be an array of flags', true);
    const known = {
      key: this.#typesOf(`${path}.set.key`, key),
      ...(data !== undefined && { data: this.#typesOf(`${path}.set.data`, data) }),
      flags,
      ...(expressions !== undefined && {
        expressions: this.#known(`${path}.set.expressions`, expressions),
      }),
    };
    const written = Object.freeze({ ...others, ...known });
    this.#operation(`${path}.set`, 'set', { do: 'addSet', set: written });
    for (let i = 0; i < (elements as unknown[]).length && !check.invalid; i++) {
      const element = (elements as unknown[])[i];
      if (check.isObject(`${path}.elements[${i}]`, element))
        this.#element(
          `${path}.elements[${i}]`,
          element as Listed,
          typeof key === 'number' ? undefined : written,
          typeof data === 'number',
        );
      if (this.#counter.isFull()) yield;
    }
  }

  /** Types that are known; others are numbers. */
  #typesOf(path: string, types: unknown): unknown {
    if (typeof types !== 'number') return types;
    this.check.integer(path, types, 0, 0xffff_ffff);
    return 'integer';
  }

  #element(path: string, element: Listed, set: Listed | undefined, hasUnnamedData: boolean): void {
    const { check } = this;
    const { attributes, userData, isEnd, expressions, ...written } = element;
    if (isEnd !== undefined)
      check.fail(`${path}.isEnd`, isEnd, 'must be left out: half of an interval has no text', true);
    if (expressions !== undefined) {
      const rule = { ...PLACE, expressions: this.#known(`${path}.expressions`, expressions) };
      this.#operation(path, 'rule', { do: 'addRule', rule });
    }
    if (!set) {
      this.#bytesOf(path, written);
      return;
    }
    // The kernel may have listed data of which the library has no value.
    const { data, ...keys } = set;
    const isUnread = attributes !== undefined && written['data'] === undefined;
    if (hasUnnamedData) {
      const { data: value, dataEnd: _, ...others } = written;
      this.#bytesOf(path, { key: NO_KEY, data: value });
      this.#operation(path, 'elements[0]', { do: 'addElements', set: keys, elements: [others] });
      return;
    }
    this.#operation(path, 'elements[0]', {
      do: 'addElements',
      set: isUnread && data !== undefined ? keys : set,
      elements: [written],
    });
  }

  /** An element of a set of unknown types, which has bytes. */
  #bytesOf(path: string, element: Listed): void {
    for (const name of ['key', 'keyEnd', 'data']) {
      const value = element[name];
      const isAbsent = value === undefined && name !== 'key';
      if (isAbsent || value instanceof Uint8Array || (name === 'data' && isVerdict(value))) continue;
      this.check.fail(
        `${path}.${name}`,
        value,
        'must be a Uint8Array: the types of the set are numbers',
        true,
      );
    }
    const { key, keyEnd, data, ...others } = element;
    this.#operation(path, 'elements[0]', {
      do: 'addElements',
      set: ANY_SET,
      elements: [{ ...others, key: 0 }],
    });
  }

  #object(path: string, { attributes, userData, ...object }: Listed): void {
    const { type, family, table, name, ...others } = object;
    // Its content may be among the attributes.
    const isUnread =
      attributes !== undefined && Object.keys(others).every((field) => BESIDE_CONTENT.has(field));
    if (typeof type !== 'number' && !isUnread) {
      this.#operation(path, 'object', { do: 'addObject', object });
      return;
    }
    if (typeof type === 'number') this.check.integer(`${path}.type`, type, 0, 0xffff_ffff);
    this.check.onlyFields(`${path}.`, others, BESIDE_CONTENT, 'an object of an unknown type');
    const comment = others['comment'] === undefined ? {} : { comment: others['comment'] };
    this.#operation(path, 'object', {
      do: 'addObject',
      object: { type: 'counter', family, table, name, ...comment },
    });
  }

  /** Notes what an operation breaks. `written` names the object in the operation, and `path` in the ruleset. */
  #operation(path: string, written: string, operation: object): void {
    const invalid = this.#encoder.write(operation as NftablesOperation);
    this.#bytes.truncate(0);
    if (!invalid) return;
    const { field } = invalid;
    this.check.invalid ??= {
      ...invalid,
      field: field.startsWith(written) ? `${path}${field.slice(written.length)}` : field,
    };
  }
}
