// A chart of lines in SVG, as a document that needs no script, font or other file. Pure.
import { element, escapeXml } from './xml.js';

/** A line, with its colour and dashes in {@link STYLE}. */
export interface Line {
  readonly name: string;
  readonly style: string;
  /** In ascending order of x. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** A chart. Its x axis is logarithmic. */
export interface Chart {
  readonly title: string;
  readonly subtitle: string;
  readonly x: {
    readonly title: string;
    /** At least two, in ascending order. */
    readonly marks: readonly (readonly [value: number, text: string])[];
  };
  readonly y: {
    readonly scale: 'logarithmic' | 'linear';
    /** A value at a line of the grid. */
    mark(value: number): string;
    /** A value of a line. */
    value(value: number): string;
  };
  readonly lines: readonly Line[];
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

/** The chart as a document. */
export function lineChart({ title, subtitle, x: { marks, title: xTitle }, y: yAxis, lines }: Chart): string {
  const values = lines.flatMap(({ points }) => points.map(([, y]) => y));
  const grid = (yAxis.scale === 'linear' ? stepsUpTo : decadesAround)(
    Math.max(...values),
    Math.min(...values),
  );
  const axis = yAxis.scale === 'linear' ? linearAxis : logAxis;
  const x = logAxis(marks[0]?.[0] ?? 1, marks.at(-1)?.[0] ?? 1, LEFT + 14, RIGHT - 6);
  const y = axis(grid[0] as number, grid.at(-1) as number, BOTTOM, TOP);
  const inWords = ({ name, points }: Line) =>
    `${name}: ${points.map(([at, value]) => `${yAxis.value(value)} at ${textOf(marks, at)}`).join(', ')}`;
  const parts = [
    element('title', { id: 'title' }, escapeXml(title)),
    element('desc', { id: 'description' }, escapeXml([subtitle, ...lines.map(inWords)].join('. '))),
    element('style', {}, escapeXml(STYLE)),
    element('rect', { class: 'paper', width: WIDTH, height: HEIGHT, rx: 8 }),
    textAt('title', 24, 34, title),
    textAt('faint', 24, 56, subtitle),
    ...grid.flatMap((value) => [
      element('path', { class: 'grid', d: `M${LEFT} ${px(y(value))}H${RIGHT}` }),
      textAt('faint end', LEFT - 10, y(value) + 4, yAxis.mark(value)),
    ]),
    ...marks.flatMap(([value, text]) => [
      element('path', { class: 'grid', d: `M${px(x(value))} ${TOP}V${BOTTOM}` }),
      textAt('faint middle', x(value), BOTTOM + 20, text),
    ]),
    textAt('faint middle', (LEFT + RIGHT) / 2, BOTTOM + 44, xTitle),
    ...lines.map(({ style, points }) =>
      element('path', {
        class: `line ${style}`,
        d: `M${points.map(([at, value]) => `${px(x(at))} ${px(y(value))}`).join('L')}`,
      }),
    ),
    ...labels(lines, y, yAxis.value),
  ];
  const [xmlns, viewBox] = ['http://www.w3.org/2000/svg', `0 0 ${WIDTH} ${HEIGHT}`];
  const root = { xmlns, viewBox, width: WIDTH, height: HEIGHT, role: 'img' };
  return `${element('svg', { ...root, 'aria-labelledby': 'title description' }, `\n${parts.join('\n')}\n`)}\n`;
}

/** The labels at the ends of the lines, each as near to its line as those above it permit. */
function labels(
  lines: readonly Line[],
  y: (value: number) => number,
  text: (value: number) => string,
): string[] {
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
      textAt('', RIGHT + 30, at + 4, `${line.name} ${text(last(line))}`),
    ];
  });
}

const textOf = (marks: Chart['x']['marks'], at: number) =>
  marks.find(([value]) => value === at)?.[1] ?? String(at);

/** Powers of ten around two values. */
function decadesAround(greatest: number, least: number): number[] {
  const first = Math.floor(Math.log10(least) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(greatest) - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
}

/** From 0, at most six steps of 1, 2 or 5 times a power of ten. */
function stepsUpTo(greatest: number): number[] {
  const power = 10 ** Math.floor(Math.log10(greatest / 6));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one * 6 >= greatest) ?? greatest;
  return Array.from({ length: Math.ceil(greatest / step) + 1 }, (_, i) => i * step);
}

/** Coordinates of the values of a logarithmic axis. */
function logAxis(least: number, greatest: number, start: number, end: number): (value: number) => number {
  return (value) => start + (Math.log(value / least) / Math.log(greatest / least)) * (end - start);
}

/** The same of a linear one. */
function linearAxis(least: number, greatest: number, start: number, end: number): (value: number) => number {
  return (value) => start + ((value - least) / (greatest - least)) * (end - start);
}

const px = (value: number) => value.toFixed(1);

function textAt(style: string, x: number, y: number, text: string): string {
  return element('text', { class: style || undefined, x, y }, escapeXml(text));
}
