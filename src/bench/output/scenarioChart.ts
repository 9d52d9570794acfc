// The chart of a scenario: time by number of Services, a line for each method. Pure.
import { OPPONENTS } from '../scenarios.js';
import type { Figure, Machine, OpponentName } from '../types.js';
import type { Chart, ChartLine, ChartPoint } from './lineChart.js';
import { machineLine } from './machine.js';
import type { ScenarioFigures } from './table.js';
import { durationText, groupedText, runsText } from './units.js';

/** Places in the palette. */
const COLOURS: readonly OpponentName[] = [
  'ours',
  'raw',
  'rawLibipset',
  'rawSingle',
  'single',
  'toolBatch',
  'spawn',
  'execFile',
];

const LIMITS: ReadonlySet<OpponentName> = new Set<OpponentName>(['raw', 'rawLibipset']);

/** The chart; undefined if a line would have one point only. */
export function scenarioChart(
  { scenario, figures }: ScenarioFigures,
  machine: Machine,
  repetitions: number,
): Chart | undefined {
  const sizes = [...new Set(figures.map(({ size }) => size.services))].sort((a, b) => a - b);
  if (sizes.length < 2) return undefined;
  const endpoints = [...new Set(figures.map(({ size }) => size.endpoints))].join(' or ');
  return {
    title: scenario.title,
    subtitle: `Time: median of ${runsText(repetitions)}, with the least and the greatest · ${machineLine(machine)}`,
    xTitle: `Services with ${endpoints} endpoints each`,
    lines: [
      ...OPPONENTS.flatMap(({ name, title }) => lineOf(name, title, figures)),
      ...firstServiceLine(figures),
    ],
    xTicks: sizes,
    xText: groupedText,
    yText: (value) => durationText(value),
    yTickText: (value) => durationText(value, groupedText),
  };
}

function lineOf(name: OpponentName, title: string, all: readonly Figure[]): ChartLine[] {
  const figures = all.filter(({ opponent }) => opponent === name);
  if (figures.length === 0) return [];
  const estimate = figures.some(({ sample }) => sample !== undefined);
  const kind = name === 'ours' ? 'ours' : LIMITS.has(name) ? 'limit' : estimate ? 'estimate' : 'opponent';
  const points = figures.map(({ size, wall }) => pointOf(size.services, wall));
  return [
    { name: estimate ? `≈ ${title}` : title, points: inOrder(points), colour: COLOURS.indexOf(name), kind },
  ];
}

function firstServiceLine(all: readonly Figure[]): ChartLine[] {
  const points = all.flatMap(({ size, firstService }) =>
    firstService ? [pointOf(size.services, firstService)] : [],
  );
  const line = { name: 'first Service usable', points: inOrder(points), colour: 0, kind: 'part' } as const;
  return points.length === 0 ? [] : [line];
}

function pointOf(services: number, { min, median, max }: Figure['wall']): ChartPoint {
  return { x: services, y: positive(median), least: positive(min), greatest: positive(max) };
}

/** A logarithmic axis has no 0; the clock has nanoseconds. */
function positive(milliseconds: number): number {
  return Math.max(milliseconds, 1e-6);
}

function inOrder(points: readonly ChartPoint[]): ChartPoint[] {
  return [...points].sort((a, b) => a.x - b.x);
}
