// The parts of single expressions that fit into no table.
import { isIntegerWithin } from '../../shared/arguments.js';
import { nameOf, putBytes, putText, putU32, text, u32Of } from './formats.js';
import type { Part } from './parts.js';
import type { AnonymousSet } from './types.js';

const name = text(255);

/** The set of a lookup: its name, or a set of the rule. */
export const lookedUp = (attributes: { readonly set: number; readonly id: number }): Part => ({
  fields: ['set'],
  required: ['set'],
  attributes: [attributes.set],
  write({ writer, fail, anonymous }, { set }) {
    if (name.accepts(set)) {
      putText(writer, attributes.set, set as string);
      return;
    }
    if (typeof set !== 'object' || set === null) {
      fail('set', set, `${name.rule}, or a set of this rule`, typeof set !== 'string');
      return;
    }
    const written = anonymous(set as AnonymousSet);
    if (!written) {
      fail(
        'set',
        set,
        'must be the name of a set: a set of the rule cannot be within another expression',
        false,
      );
      return;
    }
    putText(writer, attributes.set, written.name);
    putU32(writer, attributes.id, written.id);
  },
  read(attribute, value) {
    value['set'] = attribute.text();
    return true;
  },
});

/** `NFTA_PAYLOAD_CSUM_` */
const CHECKSUM = { type: 6, offset: 7, flags: 8 } as const;
const CHECKSUM_TYPES = { none: 0, inet: 1, sctp: 2 } as const;
const CHECKSUM_FIELDS: readonly string[] = ['type', 'offset', 'pseudoHeader'];
const CHECKSUM_RULE =
  'must be {type, offset, pseudoHeader}: none, inet or sctp, an integer from 0 to 255, and true or false';

/** The checksum that a write to the packet corrects. */
export const checksum: Part = {
  fields: ['checksum'],
  required: [],
  attributes: Object.values(CHECKSUM),
  write({ writer, fail }, { checksum: given = { type: 'none' } }) {
    if (typeof given !== 'object' || given === null) {
      fail('checksum', given, CHECKSUM_RULE, true);
      return;
    }
    const { type, offset = 0, pseudoHeader = false } = given as Record<string, unknown>;
    const isType = typeof type === 'string' && Object.hasOwn(CHECKSUM_TYPES, type);
    const known = Object.keys(given).every((name) => CHECKSUM_FIELDS.includes(name));
    if (!isType || !known || !isIntegerWithin(offset, 0, 255) || typeof pseudoHeader !== 'boolean') {
      fail('checksum', given, CHECKSUM_RULE, false);
      return;
    }
    putU32(writer, CHECKSUM.type, CHECKSUM_TYPES[type as keyof typeof CHECKSUM_TYPES]);
    putU32(writer, CHECKSUM.offset, offset);
    putU32(writer, CHECKSUM.flags, pseudoHeader ? 1 : 0);
  },
  read(attribute, value) {
    const number = u32Of(attribute);
    const found = { type: 'none', ...(value['checksum'] as object | undefined) } as Record<string, unknown>;
    if (attribute.type === CHECKSUM.type) {
      const type = nameOf(CHECKSUM_TYPES, number);
      if (type === undefined) return false;
      found['type'] = type;
    } else if (attribute.type === CHECKSUM.offset) {
      if (number > 255) return false;
      if (number > 0) found['offset'] = number;
    } else {
      if (number > 1) return false;
      if (number === 1) found['pseudoHeader'] = true;
    }
    // The kernel lists "none" at offset 0 if there is no checksum to correct.
    if (found['type'] === 'none' && Object.keys(found).length === 1) delete value['checksum'];
    else value['checksum'] = found;
    return true;
  },
};

/** `NFTA_BITWISE_` */
const BITWISE = { length: 3, mask: 4, xor: 5 } as const;
/** `NFTA_DATA_VALUE` */
const VALUE = 1;
const NESTED = 0x8000;
const MASK_RULE = 'must be a Uint8Array of 1 to 64 bytes';

/** Mask and bits of a bitwise expression, of the same length, and that length. */
export const maskAndXor: Part = {
  fields: ['mask', 'xor'],
  required: ['mask', 'xor'],
  attributes: [BITWISE.length, BITWISE.mask, BITWISE.xor],
  write({ writer, fail }, { mask, xor }) {
    if (!(mask instanceof Uint8Array) || mask.length === 0 || mask.length > 64) {
      fail('mask', mask, MASK_RULE, !(mask instanceof Uint8Array));
      return;
    }
    if (!(xor instanceof Uint8Array) || xor.length !== mask.length) {
      fail('xor', xor, 'must be a Uint8Array of as many bytes as mask has', !(xor instanceof Uint8Array));
      return;
    }
    putU32(writer, BITWISE.length, mask.length);
    for (const [attribute, bytes] of [
      [BITWISE.mask, mask],
      [BITWISE.xor, xor],
    ] as const) {
      const start = writer.begin(attribute | NESTED);
      putBytes(writer, VALUE, bytes);
      writer.end(start);
    }
  },
  read(attribute, value) {
    if (attribute.type === BITWISE.length) {
      const length = u32Of(attribute);
      return length > 0 && length <= 64;
    }
    const inner = attribute.nested();
    if (!inner.next() || inner.type !== VALUE || inner.length === 0 || inner.length > 64) return false;
    value[attribute.type === BITWISE.mask ? 'mask' : 'xor'] = new Uint8Array(inner.bytes());
    return !inner.next();
  },
};

/** `NFTA_DYNSET_EXPR`, `NFTA_DYNSET_EXPRESSIONS` */
const DYNSET = { one: 7, list: 10 } as const;

/** The expressions of the elements that a rule adds. */
export const elementExpressions: Part = {
  fields: ['expressions'],
  required: [],
  attributes: Object.values(DYNSET),
  write(writing, { expressions }) {
    if (expressions !== undefined) writing.nested('expressions', expressions, DYNSET);
  },
  read(attribute, value, reading) {
    value['expressions'] = reading.nested(attribute, attribute.type === DYNSET.list);
    return true;
  },
};
