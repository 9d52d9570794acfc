// The command top: the busiest virtual services, refreshed until the user ends it.

import { escapedControls } from '../../../kernel/errors.js';
import { outputTerminal } from '../../agent/standardStreams.js';
import type { CommandRunner } from '../command.js';
import { hasColours, type Style, styleFor } from '../output/colours.js';
import { type Output, shownLines, textLines } from '../output/output.js';
import { fitted } from '../output/table.js';
import type { Inventory } from './inventory.js';
import { withInventory } from './openInventory.js';
import { lastLine, ORDERS, type Order, orderOfKey } from './topScreen.js';

/** `top`. */
export const runTop: CommandRunner = (invocation) => {
  const { options, output } = invocation;
  const wanted = ORDERS.find((known) => known === options['sort']);
  const interval = Number(options['interval']);
  const once = options['once'] === true;
  const live = outputTerminal() !== undefined && !once;
  const count = once
    ? 1
    : ((options['count'] as number | undefined) ?? (live ? Number.POSITIVE_INFINITY : 1));
  return withInventory(invocation, 'frontends', async (inventory) => {
    // The first of those that the listing has: new connections, otherwise active ones.
    const order = wanted ?? inventory.orders[0] ?? 'name';
    if (!inventory.orders.includes(order)) {
      const known = inventory.orders.join(', ');
      throw new Error(`--sort ${order}: these numbers are not counted on this node; the orders are ${known}`);
    }
    const terminal = live ? openTerminal() : undefined;
    try {
      await showTop({ inventory, interval, order, count }, terminal ? { terminal } : { output });
    } finally {
      terminal?.close();
    }
  });
};

/** The parts of the view. */
export interface TopParts<Listing> {
  readonly inventory: Inventory<Listing>;
  /** Time between two listings, in s. */
  readonly interval: number;
  readonly order: Order;
  /** Number of lists to show. */
  readonly count: number;
}

/** A terminal, or an output of which the lists are printed one after the other. */
export type TopTarget = { readonly terminal: Terminal } | { readonly output: Output };

/** Shows lists until their number is reached or the user quits. */
export async function showTop<Listing>(parts: TopParts<Listing>, target: TopTarget): Promise<void> {
  const view = new TopView(parts, target);
  // The first list has the kernel's estimates of the rates.
  await view.read();
  if ('terminal' in target) view.draw();
  for (let shown = 0; shown < parts.count; shown++) {
    if (!(await view.pause())) return;
    await view.read();
    view.draw();
  }
}

/** The last two listings, and the order of their list. */
class TopView<Listing> {
  readonly #parts: TopParts<Listing>;
  readonly #target: TopTarget;
  #order: Order;
  #before: Listed<Listing> | undefined;
  #after: Listed<Listing> | undefined;

  constructor(parts: TopParts<Listing>, target: TopTarget) {
    this.#parts = parts;
    this.#target = target;
    this.#order = parts.order;
  }

  async read(): Promise<void> {
    this.#before = this.#after;
    this.#after = { at: performance.now(), listing: await this.#parts.inventory.list() };
  }

