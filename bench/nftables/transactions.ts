// Operations of nftables as prepared transactions for the raw limit, in the arrangement with which the kernel takes the least time:
// Services in transactions of 256; sets of rules with the shortest names, because the kernel reads the names of all sets of the table
// for each new one; their elements addressed by number; the elements of shared sets and maps in one last transaction, in one message for
// as many of them as fit. Layout scalable has few chains, but an element for each endpoint: they are in transactions of 4096. The bytes of
// a message are the library's: what is compared is the arrangement, and the time outside the kernel.

import type { AnonymousSet, Expression } from '../../src/kernel/nftables/expressions/types.js';
import { writeInSteps } from '../../src/kernel/nftables/transaction/write.js';
import type { NewElement, NftablesOperation } from '../../src/kernel/nftables/types.js';
import { HOST_IS_LITTLE } from '../../src/kernel/shared/wire/messages.js';
import { atOnce } from '../../src/kernel/steps.js';
import { elementsOf } from './elements.js';
import type { Pass } from './record.js';

/** Chains of Services in a transaction; the elements of shared sets are not counted. */
const CHAINS = 256;

/**
 * Elements in a transaction that follow few chains. 441 250 endpoints in one transaction take two to four times the CPU time. After many
 * chains, all elements are in one: each transaction with an element that leads to a chain makes the kernel check all chains.
 */
const ELEMENTS = 4096;

/** Gives each set of a rule a name that no set of the table has had, as short as possible. */
export class ShortNames {
  #last = 0;

  /** `_0`, `_1`, … `_z`, `_10`. The underscore is not the first character of any other set. */
  next(): string {
    return `_${(this.#last++).toString(36)}`;
  }
}

type Addition = Extract<NftablesOperation, { do: 'addElements' }> & {
  readonly elements: readonly NewElement[];
};

/** The transactions of a pass, each as messages from the one that begins it to the one that ends it. */
export function transactionsOf(pass: Pass, names: ShortNames): Uint8Array[] {
  const transactions: NftablesOperation[][] = [[]];
  const shared = new Map<
    string,
    { readonly first: NftablesOperation & { readonly do: 'addElements' }; readonly elements: NewElement[] }
  >();
  let chains = 0;
  for (const operation of pass) {
    if (operation.do === 'addElements') {
      const known = shared.get(operation.set.name);
      const elements = elementsOf(operation);
      if (known) for (const element of elements) known.elements.push(element);
      else shared.set(operation.set.name, { first: operation, elements: [...elements] });
      continue;
    }
    if (operation.do === 'addChain' && chains++ === CHAINS) {
      transactions.push([]);
      chains = 1;
    }
    transactions.at(-1)?.push(renamed(operation, names));
  }
  const last = [...shared.values()].map(({ first, elements }) => ({ ...first, elements }));
  // A small change is one transaction, as that of the proxy.
  const [first = [], ...others] = transactions.length > 1 ? [[], last] : piecesOf(last);
  transactions[0]?.push(...first);
  transactions.push(...others);
  return transactions.filter((operations) => operations.length > 0).map(messagesOf);
}

/** Additions in pieces of at most {@link ELEMENTS} elements, in order. */
function piecesOf(additions: readonly Addition[]): Addition[][] {
  const pieces: Addition[][] = [[]];
  let left = ELEMENTS;
  for (const addition of additions) {
    for (let at = 0; at < addition.elements.length; ) {
      if (left === 0) {
        pieces.push([]);
        left = ELEMENTS;
      }
      const elements = addition.elements.slice(at, at + left);
      pieces.at(-1)?.push({ ...addition, elements });
      at += elements.length;
      left -= elements.length;
    }
  }
  return pieces;
}

function renamed(operation: NftablesOperation, names: ShortNames): NftablesOperation {
  if (operation.do !== 'addRule') return operation;
  const { rule } = operation;
  const expressions = rule.expressions.map((expression): Expression => {
    if (expression.kind !== 'lookup' || typeof expression.set === 'string') return expression;
    const set: AnonymousSet = { ...expression.set, name: names.next() };
    return { ...expression, set };
  });
  return { ...operation, rule: { ...rule, expressions } };
}

function messagesOf(operations: readonly NftablesOperation[]): Uint8Array {
  const written = atOnce(writeInSteps(operations, undefined));
  const [invalid] = written.invalid.values();
  if (invalid) throw invalid;
  const bytes = Buffer.concat(written.pieces);
  written.release();
  return bytes;
}

/** Number of messages in transactions, without those that begin and end them. */
export function countMessages(transactions: readonly Uint8Array[]): number {
  let count = 0;
  for (const bytes of transactions) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < bytes.length; at += (view.getUint32(at, HOST_IS_LITTLE) + 3) & ~3) count++;
    count -= 2;
  }
  return count;
}
