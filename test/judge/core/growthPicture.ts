// The picture of memory and descriptors over a run, as SVG.
import { growthLines, type ProxyGrowth, type ProxySample } from './growth.js';

const WIDTH = 1200;
const HEIGHT = 120;
const COLOURS = ['#1565c0', '#2e7d32', '#e65100', '#6a1b9a'] as const;

/** A heading, the slopes, and a picture each for memory and descriptors. A process has one colour. */
export function growthPage(growth: ProxyGrowth | undefined): string {
  if (!growth) return '';
  const lines = growthLines(growth).map((line) => `${line}<br>`);
  return `<h2>Memory and descriptors</h2><p>${lines.join('\n')}</p>
${picture(growth.samples, 'resident memory, KiB', ({ resident }) => resident)}
${picture(growth.samples, 'descriptors', ({ descriptors }) => descriptors)}`;
}

function picture(
  samples: readonly ProxySample[],
  name: string,
  value: (sample: ProxySample) => number,
): string {
  const from = samples[0]?.at ?? 0;
  const time = Math.max(1, (samples.at(-1)?.at ?? 0) - from);
  const most = Math.max(1, ...samples.map(value));
  const pids = [...new Set(samples.map(({ pid }) => pid))];
  const marks = samples.map((sample) => {
    const x = (10 + ((sample.at - from) / time) * (WIDTH - 20)).toFixed(1);
    const y = (HEIGHT - (value(sample) / most) * (HEIGHT - 20)).toFixed(1);
    const colour = COLOURS[pids.indexOf(sample.pid) % COLOURS.length];
    return `<circle cx="${x}" cy="${y}" r="2" fill="${colour}"><title>${value(sample)}</title></circle>`;
  });
  const label = `<text x="2" y="12">${name}: 0 to ${most}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}">${label}${marks.join('')}</svg>`;
}
