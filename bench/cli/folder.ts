// The files of a benchmark: a page in Markdown, its pictures, and the report.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scenarioChart } from '../output/chart.js';
import { markdownDocument, type Picture } from '../output/markdown.js';
import type { MergedReport } from '../output/merge.js';
import { scenariosOf } from '../output/table.js';
import type { BenchReport, ScenarioName } from '../types.js';

/** The folder of the charts and of the report, beside the document. */
const PARTS = 'benchmarks';

/** A file, by its path relative to the folder. */
export interface BenchFile {
  readonly path: string;
  readonly text: string;
}

/** A document with explanations of targets, beside that of the benchmark. Each has the heading of the target's id. */
const EXPLANATIONS = 'performance.md';

/**
 * The files of a report. Pure.
 *
 * @param explanations a document in the same folder; targets with a heading in it have a link to it
 */
export function benchFiles(merged: MergedReport, explanations = ''): BenchFile[] {
  const charts = chartsOf(merged.reports);
  const document = markdownDocument({
    ...merged,
    pictures: charts,
    explanation: (id) =>
      explanations.split('\n').includes(`### ${id}`) ? `${EXPLANATIONS}#${id}` : undefined,
  });
  return [
    { path: 'benchmarks.md', text: document },
    { path: `${PARTS}/report.json`, text: `${JSON.stringify(merged)}\n` },
    ...charts.map(({ path, text }) => ({ path, text })),
  ];
}

/** The text of the document with explanations in a folder; undefined without it. */
export function readExplanations(folder: string): string | undefined {
  const path = join(folder, EXPLANATIONS);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Writes the files. */
export function writeFiles(folder: string, files: readonly BenchFile[]): void {
  for (const { path, text } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Scenarios whose pictures say most, in this order; others follow. */
const PICTURED: readonly ScenarioName[] = ['endpoint', 'iptablesEndpoint', 'nftablesEndpoint'];

/** Most pictures of a page. */
const MOST = 3;

/** The charts of the page, each with the title of its scenario. */
function chartsOf(reports: readonly BenchReport[]): (BenchFile & Picture)[] {
  const charts = new Map<ScenarioName, BenchFile & Picture>();
  for (const report of reports) {
    for (const found of scenariosOf(report)) {
      const { name, title } = found.scenario;
      const text = scenarioChart(found, report.machine, report.options.repetitions);
      if (text !== undefined && !charts.has(name))
        charts.set(name, { path: `${PARTS}/${name}.svg`, text, title });
    }
  }
  const order = [...new Set([...PICTURED, ...charts.keys()])];
  return order.flatMap((name) => charts.get(name) ?? []).slice(0, MOST);
}
