// Prints headings and short lines, at most 80 columns wide, in colour if enabled.
import { performance } from 'node:perf_hooks';
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** In the VM, standard output is not a terminal; scripts/demo.mjs sets FORCE_COLOR if its own is one. */
const COLOURS = (process.stdout.isTTY || 'FORCE_COLOR' in process.env) && !process.env['NO_COLOR'];
const WIDTH = 78;

/** Colours text, if colours are enabled. */
export function paint(style: Style, text: string): string {
  return COLOURS ? styleText(style, text) : text;
}

/** Prints lines. */
export function say(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** Prints the heading of a part. */
export function heading(title: string): void {
  say('', paint('bold', `── ${title} ${'─'.repeat(Math.max(0, WIDTH - title.length - 4))}`), '');
}

/** Prints wrapped sentences. */
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

/** Runs a step, and prints its duration. */
export async function step<Result>(what: string, work: () => Promise<Result> | Result): Promise<Result> {
  process.stdout.write(`  ${what} … `);
  const started = performance.now();
  const result = await work();
  say(paint('dim', `${((performance.now() - started) / 1000).toFixed(1)} s`));
  return result;
}

/** Prints a success. */
export function good(text: string): void {
  say(`  ${paint('green', '✓')} ${text}`);
}

/** Prints a failure. */
export function bad(text: string): void {
  say(`  ${paint('red', '✗')} ${text}`);
}
