// A rule while it is read: its expressions so far, and what they say of the packet.
import type { Expression, NewElement, SetShape, TableFamily } from '../../types.js';
import {
  conditionOf,
  ipOf,
  isMet,
  type Known,
  knownOf,
  learned,
  learnedOfSet,
  type Need,
  PROTOCOL_KEYS,
} from '../known.js';
import type { Operand } from './operand.js';
import { type Cursor, type Token, Unreadable } from './tokens.js';

/** What a rule refers to. */
export interface RuleSurroundings {
  /** The family of the table. */
  readonly family: TableFamily;
  /** What the elements of a set of the table are; undefined if there is no such set. */
  readonly shapeOf: (name: string) => SetShape | undefined;
  /** Indexes of links by their names. */
  readonly links: ReadonlyMap<string, number>;
}

/** A rule that is read. */
export class RuleReading implements RuleSurroundings {
  /** Of a rule in parts, that of the current part. */
  cursor: Cursor;
  readonly family: TableFamily;
  readonly shapeOf: RuleSurroundings['shapeOf'];
  readonly links: RuleSurroundings['links'];
  readonly expressions: Expression[] = [];
  #known: Known;
  #hasTransport = false;

  constructor(cursor: Cursor, { family, shapeOf, links }: RuleSurroundings) {
    this.cursor = cursor;
    this.family = family;
    this.shapeOf = shapeOf;
    this.links = links;
    this.#known = knownOf(family);
  }

  /** The protocol of the network layer, where it is known. */
  get network(): 'ip' | 'ip6' | undefined {
    return ipOf(this.#known);
  }

  /** Adds expressions. */
  add(...expressions: readonly Expression[]): void {
    for (const expression of expressions) this.expressions.push(expression);
  }

  /** Adds the conditions that a packet must pass to be so. */
  demand(needs: readonly Need[], token: Token): void {
    for (const need of needs) {
      if (this.#known.network === 'arp' && need.layer === 'transport')
        throw new Unreadable('must be of packets of arp', token);
      if (need.layer === 'transport') this.#hasTransport = true;
      const met = isMet(need, this.#known);
      if (met === false) throw new Unreadable(this.#contradiction(need), token);
      if (met) continue;
      const condition = conditionOf(need, this.family, this.#known);
      if (!condition) throw new Unreadable(`must be of packets of ${this.family}`, token);
      this.add(...condition);
      this.#known = { ...this.#known, [need.layer]: knownBy(need) };
    }
  }

  /** Demands that a condition says which protocol of the transport layer the packet has: without one, there may be no ports. */
  demandPorts(token: Token): void {
    if (!this.#hasTransport)
      throw new Unreadable('must be behind a condition of the protocol: `meta l4proto tcp`', token);
  }

  /** Notes that a value is compared: of the protocol, one is enough for ports. */
  noteTransport({ text, isMasked }: Operand): void {
    if (PROTOCOL_KEYS.has(text) && !isMasked) this.#hasTransport = true;
  }

  /** Notes that a value, by its text, is equal to data. */
  learn(text: string, data: Uint8Array): void {
    this.#known = learned(this.#known, this.family, text, data);
  }

  /** Notes that a set of the rule has a value. */
  learnOfSet(text: string, elements: readonly NewElement[]): void {
    this.#known = learnedOfSet(this.#known, text, elements);
  }

  #contradiction({ layer }: Need): string {
    const { network, transport } = this.#known;
    if (network === 'several' || transport === 'several')
      return 'must be of packets of one protocol: the rule says that there may be several';
    if (layer === 'network') return `must be of packets of ${network}`;
    if (layer === 'vlan')
      return 'must be of frames with one tag: others have such a field elsewhere, or none';
    return layer === 'transport'
      ? `must be of packets of protocol ${transport}`
      : 'must be of messages of another type: this one has no such field';
  }
}

/** What is known of a packet that is so. */
function knownBy(need: Need): string | number | readonly number[] | true {
  if (need.layer === 'message') return need.types;
  return need.layer === 'network' ? need.network : need.layer === 'transport' ? need.protocol : true;
}
