// A rule while it is printed: its registers, what is known of the packet, and its statements.
import type { Element, Rule } from '../../types.js';
import { ipOf, type Need } from '../known.js';
import type { SetContent } from '../sets.js';
import { Conditions } from './conditions.js';
import { value } from './loaded.js';
import { type Loaded, Registers } from './registers.js';

/** What rules refer to. */
export interface Surroundings {
  /** Finds a set of the table of the rule. */
  readonly find: (name: string) => SetContent | undefined;
  /** Names of links by their indexes. */
  readonly links: ReadonlyMap<number, string>;
  /** Texts of sets of the rule that are written already, by their elements. Others are written with the rule, at once. */
  readonly written?: ReadonlyMap<readonly Element[], string>;
}

/** A rule that is printed. */
export class PrintedRule {
  readonly family: Rule['family'];
  readonly surroundings: Surroundings;
  readonly registers = new Registers();
  readonly conditions: Conditions;
  #statements: (string | undefined)[] = [];

  constructor(family: Rule['family'], surroundings: Surroundings) {
    this.family = family;
    this.surroundings = surroundings;
    this.conditions = new Conditions(family);
  }

  /** The protocol of the network layer, if it is known. */
  get network(): 'ip' | 'ip6' | undefined {
    return ipOf(this.conditions.known);
  }

  /** The statements that a reader would not add. */
  get statements(): string[] {
    return this.#statements.filter((statement) => statement !== undefined);
  }

  /** Adds a statement. */
  add(text: string): void {
    this.#statements.push(text);
  }

  /** Notes that the next statement compares a value, by its text. */
  learn(text: string, data: Uint8Array): void {
    this.conditions.learn(text, data, this.#statements.length);
  }

  /** Leaves out the statements that the needs of the next one imply. */
  leaveOut(needs: readonly Need[] = []): void {
    for (const index of this.conditions.implied(needs)) this.#statements[index] = undefined;
  }

  /** Puts a value into a register, made of what was there if it is `of` another one. */
  load(register: number, loaded: Loaded, of?: Loaded): true {
    this.registers.load(register, loaded, of);
    return true;
  }

  /** What another value is made of. */
  made(register: number): Loaded {
    return this.registers.at(register) ?? value(`[register ${register}]`, 'number');
  }

  /** The value that a statement uses. */
  source(register: number): Loaded {
    return this.used(this.made(register));
  }

  /** A value, which a statement uses. */
  used(loaded: Loaded): Loaded {
    this.leaveOut(loaded.needs);
    return this.registers.use(loaded);
  }
}
