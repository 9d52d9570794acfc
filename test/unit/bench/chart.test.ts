// Charts: well-formed SVG, positions on logarithmic axes, labels that do not overlap, and colours of both schemes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scenarioChart } from '../../../bench/output/chart.js';
import { scenariosOf } from '../../../bench/output/table.js';
import { durationText, groupedText, numberText, runsText, spanText } from '../../../bench/output/units.js';
import { element, escapeXml } from '../../../bench/output/xml.js';
import { METHODS } from '../../../bench/scenarios.js';
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

function chart(figures = report().figures): string {
  const [found] = scenariosOf({ figures });
  assert.ok(found);
  return scenarioChart(found, report().machine, 3) ?? '';
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
    assert.match(description ?? '', /≈ one command each \(Node\.js\): 2\.00.s at 100, 200.s at 10.000\./);
    assert.match(description ?? '', /first Service usable: 1\.50.ms at 100/);
  });

  it('needs no script, no font and no other file', () => {
    assert.doesNotMatch(chart(), /<script|@import|@font-face|url\(|href/);
  });

  it('has the points of both axes at the logarithms of their values', () => {
    const svg = chart();
    // Ours: 10 ms at 100 and 1 s at 10 000 Services.
    const [, ...ends] =
      /<path class="line c0 ours" d="M([\d.]+) ([\d.]+)L(?:.*L)?([\d.]+) ([\d.]+)"/.exec(svg) ?? [];
    const at = (axis: string, text: string) => {
      const [, x, y] =
        new RegExp(`<text class="faint ${axis}" x="([\\d.]+)" y="([\\d.]+)">${text}<`).exec(svg) ?? [];
      return axis === 'end' ? Number(y) - 4 : Number(x);
    };
    const expected = [at('middle', '100'), at('end', '10.ms'), at('middle', '10.000'), at('end', '1.s')];
    for (const [i, value] of expected.entries())
      assert.ok(Math.abs(Number(ends[i]) - value) < 0.2, `${ends} is not ${expected}`);
    const [tenth, second, tenSeconds] = ['100.ms', '1.s', '10.s'].map((text) => at('end', text));
    assert.ok(Math.abs(Number(tenth) + Number(tenSeconds) - 2 * Number(second)) < 0.2);
  });

  it('has a line and a label for every method, which differ without colours, and colours for light and dark pages', () => {
    const figures = METHODS.flatMap(({ name }, i) => [
      figure(name, 100, i + 1),
      figure(name, 1000, 10 * (i + 1)),
    ]);
    const svg = chart(figures);
    const styles = [...svg.matchAll(/<path class="line (c\d)/g)].map(([, style]) => style);
    assert.equal(new Set(styles).size, METHODS.length, `${styles}`);
    const dark = svg.indexOf('prefers-color-scheme: dark');
    for (const style of styles) {
      assert.ok(
        svg.indexOf(`.${style} { stroke: #`) < dark && svg.lastIndexOf(`.${style} { stroke: #`) > dark,
      );
    }
    for (const { title } of METHODS) assert.ok(svg.includes(`>${escapeXml(title)} `), title);
    const places = [...svg.matchAll(/<text x="590" y="([\d.]+)"/g)].map(([, y]) => Number(y));
    assert.equal(places.length, METHODS.length);
    for (const [i, place] of places.slice(1).entries())
      assert.ok(place - (places[i] ?? 0) >= 18.9, `${places}`);
  });

  it('needs two sizes', () => {
    const [found] = scenariosOf({ figures: [figure('ours', 100, 10)] });
    assert.equal(found && scenarioChart(found, report().machine, 3), undefined);
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
