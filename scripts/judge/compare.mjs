// Reports of the judge side by side: the times in which clients saw the changes of two proxies or more.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../lib/failure.mjs';

/**
 * What a comparison needs of a report: `Report` of test/judge/core/report.ts.
 *
 * @typedef {object} Latency
 * @property {string} kind
 * @property {number} count
 * @property {number} p50
 * @property {number} p90
 * @property {number} p99
 *
 * @typedef {object} Compared
 * @property {string} proxy
 * @property {string} mode
 * @property {readonly number[]} seeds
 * @property {number} events
 * @property {number} faults
 * @property {Record<string, number>} requests
 * @property {Record<string, number>} broken
 * @property {readonly Latency[]} latencies
 */

/** Percentiles, and the number of times that they are of. */
const COLUMNS = /** @type {const} */ (['p50', 'p90', 'p99', 'count']);

/**
 * The reports in some folders.
 *
 * @param {readonly string[]} folders
 * @returns {Compared[]}
 */
export function readReports(folders) {
  return folders.map((folder) => {
    const report = read(folder);
    if (Array.isArray(report?.latencies) && Array.isArray(report.seeds)) return report;
    throw new Failure(`--compare ${folder}: report.json must be a report of the judge`);
  });
}

/** @param {string} folder */
function read(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
  } catch (error) {
    throw new Failure(`--compare ${folder}: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * One line about each report, and a table of the times in ms.
 *
 * @param {readonly Compared[]} reports
 * @returns {string[]}
 */
export function comparisonLines(reports) {
  const names = reports.map((_, i) => String.fromCharCode('A'.charCodeAt(0) + i));
  const kinds = [...new Set(reports.flatMap(({ latencies }) => latencies.map(({ kind }) => kind)))].sort();
  const head = ['time, in ms', ...COLUMNS.flatMap((column) => names.map((name) => `${name} ${column}`))];
  const rows = kinds.map((kind) => [
    kind,
    ...COLUMNS.flatMap((column) => {
      return reports.map(({ latencies }) =>
        String(latencies.find((one) => one.kind === kind)?.[column] ?? '-'),
      );
    }),
  ]);
  return [
    ...reports.map((report, i) => `${names[i]}  ${lineOf(report)}`),
    '',
    ...tableLines([head, ...rows]),
  ];
}

/** @param {Compared} report */
function lineOf({ proxy, mode, seeds, events, faults, requests, broken }) {
  const counts = `${seeds.length} histories, ${events} events, ${faults} faults`;
  return `${proxy}, mode ${mode}: ${counts}, ${sum(requests)} requests, ${sum(broken)} violations`;
}

/** @param {Record<string, number>} counts */
function sum(counts) {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/**
 * The first column is on the left, the others on the right.
 *
 * @param {readonly (readonly string[])[]} rows
 */
function tableLines(rows) {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
  );
}
