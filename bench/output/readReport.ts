// Reads a report that was written as JSON.
import type { BenchReport } from '../types.js';

/** A text that is not a report. */
export class InvalidReport extends Error {}

/**
 * The reports in the JSON that `bench -o json` prints: one, or several merged ones. Throws {@link InvalidReport}.
 *
 * @param name of the file, for the error
 */
export function readReports(text: string, name: string): BenchReport[] {
  const value = parsed(text, name);
  const found = value['reports'] === undefined ? [value] : value['reports'];
  if (!Array.isArray(found)) throw new InvalidReport(`${name}: reports must be a list`);
  return found.map((report, i) =>
    checked(report, Array.isArray(value['reports']) ? `${name}: reports[${i}]` : name),
  );
}

function parsed(text: string, name: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    throw new InvalidReport(`${name} is not JSON: ${(error as Error).message}`);
  }
  throw new InvalidReport(`${name}: a report must be an object`);
}

const LISTS = ['figures', 'memory', 'unavailable', 'targets'] as const;

function checked(report: unknown, name: string): BenchReport {
  if (typeof report !== 'object' || report === null) throw new InvalidReport(`${name} must be an object`);
  const fields = report as Partial<Record<keyof BenchReport, unknown>>;
  if (fields.version !== 1)
    throw new InvalidReport(`${name}: version must be 1, found ${JSON.stringify(fields.version)}`);
  for (const list of LISTS) {
    if (!Array.isArray(fields[list])) throw new InvalidReport(`${name}: ${list} must be a list`);
  }
  for (const part of ['machine', 'options'] as const) {
    if (typeof fields[part] !== 'object' || fields[part] === null)
      throw new InvalidReport(`${name}: ${part} must be an object`);
  }
  return report as BenchReport;
}
