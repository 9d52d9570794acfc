// Expressions of messages.
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import type { Part, Reading, Shape } from '../expressions/parts.js';
import { SHAPES } from '../expressions/shapes.js';
import type { Expression } from '../expressions/types.js';
import { EXPRESSION, LIST_ELEMENT } from '../numbers.js';

/** A shape with what is looked up for each attribute. */
interface Readable {
  readonly shape: Shape;
  readonly parts: ReadonlyMap<number, Part>;
  readonly required: readonly string[];
}

const READABLE = new Map<string, Readable[]>();
for (const shape of SHAPES) {
  const parts = new Map(shape.parts.flatMap((part) => part.attributes.map((type) => [type, part] as const)));
  const readable = { shape, parts, required: shape.parts.flatMap(({ required }) => required) };
  const named = READABLE.get(shape.name);
  if (named) named.push(readable);
  else READABLE.set(shape.name, [readable]);
}

const reading: Reading = {
  nested: (attribute, isList) => (isList ? readExpressions(attribute) : [readExpression(attribute)]),
};

/** The expressions in a list. */
export function readExpressions(list: AttributeCursor): Expression[] {
  const expressions: Expression[] = [];
  for (const element = list.nested(); element.next(); ) {
    if (element.type !== LIST_ELEMENT) throw element.malformed('is no element of a list');
    expressions.push(readExpression(element));
  }
  return expressions;
}

/** One expression. One that has no kind here, or attributes without a field, is of the kind `unknown`. */
export function readExpression(element: AttributeCursor): Expression {
  let name: string | undefined;
  let start = -1;
  let length = 0;
  let data: Uint8Array | undefined;
  const inner = element.nested();
  for (let place = 0; inner.next(); place += (inner.length + 7) & ~3) {
    if (inner.type === EXPRESSION.name) name = inner.text();
    else if (inner.type === EXPRESSION.data) {
      start = place + 4;
      ({ length } = inner);
      data = inner.bytes();
    }
  }
  if (name === undefined) throw element.malformed('the expression has no name');
  for (const readable of READABLE.get(name) ?? []) {
    const value = readAs(readable, start < 0 ? undefined : element.nested(start, length));
    if (value) return value;
  }
  return { kind: 'unknown', name, data: new Uint8Array(data ?? []) };
}

/** The expression as one of this shape; undefined if it is none. */
function readAs(
  { shape, parts, required }: Readable,
  attributes: AttributeCursor | undefined,
): Expression | undefined {
  const value: Record<string, unknown> = { kind: shape.kind };
  while (attributes?.next()) {
    if (attributes.type === shape.padding) continue;
    const part = parts.get(attributes.type);
    if (!part?.read(attributes, value, reading)) return undefined;
  }
  for (const name of required) if (value[name] === undefined) return undefined;
  if (shape.settle && !shape.settle(value)) return undefined;
  return value as unknown as Expression;
}
