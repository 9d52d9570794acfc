// What became of a call with an invalid argument.
import { inspect } from 'node:util';
import { NetlinkError } from '../../../src/kernel/errors.js';

/** The name of the call: `ipvs.add`, or that of an exported function or class. */
const PREFIX = /^[A-Za-z]+(\.\w+)?: /;
/** The words with which a fault begins, behind the path of its field. */
const RULE = /: ([\w.[\]-]+)(?: "(?:[^"\\]|\\.)*")? (?:must|is|excludes|has|needs|means)\b/;

/** How a call was refused: the field that the error names; or how not. */
type Outcome = { readonly field: string } | { readonly accepted: string };

/**
 * Calls a verb, reads what it lists or watches, and returns how the call was refused. Not as a promise if that is known at once: promises
 * cost more than most of the calls do.
 */
export function outcomeOf(call: () => unknown): Outcome | Promise<Outcome> {
  try {
    const value = call();
    if (typeof value !== 'object' || value === null) return fieldOrResult(value);
    return resultOf(value).then(fieldOrResult, outcomeOfError);
  } catch (error) {
    return outcomeOfError(error);
  }
}

function outcomeOfError(error: unknown): Outcome {
  const isOurs = (error instanceof TypeError || error instanceof RangeError) && PREFIX.test(error.message);
  return isOurs ? fieldIn(error.message) : fieldOrResult([error]);
}

/** A call that is not refused has results, or another error. */
function fieldOrResult(result: unknown): Outcome {
  const results = Array.isArray(result) ? (result as unknown[]) : [];
  const error = results.find((each) => each instanceof NetlinkError);
  if (error?.code === 'ERR_INVALID_ARGUMENT') return fieldIn(`${error.operation}: ${error.kernelMessage}`);
  return {
    accepted:
      error instanceof Error
        ? String(error.stack?.split('\n').slice(0, 3).join(' '))
        : inspect(result, { depth: 1 }).slice(0, 80),
  };
}

function fieldIn(message: string): Outcome {
  const field = RULE.exec(message)?.[1];
  return field === undefined ? { accepted: `names no field: ${message}` } : { field };
}

async function resultOf(value: object): Promise<unknown> {
  if ('toArray' in value) return (value as { toArray(): Promise<unknown[]> }).toArray();
  if (!(Symbol.asyncIterator in value)) return value;
  const iterator = (value as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  const { value: first } = await iterator.next();
  await iterator.return?.();
  return first;
}
