// Expressions as attributes.
import { putText } from '../expressions/formats.js';
import type { Part, Shape, Writing } from '../expressions/parts.js';
import { SHAPES } from '../expressions/shapes.js';
import type { AnonymousSet, Expression } from '../expressions/types.js';
import { EXPRESSION, LIST_ELEMENT, NESTED } from '../numbers.js';
import type { Messages } from './messages.js';

/** A shape with what is looked up for each expression. */
interface Writable extends Shape {
  readonly known: ReadonlySet<string>;
}

const WRITABLE: ReadonlyMap<unknown, Writable> = new Map(
  SHAPES.map((shape) => [
    shape.kind,
    { ...shape, known: new Set(['kind', ...shape.parts.flatMap((part: Part) => part.fields)]) },
  ]),
);
const KIND_RULE = `must be one of ${SHAPES.map(({ kind }) => kind).join(', ')}`;

/** The sets of a rule that were written before it. */
export type WrittenSets = ReadonlyMap<AnonymousSet, { readonly name: string; readonly id: number }>;

const NO_SETS: WrittenSets = new Map();

/** Writes expressions as the elements of a list. `path` names the list. */
export function writeExpressions(
  messages: Messages,
  path: string,
  expressions: unknown,
  sets: WrittenSets,
): void {
  if (!Array.isArray(expressions)) {
    messages.check.fail(path, expressions, 'must be an array of expressions', true);
    return;
  }
  const place = { index: 0 };
  const writing = writingOf(messages, () => `${path}[${place.index}]`, sets);
  for (const expression of expressions as readonly Expression[]) {
    writeExpression(messages, LIST_ELEMENT, expression, writing, () => `${path}[${place.index}]`);
    place.index++;
  }
}

/** What expressions need; `path` names the one that is being written. */
function writingOf(messages: Messages, path: () => string, sets: WrittenSets): Writing {
  return {
    writer: messages.bytes,
    fail: (field, value, rule, wrongType) =>
      messages.check.fail(`${path()}.${field}`, value, rule, wrongType),
    anonymous: (set) => sets.get(set),
    nested: (field, expressions, attributes) => {
      writeNested(messages, `${path()}.${field}`, expressions, attributes);
    },
  };
}

/**
 * One expression is an attribute of its own, several are a list: a kernel before Linux 5.11 knows one only. An empty list is no attribute; what
 * is no list is refused.
 */
export function writeNested(
  messages: Messages,
  path: string,
  expressions: unknown,
  { one, list }: { readonly one: number; readonly list: number },
): void {
  if (Array.isArray(expressions) && expressions.length === 0) return;
  const writing = writingOf(messages, () => `${path}[0]`, NO_SETS);
  if (Array.isArray(expressions) && expressions.length === 1) {
    writeExpression(messages, one, expressions[0], writing, () => `${path}[0]`);
    return;
  }
  const start = messages.bytes.begin(list | NESTED);
  writeExpressions(messages, path, expressions, NO_SETS);
  messages.bytes.end(start);
}

function writeExpression(
  { bytes, check }: Messages,
  attribute: number,
  expression: Expression,
  writing: Writing,
  path: () => string,
): void {
  const shape = WRITABLE.get((expression as Expression | undefined)?.kind);
  if (!shape) {
    refuse(check, path(), expression);
    return;
  }
  for (const name in expression) {
    if (!shape.known.has(name)) {
      check.onlyFields(`${path()}.`, expression, shape.known, `the expression ${shape.kind}`);
      return;
    }
  }
  const outer = bytes.begin(attribute | NESTED);
  putText(bytes, EXPRESSION.name, shape.name);
  const inner = bytes.begin(EXPRESSION.data | NESTED);
  const fields = expression as unknown as Readonly<Record<string, unknown>>;
  for (const part of shape.parts) part.write(writing, fields);
  bytes.end(inner);
  bytes.end(outer);
}

function refuse(check: Messages['check'], path: string, expression: Expression): void {
  if (!check.isObject(path, expression)) return;
  const { kind } = expression as { kind?: unknown };
  if (kind === 'unknown')
    check.fail(path, expression, 'must be of a kind that the library knows: it cannot write others', false);
  else check.fail(`${path}.kind`, kind, KIND_RULE, typeof kind !== 'string');
}
