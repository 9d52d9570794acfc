// One message of nf_tables that is read.
import { NetlinkError } from '../../errors.js';
import type { ListedAttribute } from '../../shared/types.js';
import { AttributeCursor, type AttributeSource } from '../../shared/wire/attributeCursor.js';
import { nameOf } from '../expressions/formats.js';
import { FAMILIES, NFGEN_HEADER } from '../numbers.js';
import type { TableFamily } from '../types.js';

/** The payload of a message: `struct nfgenmsg`, then attributes. */
export class Reply implements AttributeSource {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly #operation: string;

  /** @param operation names the operation in errors: `nftables.listTables` */
  constructor(payload: Uint8Array, operation: string) {
    this.bytes = payload;
    this.view = new DataView(payload.buffer, payload.byteOffset, payload.length);
    this.#operation = operation;
    if (payload.length < NFGEN_HEADER) {
      throw this.malformed('header', `${payload.length} bytes are too few for struct nfgenmsg`);
    }
  }

  /** The family of the table. */
  get family(): TableFamily {
    const number = this.familyNumber;
    return nameOf(FAMILIES, number) ?? number;
  }

  /** Its number. */
  get familyNumber(): number {
    return this.bytes[0] as number;
  }

  /** The attributes. */
  attributes(): AttributeCursor {
    return new AttributeCursor(this, NFGEN_HEADER, this.bytes.length);
  }

  /** A name that every message of the kind has. */
  required(name: string | undefined, attribute: string): string {
    if (name === undefined) throw this.malformed(attribute, 'is missing');
    return name;
  }

  malformed(attribute: string, reason: string): NetlinkError {
    const kernelMessage = `${attribute}: ${reason}`;
    return new NetlinkError({ code: 'ERR_MALFORMED_REPLY', operation: this.#operation, kernelMessage });
  }
}

/** Keeps an attribute that has no field. */
export function keepAttribute(attribute: AttributeCursor, object: { attributes?: ListedAttribute[] }): void {
  // A copy: the value would keep the whole reply in memory.
  const kept: ListedAttribute = { type: attribute.type, value: new Uint8Array(attribute.bytes()) };
  if (object.attributes) object.attributes.push(kept);
  else object.attributes = [kept];
}

/** The names of flags in a number, and a number for each bit without a name. */
export function flagsIn<Name extends string>(
  sum: number,
  numbers: Readonly<Record<Name, number>>,
): (Name | number)[] {
  const flags: (Name | number)[] = [];
  let rest = sum;
  for (const name in numbers) {
    if (rest & numbers[name]) flags.push(name);
    rest &= ~numbers[name];
  }
  for (let bit = 0; bit < 32; bit++) if (rest & (1 << bit)) flags.push((1 << bit) >>> 0);
  return flags;
}
