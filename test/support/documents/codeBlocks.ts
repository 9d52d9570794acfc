// The code blocks of the documents.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../paths.js';

/** A fenced code block. */
export interface CodeBlock {
  /** `README.md:110`: the line of the fence. */
  readonly name: string;
  /** `ts`, `sh`; empty if it has none. */
  readonly language: string;
  /** Whether a test runs it: the word `run` after the language. */
  readonly runs: boolean;
  readonly text: string;
}

const FENCE = /^( *)```(\w*)([^\n]*)\n([\s\S]*?)^\1```$/gm;

/** The paths of the documents of the repository, but for the API reports, which are declarations. */
export function documents(): string[] {
  const options = ['-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', ['ls-files', ...options, '*.md', ':!docs/api/*'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return listed.split('\0').filter((path) => path !== '');
}

/** Every code block of every document. */
export function codeBlocks(): CodeBlock[] {
  return documents().flatMap((path) => codeBlocksOf(path, readFileSync(join(ROOT, path), 'utf8')));
}

/** The code blocks of one document. */
export function codeBlocksOf(path: string, document: string): CodeBlock[] {
  return [...document.matchAll(FENCE)].map((match) => {
    const [, indent = '', language = '', words = '', text = ''] = match;
    const line = document.slice(0, match.index).split('\n').length;
    return {
      name: `${path}:${line}`,
      language,
      runs: words.trim().split(/\s+/).includes('run'),
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    };
  });
}
