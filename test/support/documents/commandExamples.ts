// The examples of a document about commands.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../paths.js';
import { codeBlocksOf } from './codeBlocks.js';

/** A command with its documented output. */
export interface Example {
  readonly command: string;
  /** Standard output and standard error. */
  readonly output: string;
  readonly status: number;
}

/**
 * The examples: blocks that begin with `$ command`; the exit status is a last line `exit status N`, otherwise 0. A block
 * whose first line is a comment with a file name, such as `# config.conf`, is the text of that file.
 */
export function examplesOf(path: string): { examples: Example[]; files: ReadonlyMap<string, string> } {
  const examples: Example[] = [];
  const files = new Map<string, string>();
  for (const { text } of codeBlocksOf(path, readFileSync(join(ROOT, path), 'utf8'))) {
    const [first = '', ...lines] = text.split('\n');
    const [, name] = /^# (\S+\.\w+)$/.exec(first) ?? [];
    if (name !== undefined) files.set(name, lines.join('\n'));
    if (!first.startsWith('$ ')) continue;
    const [, status = '0'] = /\nexit status (\d)\n$/.exec(text) ?? [];
    const output = lines.join('\n').replace(/exit status \d\n$/, '');
    examples.push({ command: first.slice(2), output, status: Number(status) });
  }
  return { examples, files };
}
