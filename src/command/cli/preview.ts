// Computes the operations of a full pass, for plan and diff: in the mode of the node, and with a time limit.
import { AnswerLimit } from './answerLimit.js';
import type { Invocation } from './command.js';
import { withModeOfNode } from './modeOfNode.js';
import type { Preview } from './passes.js';

/** Computes the operations, and shows them. Resolves to the exit status. */
export async function preview(
  { flags, options }: Pick<Invocation, 'flags' | 'options'>,
  show: (preview: Preview) => void,
): Promise<number> {
  const command = await withModeOfNode(flags);
  const { run } = await import('./run.js');
  const limit = new AnswerLimit(options['timeout'] as number);
  return run(command, new AbortController().signal, show, limit);
}
