// The words that calls ask for which delete what others have made too.
import { argumentError, checkOptions, findUnknown } from './arguments.js';

const OPTIONS: ReadonlySet<string> = new Set(['confirm', 'signal']);

/**
 * Throws a TypeError unless the options have the words.
 *
 * @param operation of the call, in the error: `ipvs.flush`
 */
export function checkConfirmation(operation: string, words: string, options: { confirm: string }): void {
  checkOptions(operation, options);
  const unknown = findUnknown(options ?? {}, OPTIONS);
  if (unknown) throw argumentError(operation, unknown);
  const confirm = options?.confirm;
  if (confirm === words) return;
  throw argumentError(operation, {
    field: 'confirm',
    value: confirm,
    rule: `must be '${words}'`,
    wrongType: true,
  });
}
