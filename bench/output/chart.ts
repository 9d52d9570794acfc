// The chart of a scenario in SVG: time by number of Services on logarithmic axes, a line for each method. Pure.
import { METHODS } from '../scenarios.js';
import type { Figure, Machine } from '../types.js';
import { machineLine } from './machine.js';
import type { ScenarioFigures } from './table.js';
import { durationText, groupedText, runsText } from './units.js';
import { element, escapeXml } from './xml.js';

/** A line, with its colour and dashes in {@link STYLE}. */
interface Line {
  readonly name: string;
  readonly style: string;
  /** Number of Services and time in ms, in ascending order of the former. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** Size of the picture, and the edges of the area of the lines, in px. */
const [WIDTH, HEIGHT] = [860, 470];
const [LEFT, RIGHT, TOP, BOTTOM] = [78, 560, 84, 412];
/** Least distance of labels, in px. */
const GAP = 19;

/**
 * Colours that people with any colour vision can tell apart, after Okabe and Ito (https://jfly.uni-koeln.de/color/), for light and
 * dark mode. The labels and the dashes tell the lines apart without colours.
 */
const COLOURS: readonly (readonly [light: string, dark: string, dashes?: string])[] = [
  ['#0072b2', '#56b4e9'],
  ['#1f2328', '#ffffff', '2 5'],
  ['#6e7781', '#9198a1', '2 5'],
  ['#d55e00', '#ff8c42'],
  ['#00835f', '#2fcb9d', '12 4'],
  ['#b0528a', '#e59ac6', '8 3 2 3'],
  ['#8a6a00', '#e0bb3c', '8 5'],
  ['#7a4a2b', '#d0a58a', '3 3'],
];
const COLOUR_ORDER = ['ours', 'raw', 'rawLibipset', 'rawSingle', 'single', 'toolBatch', 'spawn', 'execFile'];

const STYLE = `
text { font: 13px system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif; fill: #1f2328 }
.title { font-size: 17px; font-weight: 600 } .faint { fill: #59636e } .end { text-anchor: end } .middle { text-anchor: middle }
.paper { fill: #fff } .grid { stroke: #e4e8ec } path { fill: none } .line { stroke-width: 2 } .ours { stroke-width: 3.5 }
${COLOURS.map(([light, , dashes = 'none'], i) => `.c${i} { stroke: ${light} } .line.c${i} { stroke-dasharray: ${dashes} }`).join('\n')}
.line.first { stroke-width: 1.5; stroke-dasharray: 1 4 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .faint { fill: #9198a1 } .paper { fill: #0d1117 } .grid { stroke: #262c34 }
${COLOURS.map(([, dark], i) => `.c${i} { stroke: ${dark} }`).join('\n')}
}
`;

/** The chart as a document that needs no script, font or other file; undefined if a line would have one point only. */
export function scenarioChart(
  { scenario, figures }: ScenarioFigures,
  machine: Machine,
  repetitions: number,
): string | undefined {
  const sizes = [...new Set(figures.map(({ size }) => size.services))].sort((a, b) => a - b);
  if (sizes.length < 2) return undefined;
  const lines = linesOf(figures);
  const endpoints = [...new Set(figures.map(({ size }) => size.endpoints))].join(' or ');
  const subtitle = `Time: median of ${runsText(repetitions)} · ${machineLine(machine)}`;
  const times = lines.flatMap(({ points }) => points.map(([, y]) => y));
  const decades = decadesAround(Math.min(...times), Math.max(...times));
  const x = logAxis(sizes[0] as number, sizes.at(-1) as number, LEFT + 14, RIGHT - 6);
  const y = logAxis(decades[0] as number, decades.at(-1) as number, BOTTOM, TOP);
  const parts = [
    element('title', { id: 'title' }, escapeXml(scenario.title)),
    element('desc', { id: 'description' }, escapeXml([subtitle, ...lines.map(inWords)].join('. '))),
    element('style', {}, escapeXml(STYLE)),
    element('rect', { class: 'paper', width: WIDTH, height: HEIGHT, rx: 8 }),
    textAt('title', 24, 34, scenario.title),
    textAt('faint', 24, 56, subtitle),
    ...decades.flatMap((value) => [
      element('path', { class: 'grid', d: `M${LEFT} ${px(y(value))}H${RIGHT}` }),
      textAt('faint end', LEFT - 10, y(value) + 4, durationText(value, groupedText)),
    ]),
    ...sizes.flatMap((value) => [
      element('path', { class: 'grid', d: `M${px(x(value))} ${TOP}V${BOTTOM}` }),
      textAt('faint middle', x(value), BOTTOM + 20, groupedText(value)),
    ]),
    textAt('faint middle', (LEFT + RIGHT) / 2, BOTTOM + 44, `Services with ${endpoints} endpoints each`),
    ...lines.map(({ style, points }) =>
      element('path', {
        class: `line ${style}`,
        d: `M${points.map(([at, time]) => `${px(x(at))} ${px(y(time))}`).join('L')}`,
      }),
    ),
    ...labels(lines, y),
  ];
  const [xmlns, viewBox] = ['http://www.w3.org/2000/svg', `0 0 ${WIDTH} ${HEIGHT}`];
  const root = { xmlns, viewBox, width: WIDTH, height: HEIGHT, role: 'img' };
  return `${element('svg', { ...root, 'aria-labelledby': 'title description' }, `\n${parts.join('\n')}\n`)}\n`;
}

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

/** The labels at the ends of the lines, each as near to its line as those above it permit. */
function labels(lines: readonly Line[], y: (value: number) => number): string[] {
  const last = ({ points }: Line) => points.at(-1)?.[1] ?? 0;
  const sorted = lines.toSorted((a, b) => last(b) - last(a));
  let next = TOP;
  return sorted.flatMap((line, i) => {
    const lowest = BOTTOM - (sorted.length - 1 - i) * GAP;
    const at = Math.max(next, Math.min(lowest, y(last(line))));
    next = at + GAP;
    const leader = `M${RIGHT} ${px(y(last(line)))}L${RIGHT + 24} ${px(at)}`;
    return [
      element('path', { class: line.style, d: leader }),
      textAt('', RIGHT + 30, at + 4, `${line.name} ${durationText(last(line))}`),
    ];
  });
}

/** A line in words, for readers who do not see it. */
function inWords({ name, points }: Line): string {
  return `${name}: ${points.map(([at, time]) => `${durationText(time)} at ${groupedText(at)}`).join(', ')}`;
}

/** Powers of ten around two values. */
function decadesAround(least: number, greatest: number): number[] {
  const first = Math.floor(Math.log10(least) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(greatest) - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
}

/** Coordinates of the values of a logarithmic axis. */
function logAxis(least: number, greatest: number, start: number, end: number): (value: number) => number {
  return (value) => start + (Math.log(value / least) / Math.log(greatest / least)) * (end - start);
}

const px = (value: number) => value.toFixed(1);

function textAt(style: string, x: number, y: number, text: string): string {
  return element('text', { class: style || undefined, x, y }, escapeXml(text));
}
