// The progress of a benchmark: a bar with the time left on a terminal, or a line for each figure. Its output is injected.
import { USUAL_COLUMNS, wrapped } from '../../src/command/config/wrap.js';
import { METHODS, SCENARIOS } from '../scenarios.js';
import type { BenchEvents, Step } from '../types.js';
import { sizeText } from './table.js';
import { spanText } from './units.js';

/** The form of the progress. */
export type ProgressForm = 'bar' | 'lines' | 'none';

/** The output of the progress. */
export interface ProgressOutput {
  /** Columns of the terminal. */
  columns(): number;
  write(text: string): void;
  /** Time from any fixed moment, in ms. */
  now(): number;
}

/** How far a benchmark is. */
export interface ProgressState {
  /** From 0 to 1. */
  readonly share: number;
  /** In ms. */
  readonly elapsed: number;
  /** In ms; undefined while it is unknown. */
  readonly left: number | undefined;
  readonly step: string;
}

/** Width of the bar, in columns. */
const BAR = 24;
const CLEAR_LINE = '\r\u001b[K';

/** The bar with the share done, the times and the step, in at most this number of columns. */
export function progressBar({ share, elapsed, left, step }: ProgressState, columns: number): string {
  const full = Math.round(share * BAR);
  const bar = `${'█'.repeat(full)}${'░'.repeat(BAR - full)}`;
  const percent = `${String(Math.floor(share * 100)).padStart(3)} %`;
  const times = left === undefined ? spanText(elapsed) : `${spanText(elapsed)}, ${spanText(left)} left`;
  const line = `${bar} ${percent}  ${times}  ${step}`;
  return line.length <= columns ? line : `${line.slice(0, Math.max(0, columns - 1))}…`;
}

/** `Full programming of a node, 1000 x 10, tools' batch modes`, and the run if it is not the warm-up. */
function stepText({ scenario, method, size, repetition }: Step): string {
  const what = SCENARIOS.find(({ name }) => name === scenario)?.title ?? scenario;
  const by = METHODS.find(({ name }) => name === method)?.title ?? method;
  return `${what}, ${sizeText(size)}, ${by}, ${repetition === 0 ? 'warm-up' : `run ${repetition}`}`;
}

/** Shows the progress of a benchmark. */
export class Progress implements BenchEvents {
  readonly #form: ProgressForm;
  readonly #output: ProgressOutput;
  readonly #weights = new Map<string, number>();
  #began = 0;
  #total = 0;
  #done = 0;
  /** Share of the last line, in steps. */
  #shown = -1;

  constructor(form: ProgressForm, output: ProgressOutput) {
    this.#form = form;
    this.#output = output;
    this.#began = output.now();
  }

  planned(steps: Parameters<NonNullable<BenchEvents['planned']>>[0]): void {
    for (const step of steps) {
      this.#weights.set(keyOf(step), step.weight);
      this.#total += step.weight;
    }
    this.#began = this.#output.now();
  }

  started(step: Step): void {
    if (this.#form === 'bar') this.#draw(stepText(step));
    else if (this.#form === 'lines') this.#announce(step);
  }

  ended(step: Step): void {
    this.#done += this.#weights.get(keyOf(step)) ?? 0;
    this.#weights.delete(keyOf(step));
    if (this.#form === 'bar') this.#draw(stepText(step));
  }

  /** Removes the bar. */
  close(): void {
    if (this.#form === 'bar') this.#output.write(CLEAR_LINE);
  }

  /** How far the benchmark is. */
  state(step: string): ProgressState {
    const share = this.#total === 0 ? 0 : Math.min(1, this.#done / this.#total);
    const elapsed = this.#output.now() - this.#began;
    return { share, elapsed, left: share === 0 ? undefined : (elapsed * (1 - share)) / share, step };
  }

  #draw(step: string): void {
    this.#output.write(`${CLEAR_LINE}${progressBar(this.state(step), this.#output.columns())}`);
  }

  /** A line for each twentieth. */
  #announce(step: Step): void {
    const { share, elapsed, left } = this.state('');
    const shown = Math.floor(share * LINES);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const times = left === undefined ? '' : `, ${spanText(left)} left`;
    const line = `${Math.floor(share * 100)} %, ${spanText(elapsed)}${times}: ${stepText(step)}`;
    for (const part of wrapped(line, USUAL_COLUMNS, 2)) this.#output.write(`${part}\n`);
  }
}

/** Lines without a terminal, at most. */
const LINES = 20;

function keyOf({ scenario, method, size, repetition }: Step): string {
  return `${scenario} ${method} ${sizeText(size)} ${repetition}`;
}
