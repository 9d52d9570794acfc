// What statements need of the rule that is read.
import type { Steps } from '../../../../steps.js';
import type { Expression, TableFamily, ValueTypes } from '../../types.js';
import type { Operand } from './operand.js';
import type { Cursor, Token } from './tokens.js';

/** A rule that is read. */
export interface RuleReading {
  readonly cursor: Cursor;
  /** The family of the table. */
  readonly family: TableFamily;
  /** The protocol of the network layer, where it is known. */
  readonly network: 'ip' | 'ip6' | undefined;
  /** Demands that a condition says which protocol of the transport layer the packet has: without one, there may be no ports. */
  demandPorts(token: Token): void;
  /** Indexes of links by their names. */
  readonly links: ReadonlyMap<string, number>;
  /** Adds expressions. */
  add(...expressions: readonly Expression[]): void;
  /** Reads operands that are one key: `ip daddr . tcp dport`. */
  keyAt(): Operand[];
  /** Reads a map, `map @name`, whose data are an operand. `data` is what a map of the rule has. */
  mapAt(parts: readonly Operand[], data: ValueTypes, isInterval?: boolean): Steps<Operand>;
}
