// The command top: the busiest virtual services, refreshed until the user ends it.

import { escapedControls } from '../../../kernel/errors.js';
import { outputTerminal } from '../../agent/standardStreams.js';
import type { CommandRunner } from '../command.js';
import { type Output, shownLines, textLines } from '../output/output.js';
import { fitted } from '../output/table.js';
import type { Inventory } from './inventory.js';
import { withInventory } from './openInventory.js';
import { openTerminal, type Terminal } from './terminal.js';
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