  /** Waits for the interval, and handles keys. Resolves to false if the user quits. */
  async pause(): Promise<boolean> {
    const end = performance.now() + this.#parts.interval * 1000;
    const terminal = 'terminal' in this.#target ? this.#target.terminal : NO_KEYS;
    for (let left = end - performance.now(); left > 0; left = end - performance.now()) {
      const event = await terminal.next(left);
      if (event === 'quit') return false;
      if (event === 'timeout') return true;
      const order = event === 'resized' ? undefined : orderOfKey(event);
      if (order && this.#parts.inventory.orders.includes(order)) this.#order = order;
      this.draw();
    }
    return true;
  }

  draw(): void {
    const { inventory, interval } = this.#parts;
    if (!this.#after) return;
    const { listing: after, at } = this.#after;
    const seconds = this.#before ? (at - this.#before.at) / 1000 : 0;
    const sample = { before: this.#before?.listing, after, interval: seconds };
    const report = inventory.report(sample, this.#order);
    if ('output' in this.#target) {
      const { style, columns, write } = this.#target.output;
      const lines = report.lines({ wide: false, realServers: false, columns, style });
      write(shownLines([...textLines(report.title, columns, 2), ...lines], style));
      return;
    }
    const { columns, rows, style, show } = this.#target.terminal;
    const table = report.lines({
      ...{ wide: columns() >= WIDE, realServers: false, style: (_, text) => text },
      ...{ columns: columns(), cutsNames: true },
    });
    const lines = [report.title, '', ...table].map((line) => fitted(escapedControls(line), columns()));
    const [title = '', gap = '', headings = '', ...body] = lines.slice(0, Math.max(0, rows() - 1));
    show(
      [title, gap, style('heading', headings), ...body],
      style('faint', fitted(lastLine(interval, inventory.orders), columns())),
    );
  }
}

/** Columns of a terminal on which packets and bytes are shown. */
const WIDE = 150;

interface Listed<Listing> {
  /** Monotonic time, in ms. */
  readonly at: number;
  readonly listing: Listing;
}

/** A target without keys. */
const NO_KEYS: Pick<Terminal, 'next'> = {
  next: (milliseconds) => new Promise((resolve) => setTimeout(() => resolve('timeout'), milliseconds)),
};

// The terminal of top: an alternate screen, single keys, and changes of its size.

/** The end of a wait: the key that was pressed, or the reason. */
export type TerminalEvent = 'quit' | 'timeout' | 'resized' | (string & {});

/** A terminal. */
export interface Terminal {
  readonly style: Style;
  columns(): number;
  rows(): number;
  /** Draws lines from the top, and one in the last line. */
  show(lines: readonly string[], last: string): void;
  /** Waits for a key or a change of the size, for some ms at most. */
  next(milliseconds: number): Promise<TerminalEvent>;
  /** Restores the screen and the mode of the keys. */
  close(): void;
}

/** The streams of a terminal. */
interface TerminalStreams {
  readonly input: Pick<NodeJS.ReadStream, 'isTTY' | 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>;
  readonly output: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows' | 'write' | 'on' | 'off'>;
}

// Escape sequences of ECMA-48 and xterm, which every terminal of Linux has.
const ALTERNATE_SCREEN = '\u001b[?1049h\u001b[?25l';
const FORMER_SCREEN = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
const CONTROL_C = '\u0003';

/** Size of a terminal that reports none. */
const USUAL_SIZE = { columns: 80, rows: 24 };

/** Opens the terminal of the process. Ctrl-C and the signals that end a process become `quit`. */
export function openTerminal(
  { input, output }: TerminalStreams = { input: process.stdin, output: process.stdout },
): Terminal {
  /** Events that no one waited for. */
  const waiting: TerminalEvent[] = [];
  let wake: (() => void) | undefined;
  const happened = (event: TerminalEvent) => {
    waiting.push(event);
    wake?.();
  };
  const pressed = (bytes: Buffer | string) => {
    for (const key of String(bytes)) happened(key === 'q' || key === CONTROL_C ? 'quit' : key);
  };
  const resized = () => happened('resized');
  const ended = () => happened('quit');
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  // Standard input may be a file while standard output is a terminal: then there are no keys.
  if (input.isTTY) input.setRawMode(true);
  if (input.isTTY) input.on('data', pressed).resume();
  output.on('resize', resized);
  // Stays after the close: without a listener, the error of a terminal that is gone ends the process.
  output.on('error', ended);
  for (const name of signals) process.on(name, ended);
  output.write(ALTERNATE_SCREEN);
  return {
    style: styleFor(hasColours(output.isTTY === true, process.env)),
    columns: () => output.columns || USUAL_SIZE.columns,
    rows: () => output.rows || USUAL_SIZE.rows,
    show(lines, last) {
      const space = Math.max(0, (output.rows || USUAL_SIZE.rows) - lines.length - 1);
      const text = [...lines, ...Array<string>(space).fill('')].map((line) => `${line}${CLEAR_LINE}\r\n`);
      output.write(`${HOME}${text.join('')}${last}${CLEAR_LINE}${CLEAR_BELOW}`);
    },
    async next(milliseconds) {
      if (waiting.length === 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = undefined;
      }
      return waiting.shift() ?? 'timeout';
    },
    close() {
      if (input.isTTY) input.setRawMode(false);
      input.off('data', pressed).pause();
      output.off('resize', resized);
      for (const name of signals) process.off(name, ended);
      output.write(FORMER_SCREEN);
    },
  };
}
