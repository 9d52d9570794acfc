// Several reports as one: of kernels that have different features. Pure.
import type { BenchReport, TargetResult } from '../types.js';

/** Reports of several machines or kernels, with one result for each target. */
export interface MergedReport {
  readonly version: 1;
  readonly reports: readonly BenchReport[];
  readonly targets: readonly TargetResult[];
}

/** Merges reports: each target has the result of the first report that measured it, otherwise the reason of the last one. */
export function mergeReports(reports: readonly BenchReport[]): MergedReport {
  const ids = [...new Set(reports.flatMap(({ targets }) => targets.map(({ id }) => id)))];
  const targets = ids.flatMap((id) => {
    const results = reports.flatMap((report) => report.targets.filter((target) => target.id === id));
    return results.find(({ value }) => value !== undefined) ?? results.at(-1) ?? [];
  });
  return { version: 1, reports, targets };
}
