// Charts: well-formed SVG, positions on logarithmic axes, labels that do not overlap, and colours of both schemes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PALETTES, type Scheme } from '../../../src/bench/output/chartStyle.js';
import { labelPlaces } from '../../../src/bench/output/labelPlaces.js';
import { type Chart, lineChart } from '../../../src/bench/output/lineChart.js';
import { decadesAround, decadesOf, logScale } from '../../../src/bench/output/logScale.js';
import { marker } from '../../../src/bench/output/marker.js';
import { scenarioChart } from '../../../src/bench/output/scenarioChart.js';
import { scenariosOf } from '../../../src/bench/output/table.js';
import {
  durationText,
  groupedText,
  numberText,
  runsText,
  spanText,
} from '../../../src/bench/output/units.js';
import { element, escapeXml } from '../../../src/bench/output/xml.js';
import { OPPONENTS } from '../../../src/bench/scenarios.js';
import { figure, report } from '../../support/benchmark/benchReport.js';

/** The elements of a document: name, attributes and depth. Fails if it is not well-formed. */
function elementsOf(xml: string): { name: string; attributes: Record<string, string> }[] {
  const open: string[] = [];
  const found: { name: string; attributes: Record<string, string> }[] = [];
  const text = xml.replaceAll(
    /<(\/?)([a-zA-Z]+)((?: [\w:-]+="[^"<]*")*)(\/?)>/g,
    (_, end, name, written, empty) => {
      if (end) assert.equal(open.pop(), name);
      else {
        const pairs = [...String(written).matchAll(/ ([\w:-]+)="([^"]*)"/g)].map(([, key, value]) => [
          key,
          value,
        ]);
        found.push({ name, attributes: Object.fromEntries(pairs) });
        assert.equal(new Set(pairs.map(([key]) => key)).size, pairs.length, `attributes twice: ${written}`);
        if (!empty) open.push(name);
      }
      return '';
    },
  );
  assert.deepEqual(open, []);
  assert.doesNotMatch(text, /[<>]|&(?!(amp|lt|gt|quot);)/);
  return found;
}

function chart(figures = report().figures, scheme: Scheme = 'light'): string {
  const [found] = scenariosOf({ figures });
  assert.ok(found);
  return lineChart(scenarioChart(found, report().machine, 3) as Chart, scheme);
}

