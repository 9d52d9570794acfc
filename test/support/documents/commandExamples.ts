// The examples of a document about commands.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../paths.js';
import { codeBlocksOf } from './codeBlocks.js';

/** A command with its documented output. */
export interface Example {
  readonly command: string;
  /** Standard output and standard error; {@link VARIES} if they depend on the machine. */
  readonly output: string;
  readonly status: number;
  /** Shell commands that make the fault which the example shows: the comment `<!-- fault: … -->` above the block. */
  readonly fault?: string;
  /** Those that undo it: the comment `<!-- repair: … -->`. */
  readonly repair?: string;
  /** Other words in comments above the block, for example the mode in which the example runs. */
  readonly marks: readonly string[];
}

/** The output of an example that depends on the machine: it is not compared. */
export const VARIES = '…\n';

/**
 * The examples: blocks that begin with `$ command`; the exit status is a last line `exit status N`, otherwise 0. A block
 * whose first line is a comment with a file name, such as `# config.conf`, is the text of that file. Comments of the document directly
 * above a block belong to it.
 */
export function examplesOf(path: string): { examples: Example[]; files: ReadonlyMap<string, string> } {
  const examples: Example[] = [];
  const files = new Map<string, string>();
  const document = readFileSync(join(ROOT, path), 'utf8');
  for (const { name: place, text } of codeBlocksOf(path, document)) {
    const [first = '', ...lines] = text.split('\n');
    const [, name] = /^# (\S+\.\w+)$/.exec(first) ?? [];
    if (name !== undefined) files.set(name, lines.join('\n'));
    if (!first.startsWith('$ ')) continue;
    const [, status = '0'] = /\nexit status (\d)\n$/.exec(text) ?? [];
    const output = lines.join('\n').replace(/exit status \d\n$/, '');
    const above = commentsAbove(document, Number(place.split(':').at(-1)));
    examples.push({ command: first.slice(2), output, status: Number(status), ...above });
  }
  return { examples, files };
}

/** The comments in the lines directly above a line, which is counted from 1. */
function commentsAbove(document: string, line: number): Pick<Example, 'fault' | 'repair' | 'marks'> {
  const lines = document.split('\n').slice(0, line - 1);
  const comments: string[] = [];
  for (;;) {
    const comment = /^<!-- (.*) -->$/.exec(lines.pop() ?? '')?.[1];
    if (comment === undefined) break;
    comments.push(comment);
  }
  const of = (word: string) =>
    comments.find((comment) => comment.startsWith(`${word}: `))?.slice(word.length + 2);
  const [fault, repair] = [of('fault'), of('repair')];
  const marks = comments.filter((comment) => !/^(fault|repair): /.test(comment));
  return { marks, ...(fault !== undefined && { fault }), ...(repair !== undefined && { repair }) };
}
