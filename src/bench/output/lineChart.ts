// A chart of lines in SVG: both axes are logarithmic, and each line has its label at its end. Pure.
import { chartStyle, LABEL_CHARACTER, LABEL_SIZE, type Scheme } from './chartStyle.js';
import { labelPlaces } from './labelPlaces.js';
import { decadesAround, decadesOf, type LogScale, logScale } from './logScale.js';
import { marker } from './marker.js';
import { element, escapeXml } from './xml.js';

/** A value of a line with its spread. All numbers are greater than 0. */
export interface ChartPoint {
  readonly x: number;
  readonly y: number;
  readonly least: number;
  readonly greatest: number;
}

/** A line of a chart. */
export interface ChartLine {
  readonly name: string;
  /** In ascending order of x; at least one. */
  readonly points: readonly ChartPoint[];
  /** Place in the palette; it also selects the marker. */
  readonly colour: number;
  /** `ours` is bold, `part` of ours and `limit` dotted, `estimate` dashed. */
  readonly kind: 'ours' | 'part' | 'limit' | 'opponent' | 'estimate';
}

/** A chart. */
export interface Chart {
  readonly title: string;
  readonly subtitle: string;
  readonly xTitle: string;
  readonly lines: readonly ChartLine[];
  /** The values of x that have a label. */
  readonly xTicks: readonly number[];
  readonly xText: (value: number) => string;
  readonly yText: (value: number) => string;
  /** A power of ten on the vertical axis. */
  readonly yTickText: (value: number) => string;
}

/** Size of the picture and of its margins, in px. */
const [WIDTH, HEIGHT] = [860, 470];
const [LEFT, TOP, BOTTOM] = [78, 84, 58];

/** Space from the last point of a line to its label, and least distance of labels, in px. */
const [LABEL_SPACE, LABEL_GAP] = [26, LABEL_SIZE + 6];

/** The chart as an SVG document that needs no script, font or other file. */
export function lineChart(chart: Chart, scheme: Scheme): string {
  const plot = plotOf(chart);
  const root = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    width: WIDTH,
    height: HEIGHT,
    role: 'img',
    'aria-labelledby': 'title description',
  };
  return `${element(
    'svg',
    root,
    '\n',
    [
      element('title', { id: 'title' }, escapeXml(chart.title)),
      element('desc', { id: 'description' }, escapeXml(chartDescription(chart))),
      element('style', {}, escapeXml(chartStyle(scheme))),
      element('rect', { class: 'paper', width: WIDTH, height: HEIGHT, rx: 8 }),
      textAt('title', 24, 34, chart.title),
      textAt('faint', 24, 56, chart.subtitle),
      ...axes(chart, plot),
      ...[...chart.lines]
        .sort((a, b) => LAYERS.indexOf(a.kind) - LAYERS.indexOf(b.kind))
        .flatMap((line) => drawLine(line, plot)),
      ...endLabels(chart, plot),
    ].join('\n'),
    '\n',
  )}\n`;
}

/** The chart in words, for readers who do not see it. */
function chartDescription({ subtitle, xTitle, lines, xText, yText }: Chart): string {
  const series = lines.map(({ name, points }) => {
    return `${name}: ${points.map(({ x, y }) => `${yText(y)} at ${xText(x)}`).join(', ')}.`;
  });
  return [`${subtitle}. Horizontal axis: ${xTitle}. Both axes are logarithmic.`, ...series].join(' ');
}

/** The area of the lines. */
interface Plot {
  readonly x: LogScale;
  readonly y: LogScale;
  readonly right: number;
  readonly bottom: number;
}

