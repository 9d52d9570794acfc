// The command top: the busiest virtual services, refreshed until the user ends it.
import { escapedControls } from '../../errors.js';
import { openIpvs } from '../../kernel/ipvs/index.js';
import type { Ipvs, VirtualServiceState } from '../../kernel/ipvs/types.js';
import { AnswerLimit } from '../answerLimit.js';
import type { CommandRunner } from '../command.js';
import { type Output, shownLines } from '../output/output.js';
import { fitted } from '../output/table.js';
import type { ServiceNames } from './names.js';
import { readNames } from './readNames.js';
import { servicesReport } from './report.js';
import { noteNames } from './services.js';
import { matching, serviceLines } from './table.js';
import { openTerminal, type Terminal } from './terminal.js';
import { lastLine, ORDERS, type Order, orderOfKey, sorted, titleLine } from './topScreen.js';
import { requireVirtualServices } from './virtualServices.js';

/** `top`. */
export const runTop: CommandRunner = async ({ args, options, flags, output }) => {
  await requireVirtualServices(flags);
  const read = await readNames(flags, new AnswerLimit(Number(options['timeout'])));
  noteNames(read, output);
  const order = ORDERS.find((known) => known === options['sort']) ?? 'rate';
  const interval = Number(options['interval']);
  const once = options['once'] === true;
  const live = process.stdout.isTTY === true && !once;
  const count = once
    ? 1
    : ((options['count'] as number | undefined) ?? (live ? Number.POSITIVE_INFINITY : 1));
  const ipvs = await openIpvs();
  const parts = { ipvs, names: read.names, texts: args, interval, order, count };
  const terminal = live ? openTerminal() : undefined;
  try {
    await showTop(parts, terminal ? { terminal } : { output });
  } finally {
    terminal?.close();
    await ipvs.close();
  }
  return 0;
};

/** The parts of the view. */
export interface TopParts {
  readonly ipvs: Pick<Ipvs, 'list'>;
  readonly names: ServiceNames;
  readonly texts: readonly string[];
  /** Time between two listings, in s. */
  readonly interval: number;
  readonly order: Order;
  /** Number of lists to show. */
  readonly count: number;
}

/** A terminal, or an output of which the lists are printed one after the other. */
export type TopTarget = { readonly terminal: Terminal } | { readonly output: Output };

/** Shows lists until their number is reached or the user quits. */
export async function showTop(parts: TopParts, target: TopTarget): Promise<void> {
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
class TopView {
  readonly #parts: TopParts;
  readonly #target: TopTarget;
  #order: Order;
  #before: Listed | undefined;
  #after: Listed = { at: 0, services: [] };

  constructor(parts: TopParts, target: TopTarget) {
    this.#parts = parts;
    this.#target = target;
    this.#order = parts.order;
  }

  async read(): Promise<void> {
    this.#before = this.#after.at === 0 ? undefined : this.#after;
    this.#after = { at: performance.now(), services: await this.#parts.ipvs.list() };
  }

  /** Waits for the interval, and handles keys. Resolves to false if the user quits. */
  async pause(): Promise<boolean> {
    const end = performance.now() + this.#parts.interval * 1000;
    const terminal = 'terminal' in this.#target ? this.#target.terminal : NO_KEYS;
    for (let left = end - performance.now(); left > 0; left = end - performance.now()) {
      const event = await terminal.next(left);
      if (event === 'quit') return false;
      if (event === 'timeout') return true;
      if (event !== 'resized') this.#order = orderOfKey(event) ?? this.#order;
      this.draw();
    }
    return true;
  }

  draw(): void {
    const { names, texts, interval } = this.#parts;
    const { services: after, at } = this.#after;
    const seconds = this.#before ? (at - this.#before.at) / 1000 : 0;
    const sample = { before: this.#before?.services, after, interval: seconds };
    const services = sorted(matching(servicesReport(sample, names).virtualServices, texts), this.#order);
    if ('output' in this.#target) {
      const { style, write } = this.#target.output;
      const lines = serviceLines(services, { wide: false, realServers: false, style });
      write(shownLines([titleLine(services, this.#order), ...lines], style));
      return;
    }
    const { columns, rows, style, show } = this.#target.terminal;
    const table = serviceLines(services, {
      wide: columns() >= WIDE,
      realServers: false,
      style: (_, text) => text,
    });
    const lines = [titleLine(services, this.#order), '', ...table].map((line) =>
      fitted(escapedControls(line), columns()),
    );
    const [title = '', gap = '', headings = '', ...body] = lines.slice(0, Math.max(0, rows() - 1));
    show(
      [title, gap, style('heading', headings), ...body],
      style('faint', fitted(lastLine(interval), columns())),
    );
  }
}

/** Columns of a terminal on which packets and bytes are shown. */
const WIDE = 150;

interface Listed {
  /** Monotonic time, in ms. */
  readonly at: number;
  readonly services: readonly VirtualServiceState[];
}

/** A target without keys. */
const NO_KEYS: Pick<Terminal, 'next'> = {
  next: (milliseconds) => new Promise((resolve) => setTimeout(() => resolve('timeout'), milliseconds)),
};
