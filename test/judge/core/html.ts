// The report as one HTML page, with a picture of each recording: events above, traffic below.
import { keyOf } from './frontends.js';
import { growthPage } from './growthPicture.js';
import { describeEvent } from './history.js';
import type { Observation, Recording, Result } from './observations.js';
import type { Judged, Report } from './report.js';
import { RULES, type RuleName } from './rules.js';

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; } td, th { border: 1px solid #ccc; padding: .2rem .6rem; text-align: left; }
td.number { text-align: right; } svg { width: 100%; height: auto; border: 1px solid #ddd; } text { font: 10px monospace; }
.wrong { color: #b00020; }`;

/** Colours of results. */
const COLOURS: Readonly<Record<Result, string>> = {
  ...{ answered: '#2e7d32', refused: '#9e9e9e', reset: '#6a1b9a' },
  ...{ timeout: '#e65100', unreachable: '#795548' },
};
const WRONG = '#b00020';

/** Sizes of a picture, in its units. */
const WIDTH = 1200;
const LEFT = 330;
const ROW = 14;

/** Most rows and marks of a picture. */
const MOST_ROWS = 80;
const MOST_MARKS = 20_000;

/**
 * The page.
 *
 * @param pictured recordings of which it has pictures
 */
export function reportPage(report: Report, pictured: readonly Judged[]): string {
  const title = `The judge: ${report.proxy}, mode ${report.mode}`;
  const pictures = pictured.map((one) => {
    const { history } = one.recording;
    const count = one.violations.length;
    return `<h2>Seed ${history.seed}: ${count === 0 ? 'no violation' : `${count} violations`}</h2>\n${timelineOf(one)}`;
  });
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<title>${escaped(title)}</title><style>${STYLE}</style></head><body><h1>${escaped(title)}</h1>`,
    summaryOf(report),
    violationsOf(report),
    growthPage(report.growth),
    ...pictures,
    '</body></html>\n',
  ].join('\n');
}

function summaryOf({ seeds, events, faults, time, requests, latencies }: Report): string {
  const results = Object.entries(requests).map(([result, count]) => `${count} ${result}`);
  const rows = latencies.map(({ kind, count, p50, p90, p99, most }) =>
    row([kind, count, p50, p90, p99, most]),
  );
  const counts = `${seeds.length} histories, ${events} events, ${faults} faults, ${Math.round(time / 1000)} s`;
  return `<p>${counts}. Requests: ${results.join(', ') || 'none'}.</p>
<table><tr><th>time, in ms</th><th>count</th><th>p50</th><th>p90</th><th>p99</th><th>most</th></tr>${rows.join('')}</table>`;
}

function violationsOf({ broken, violations }: Report): string {
  if (violations.length === 0) return '<p>No rule was broken.</p>';
  const rules = Object.entries(broken).map(([rule, count]) => {
    const { says, source } = RULES[rule as RuleName];
    return row([rule, count, says, source]);
  });
  const lines = violations.map(({ seed, rule, message }) => row([seed, rule, message]));
  return `<table><tr><th>rule</th><th>broken</th><th>promise</th><th>source</th></tr>${rules.join('')}</table>
<details><summary class="wrong">${violations.length} violations</summary><table>${lines.join('')}</table></details>`;
}

function row(cells: readonly (string | number)[]): string {
  const all = cells.map((cell) => {
    return typeof cell === 'number' ? `<td class="number">${cell}</td>` : `<td>${escaped(cell)}</td>`;
  });
  return `<tr>${all.join('')}</tr>`;
}

/** The picture of a recording, as SVG. */
export function timelineOf({ recording, violations }: Judged): string {
  const x = (time: number) => (LEFT + (time / Math.max(1, recording.ended)) * (WIDTH - LEFT - 10)).toFixed(1);
  const events = eventRows(recording, x);
  const wrong = new Set(violations.map(({ observation }) => observation));
  const { text, rows } = trafficRows(recording.observations, wrong, events.rows + 1, x);
  const height = (events.rows + rows + 2) * ROW;
  const faults = recording.faults.map(({ fault, began, ended, restored }) => {
    const width = Math.max(2, Number(x(ended)) - Number(x(began))).toFixed(1);
    const older = restored === undefined ? '' : `, with the objects of ${Math.round(restored)} ms`;
    const title = `<title>${fault}, ${Math.round(began)} to ${Math.round(ended)} ms${older}</title>`;
    return `<rect x="${x(began)}" y="0" width="${width}" height="${height}" fill="#ffcdd2">${title}</rect>`;
  });
  const parts = [...faults, ...events.text, ...text].join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}">\n${parts}\n</svg>`;
}

interface Rows {
  readonly text: readonly string[];
  readonly rows: number;
}

/** One row for each event. */
function eventRows({ changes, faults }: Recording, x: (time: number) => string): Rows {
  const all = [
    ...changes.map(({ at, event }) => ({ at, text: describeEvent(event) })),
    ...faults.map(({ fault, began }) => ({ at: began, text: `fault ${fault}` })),
  ].toSorted((a, b) => a.at - b.at);
  const text = all.slice(0, MOST_ROWS).map((event, i) => {
    const y = (i + 1) * ROW;
    const label = `<text x="2" y="${y}">${escaped(event.text.slice(0, 52))}<title>${escaped(event.text)}</title></text>`;
    return `${label}<path d="M${x(event.at)} ${y - 9}v10" stroke="#1565c0" stroke-width="2"/>`;
  });
  return { text, rows: text.length };
}

/** One row for each client and frontend; rows with violations first. */
function trafficRows(
  observations: readonly Observation[],
  wrong: ReadonlySet<Observation>,
  above: number,
  x: (time: number) => string,
): Rows {
  const byTarget = new Map<string, Observation[]>();
  for (const observation of observations) {
    const { target, use } = observation;
    const name = `${target.client} ${use} ${keyOf(target)}`;
    const list = byTarget.get(name);
    if (list) list.push(observation);
    else byTarget.set(name, [observation]);
  }
  const isWrong = (list: readonly Observation[]) => (list.some((one) => wrong.has(one)) ? 1 : 0);
  const rows = [...byTarget].toSorted(([, a], [, b]) => isWrong(b) - isWrong(a)).slice(0, MOST_ROWS);
  let left = MOST_MARKS;
  const text = rows.map(([name, list], i) => {
    const y = (above + i + 1) * ROW;
    const shown = list.slice(0, left);
    left -= shown.length;
    return `<text x="2" y="${y}">${escaped(name)}</text>${marksOf(shown, wrong, y, x)}`;
  });
  return { text, rows: text.length };
}

/** A mark for each request; one path for each colour. */
function marksOf(
  list: readonly Observation[],
  wrong: ReadonlySet<Observation>,
  y: number,
  x: (time: number) => string,
): string {
  const paths = new Map<string, string>();
  for (const observation of list) {
    const colour = wrong.has(observation) ? WRONG : COLOURS[observation.result];
    const height = wrong.has(observation) ? 11 : 6;
    paths.set(colour, `${paths.get(colour) ?? ''}M${x(observation.began)} ${y - height}v${height}`);
  }
  return [...paths].map(([colour, d]) => `<path d="${d}" stroke="${colour}"/>`).join('');
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
