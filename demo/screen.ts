// What a person sees: headings and short lines, at most 80 columns wide. Colour only where it is wanted.
import { performance } from 'node:perf_hooks';
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** In the VM standard output is no terminal; what starts us there says whether ours is one (scripts/demo.mjs). */
const COLOURS = (process.stdout.isTTY || 'FORCE_COLOR' in process.env) && !process.env['NO_COLOR'];
const WIDTH = 78;

/** Colours text, where colours are wanted. */
export function paint(style: Style, text: string): string {
  return COLOURS ? styleText(style, text) : text;
}

/** Prints lines. */
export function say(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** Begins a part. */
export function heading(title: string): void {
  say('', paint('bold', `── ${title} ${'─'.repeat(Math.max(0, WIDTH - title.length - 4))}`), '');
}

/** Prints a sentence or two, wrapped. */
export function explain(text: string): void {
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line.length + word.length + 1 > WIDTH - 2) {
      say(`  ${paint('dim', line)}`);
      line = '';
    }
    line += `${line === '' ? '' : ' '}${word}`;
  }
  say(`  ${paint('dim', line)}`);
}

/** Does something that takes a while, and says how long it took. */
export async function step<Result>(what: string, work: () => Promise<Result> | Result): Promise<Result> {
  process.stdout.write(`  ${what} … `);
  const started = performance.now();
  const result = await work();
  say(paint('dim', `${((performance.now() - started) / 1000).toFixed(1)} s`));
  return result;
}

/** A line that something is as it should be. */
export function good(text: string): void {
  say(`  ${paint('green', '✓')} ${text}`);
}

/** A line that something is not. */
export function bad(text: string): void {
  say(`  ${paint('red', '✗')} ${text}`);
}