describe('a chart', () => {
  it('is well-formed, and has a title and a description with every value', () => {
    const svg = chart();
    const elements = elementsOf(svg);
    assert.deepEqual(elements[0]?.attributes['aria-labelledby'], 'title description');
    assert.ok(svg.startsWith('<svg xmlns="http://www.w3.org/2000/svg"'));
    assert.match(svg, /<title id="title">Full programming of a node<\/title>/);
    const [, description] = /<desc id="description">(.*)<\/desc>/.exec(svg) ?? [];
    assert.match(description ?? '', /kube-netlink-proxy: 10\.0.ms at 100, 1\.00.s at 10.000\./);
    assert.match(description ?? '', /≈ one command each \(Node\): 2\.00.s at 100, 200.s at 10.000\./);
    assert.match(description ?? '', /first Service usable: 1\.50.ms at 100/);
  });

  it('needs no script, no font and no other file', () => {
    assert.doesNotMatch(chart(), /<script|@import|@font-face|url\(|href/);
  });

  it('has the points of both axes at the logarithms of their values', () => {
    const circles = elementsOf(chart()).filter(({ name }) => name === 'circle');
    // Ours: 10 ms at 100 and 1 s at 10 000 Services, and the first Service in the same colour.
    const [first, last] = circles
      .slice(-2)
      .map(({ attributes }) => [attributes['cx'], attributes['cy']].map(Number));
    const labels = [
      ...chart().matchAll(/<text class="tick faint (end|middle)" x="([\d.]+)" y="([\d.]+)">([^<]*)</g),
    ];
    const tick = (text: string, axis: string) => {
      const [, , x, y] = labels.find(([, kind, , , written]) => kind === axis && written === text) ?? [];
      return [Number(x), Number(y) - 4];
    };
    assert.deepEqual(
      [first?.[0], last?.[0]],
      [tick('100', 'middle')[0], tick('10\u00a0000', 'middle')[0]],
      'the ends of the horizontal axis',
    );
    const near = (found: number | undefined, expected: number | undefined) =>
      assert.ok(Math.abs(Number(found) - Number(expected)) < 0.2, `${found} is not ${expected}`);
    near(first?.[1], tick('10\u00a0ms', 'end')[1]);
    near(last?.[1], tick('1\u00a0s', 'end')[1]);
    const [tenth, second, tenSeconds] = ['100\u00a0ms', '1\u00a0s', '10\u00a0s'].map(
      (text) => tick(text, 'end')[1],
    );
    near(Number(tenth) - Number(second), Number(second) - Number(tenSeconds));
  });

  it('has a line, a label and colours of both schemes for every method', () => {
    const figures = OPPONENTS.flatMap(({ name }, i) => [
      figure(name, 100, i + 1),
      figure(name, 1000, 10 * (i + 1)),
    ]);
    const svg = chart(figures);
    const lines = elementsOf(svg).filter(({ attributes }) => attributes['class']?.startsWith('line '));
    assert.equal(lines.length, OPPONENTS.length);
    const strokes = lines.map(({ attributes }) => /stroke-\d+/.exec(attributes['class'] ?? '')?.[0]);
    assert.equal(new Set(strokes).size, OPPONENTS.length, `${strokes}`);
    const shapes = OPPONENTS.map((_, place) => marker(place, 0, 0, 1).replace(/mark-\d+/, ''));
    assert.equal(new Set(shapes).size, OPPONENTS.length, 'lines differ without colours');
    for (const scheme of ['light', 'dark'] as const) {
      const style = chart(figures, scheme);
      for (const [place, colour] of PALETTES[scheme].lines.entries())
        assert.ok(style.includes(`.stroke-${place} { stroke: ${colour} }`), `${scheme}: ${colour}`);
      assert.ok(style.includes(`.paper { fill: ${PALETTES[scheme].paper} }`), scheme);
    }
    for (const { title } of OPPONENTS) assert.ok(svg.includes(`>${escapeXml(title)} <`), title);
  });

  it('needs two sizes', () => {
    const [found] = scenariosOf({ figures: [figure('ours', 100, 10)] });
    assert.equal(scenarioChart(found as NonNullable<typeof found>, report().machine, 3), undefined);
  });
});

describe('the colours', () => {
  /** Relative luminance, WCAG 2.2. */
  const luminance = (colour: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (a: string, b: string) => {
    const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };

  for (const [scheme, { paper, ink, faint, lines }] of Object.entries(PALETTES)) {
    it(`of ${scheme} mode have enough contrast to the paper`, () => {
      for (const text of [ink, faint])
        assert.ok(contrast(text, paper) >= 4.5, `${text}: ${contrast(text, paper)}`);
      for (const line of lines) assert.ok(contrast(line, paper) >= 3, `${line}: ${contrast(line, paper)}`);
      assert.equal(new Set(lines).size, lines.length);
    });
  }
});

describe('logarithmic axes', () => {
  it('map equal ratios to equal distances', () => {
    const { at } = logScale([1, 1000], [300, 0]);
    assert.deepEqual([at(1), at(1000)], [300, 0]);
    assert.ok(Math.abs(at(10) - 200) < 1e-9 && Math.abs(at(100) - 100) < 1e-9);
    assert.equal(logScale([5, 5], [0, 10]).at(5), 5);
  });

  it('end at powers of ten', () => {
    assert.deepEqual(decadesAround([0.002, 35]), [0.001, 100]);
    assert.deepEqual(decadesAround([0.001, 1000]), [0.001, 1000]);
    assert.deepEqual(decadesAround([10]), [10, 100]);
    assert.deepEqual(decadesOf([0.001, 1]), [0.001, 0.01, 0.1, 1]);
    assert.deepEqual(decadesOf([0.5, 200]), [1, 10, 100]);
  });
});

describe('labels', () => {
  it('stay where they are if they have space, and otherwise move as little as possible', () => {
    assert.deepEqual(labelPlaces([10, 50, 90], 20, [0, 100]), [10, 50, 90]);
    assert.deepEqual(labelPlaces([50, 50], 20, [0, 100]), [40, 60]);
    assert.deepEqual(labelPlaces([60, 50], 20, [0, 100]), [65, 45]);
    assert.deepEqual(labelPlaces([5, 5, 98], 20, [0, 100]), [0, 20, 98]);
    assert.deepEqual(labelPlaces([98, 99, 100], 20, [0, 100]), [60, 80, 100]);
  });

  it('never overlap', () => {
    for (let seed = 1; seed < 50; seed++) {
      const wishes = Array.from({ length: 8 }, (_, i) => ((seed * 37 + i * i * 53) % 97) + 1);
      const places = labelPlaces(wishes, 10, [0, 100]).sort((a, b) => a - b);
      for (const [i, place] of places.slice(1).entries()) {
        assert.ok(place - (places[i] ?? 0) >= 10 - 1e-9, `${places}`);
      }
      assert.ok((places[0] ?? -1) >= 0 && (places.at(-1) ?? 101) <= 100, `${places}`);
    }
  });
});

describe('figures', () => {
  const plain = (text: string) => text.replaceAll('\u00a0', ' ');

  it('are texts with three significant digits and a unit', () => {
    const texts = [0.0000123, 0.00123, 0.9994, 0.9999, 1, 12.34, 999.4, 999.9, 65_432, 1_234_567].map((one) =>
      plain(durationText(one)),
    );
    assert.deepEqual(texts, [
      '12.3 ns',
      '1.23 µs',
      '999 µs',
      '1.00 ms',
      '1.00 ms',
      '12.3 ms',
      '999 ms',
      '1.00 s',
      '65.4 s',
      '1230 s',
    ]);
    assert.deepEqual([0, 0.01234, 1.25, 100, 12_345].map(numberText).map(plain), [
      '0',
      '0.0123',
      '1.25',
      '100',
      '12 300',
    ]);
    assert.deepEqual([1, 1000, 110_000, 1e6].map(groupedText).map(plain), [
      '1',
      '1000',
      '110 000',
      '1 000 000',
    ]);
    assert.deepEqual([1, 5].map(runsText), ['1 run', 'at most 5 runs']);
    assert.deepEqual([800, 65_000, 3_720_000].map(spanText), ['1 s', '1 min 05 s', '1 h 02 min']);
  });
});

describe('XML', () => {
  it('has no character that it forbids or that has a meaning', () => {
    assert.equal(escapeXml('a<b> & "c"\u0001'), 'a&lt;b&gt; &amp; &quot;c&quot;\ufffd');
    assert.equal(
      element('g', { x: 1.26, 'data-name': '"', none: undefined }),
      '<g x="1.3" data-name="&quot;"/>',
    );
  });
});
