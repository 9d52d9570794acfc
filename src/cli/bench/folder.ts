// The files of a benchmark: a document in Markdown, a chart for each scenario, and the report.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scheme } from '../../bench/output/chartStyle.js';
import { lineChart } from '../../bench/output/lineChart.js';
import { machineLine } from '../../bench/output/machine.js';
import { markdownDocument, type Picture } from '../../bench/output/markdown.js';
import type { MergedReport } from '../../bench/output/merge.js';
import { scenarioChart } from '../../bench/output/scenarioChart.js';
import { type ScenarioFigures, scenariosOf } from '../../bench/output/table.js';
import type { BenchReport } from '../../bench/types.js';

/** The folder of the charts and of the report, beside the document. */
const PARTS = 'benchmarks';

/** A file, by its path relative to the folder. */
export interface BenchFile {
  readonly path: string;
  readonly text: string;
}

/** A document with explanations of targets, beside that of the benchmark. Each has the heading of the target's id. */
const EXPLANATIONS = 'performance.md';

/** A chart in both schemes. */
type ChartFiles = Readonly<Record<Scheme, BenchFile>>;

/**
 * The files of a report. Pure.
 *
 * @param explanations a document in the same folder; targets with a heading in it have a link to it
 */
export function benchFiles(merged: MergedReport, explanations = ''): BenchFile[] {
  const charts = chartsOf(merged.reports);
  const document = markdownDocument({
    ...merged,
    chart: (report, { scenario }) => pictureOf(charts.get(report)?.get(scenario.name)),
    explanation: (id) =>
      explanations.split('\n').includes(`### ${id}`) ? `${EXPLANATIONS}#${id}` : undefined,
  });
  return [
    { path: 'benchmarks.md', text: document },
    { path: `${PARTS}/report.json`, text: `${JSON.stringify(merged, undefined, 2)}\n` },
    ...[...charts.values()].flatMap((byScenario) =>
      [...byScenario.values()].flatMap(({ light, dark }) => [light, dark]),
    ),
  ];
}

function pictureOf(files: ChartFiles | undefined): Picture | undefined {
  return files && { light: files.light.path, dark: files.dark.path };
}

/** The text of the document with explanations in a folder; undefined without it. */
export function readExplanations(folder: string): string | undefined {
  const path = join(folder, EXPLANATIONS);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Writes the files. */
export function writeFiles(folder: string, files: readonly BenchFile[]): void {
  mkdirSync(join(folder, PARTS), { recursive: true });
  for (const { path, text } of files) writeFileSync(join(folder, path), text);
}

/** The charts by report and scenario. A scenario that several reports have has the kernel in the name of its file. */
function chartsOf(reports: readonly BenchReport[]): Map<BenchReport, Map<string, ChartFiles>> {
  const names = new Set<string>();
  return new Map(
    reports.map((report) => {
      const charts = scenariosOf(report).flatMap((found) => {
        const chart = scenarioChart(found, report.machine, report.options.repetitions);
        if (!chart) return [];
        const name = nameOf(report, found);
        const files = {
          light: { path: `${name}.svg`, text: lineChart(chart, 'light') },
          dark: { path: `${name}-dark.svg`, text: lineChart(chart, 'dark') },
        };
        return [[found.scenario.name, files] as const];
      });
      return [report, new Map(charts)];
    }),
  );

  function nameOf({ machine }: BenchReport, { scenario }: ScenarioFigures): string {
    const plain = `${PARTS}/${scenario.name}`;
    const named = `${plain}-${machineLine(machine).replaceAll(/[^\w.]+/g, '-')}`;
    const free = [plain, named].find((one) => !names.has(one)) ?? `${plain}-${names.size}`;
    names.add(free);
    return free;
  }
}