function plotOf({ lines, xTicks, yText }: Chart): Plot {
  const longest = Math.max(...lines.map((line) => labelOf(line, yText).join(' ').length));
  const right = WIDTH - LABEL_SPACE - Math.ceil(longest * LABEL_CHARACTER) - 16;
  const bottom = HEIGHT - BOTTOM;
  const points = lines.flatMap(({ points }) => points);
  const xs = [...xTicks, ...points.map(({ x }) => x)];
  return {
    x: logScale([Math.min(...xs), Math.max(...xs)], [LEFT + 14, right - 6]),
    y: logScale(decadesAround(points.flatMap(({ least, greatest }) => [least, greatest])), [bottom, TOP]),
    right,
    bottom,
  };
}

function axes({ xTicks, xTitle, xText, yTickText }: Chart, { x, y, right, bottom }: Plot): string[] {
  return [
    ...decadesOf(y.domain).flatMap((value) => [
      element('path', { class: 'grid', d: `M${LEFT} ${y.at(value).toFixed(1)}H${right}` }),
      textAt('tick faint end', LEFT - 10, y.at(value) + 4, yTickText(value)),
    ]),
    ...xTicks.flatMap((value) => [
      element('path', { class: 'grid', d: `M${x.at(value).toFixed(1)} ${TOP}V${bottom}` }),
      textAt('tick faint middle', x.at(value), bottom + 20, xText(value)),
    ]),
    textAt('faint middle', (LEFT + right) / 2, bottom + 44, xTitle),
  ];
}

function drawLine({ points, colour, kind }: ChartLine, { x, y }: Plot): string[] {
  const at = points.map((point) => `${x.at(point.x).toFixed(1)} ${y.at(point.y).toFixed(1)}`);
  return [
    element('path', { class: `line stroke-${colour} ${kind}`, d: `M${at.join('L')}` }),
    ...points.flatMap(({ x: value, least, greatest }) => {
      const [low, high] = [y.at(least), y.at(greatest)];
      // A spread that the marker hides is not drawn.
      if (low - high < 8) return [];
      const d = `M${x.at(value).toFixed(1)} ${low.toFixed(1)}V${high.toFixed(1)}`;
      return [element('path', { class: `spread stroke-${colour}`, d })];
    }),
    // The limit has none, because they would hide ours, which is close to it.
    ...points.flatMap((point) =>
      kind === 'limit' ? [] : [marker(colour, x.at(point.x), y.at(point.y), kind === 'ours' ? 6 : 4.5)],
    ),
  ];
}

/** The order in which lines are drawn: the thin line of the limit is visible on ours. */
const LAYERS: readonly ChartLine['kind'][] = ['estimate', 'opponent', 'part', 'ours', 'limit'];

function endLabels({ lines, yText }: Chart, { x, y, bottom }: Plot): string[] {
  const last = lines.map(({ points }) => points[points.length - 1] as ChartPoint);
  const left = Math.max(...last.map((point) => x.at(point.x))) + LABEL_SPACE;
  const places = labelPlaces(
    last.map((point) => y.at(point.y)),
    LABEL_GAP,
    [TOP - 8, bottom],
  );
  return lines.flatMap((line, i) => {
    const [point, place] = [last[i] as ChartPoint, places[i] as number];
    const [name, value] = labelOf(line, yText);
    const from = `${(x.at(point.x) + 8).toFixed(1)} ${y.at(point.y).toFixed(1)}`;
    const leader = `M${from}L${(left - 5).toFixed(1)} ${place.toFixed(1)}`;
    return [
      element('path', { class: `leader stroke-${line.colour}`, d: leader }),
      element(
        'text',
        { class: line.kind === 'ours' ? 'bold' : undefined, x: left, y: place + LABEL_SIZE / 3 },
        escapeXml(`${name} `),
        element('tspan', { class: 'faint' }, escapeXml(value)),
      ),
    ];
  });
}

/** The label of a line: its name, and its last value. */
function labelOf({ name, points }: ChartLine, yText: Chart['yText']): [name: string, value: string] {
  return [name, yText((points[points.length - 1] as ChartPoint).y)];
}

function textAt(style: string, x: number, y: number, text: string): string {
  return element('text', { class: style, x, y }, escapeXml(text));
}
