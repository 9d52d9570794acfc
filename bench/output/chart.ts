// The chart of a scenario: time by number of Services on logarithmic axes, a line for each method. Pure.
import { METHODS } from '../scenarios.js';
import type { Figure, Machine } from '../types.js';
import { type Line, lineChart } from './lineChart.js';
import { machineLine } from './machine.js';
import type { ScenarioFigures } from './table.js';
import { durationText, groupedText, runsText } from './units.js';

/** The methods by their colours. */
const COLOUR_ORDER = ['ours', 'raw', 'rawLibipset', 'rawSingle', 'single', 'toolBatch', 'spawn', 'execFile'];

/** The chart as a document; undefined if a line would have one point only. */
export function scenarioChart(
  { scenario, figures }: ScenarioFigures,
  machine: Machine,
  repetitions: number,
): string | undefined {
  const sizes = [...new Set(figures.map(({ size }) => size.services))].sort((a, b) => a - b);
  if (sizes.length < 2) return undefined;
  const endpoints = [...new Set(figures.map(({ size }) => size.endpoints))].join(' or ');
  return lineChart({
    title: scenario.title,
    subtitle: `Time: median of ${runsText(repetitions)} · ${machineLine(machine)}`,
    x: servicesAxis(sizes, endpoints),
    y: TIME,
    lines: linesOf(figures),
  });
}

/** An axis of numbers of Services. */
export const servicesAxis = (sizes: readonly number[], endpoints: string) => ({
  title: `Services with ${endpoints} endpoints each`,
  marks: sizes.map((size) => [size, groupedText(size)] as const),
});

/** A logarithmic axis of times, in ms. */
export const TIME = {
  scale: 'logarithmic',
  mark: (value: number) => durationText(value, groupedText),
  value: (value: number) => durationText(value),
} as const;

function linesOf(figures: readonly Figure[]): Line[] {
  const lines = METHODS.map(({ name, title }): Line => {
    const own = figures.filter(({ method }) => method === name);
    const estimated = own.some(({ sample }) => sample !== undefined) ? '≈ ' : '';
    const style = `c${COLOUR_ORDER.indexOf(name)}${name === 'ours' ? ' ours' : ''}`;
    return { name: `${estimated}${title}`, style, points: inOrder(own, ({ wall }) => wall.median) };
  });
  const first = inOrder(figures, ({ firstService }) => firstService?.median);
  return [...lines, { name: 'first Service usable', style: 'c0 first', points: first }].filter(
    ({ points }) => points.length > 0,
  );
}

function inOrder(figures: readonly Figure[], time: (figure: Figure) => number | undefined): Line['points'] {
  return figures
    .flatMap((figure) => {
      const value = time(figure);
      // A logarithmic axis has no 0; the clock has nanoseconds.
      return value === undefined ? [] : [[figure.size.services, Math.max(value, 1e-6)] as const];
    })
    .sort(([a], [b]) => a - b);
}
