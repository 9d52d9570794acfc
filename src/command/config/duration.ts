// Durations in Go's notation, as Kubernetes writes them. Go's unit is ns; ours is ms, with fractions.
import { shortened } from '../../kernel/errors.js';

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Go's longest duration, about 292 years, in ms. */
const LONGEST = (2 ** 63 - 1) / 1e6;

/** A duration in Go's notation (`1h30m`, `1.5s`, `0`) in ms; undefined if the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  const [, sign, rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === '0') return 0;
  if (!/^((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) return undefined;
  let milliseconds = 0;
  for (const [, number, unit] of rest.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    milliseconds += Number(number) * (UNITS[unit as string] as number);
  }
  if (milliseconds > LONGEST) return undefined;
  const whole = Math.round(milliseconds * 1e6) / 1e6;
  return sign === '-' ? -whole : whole;
}

/** The error of Go's `time.ParseDuration` for a text that is not a duration. */
export function durationError(text: string): string {
  const shown = JSON.stringify(shortened(text));
  const rest = text.replace(/^[+-]/, '');
  const parts = /^((?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))*(?:\d+\.?\d*|\.\d+)([^\d.]*)/.exec(rest);
  const unit = parts?.[2];
  if (unit === undefined || unit in UNITS) return `time: invalid duration ${shown}`;
  if (unit === '') return `time: missing unit in duration ${shown}`;
  return `time: unknown unit ${JSON.stringify(shortened(unit))} in duration ${shown}`;
}

/** A duration as Go prints it: `1h30m0s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(milliseconds: number): string {
  const nanoseconds = Math.round(Math.abs(milliseconds) * 1e6);
  const sign = milliseconds < 0 ? '-' : '';
  if (nanoseconds === 0) return '0s';
  if (nanoseconds < 1e3) return `${sign}${nanoseconds}ns`;
  if (nanoseconds < 1e6) return `${sign}${nanoseconds / 1e3}µs`;
  if (nanoseconds < 1e9) return `${sign}${nanoseconds / 1e6}ms`;
  const minutes = Math.floor(nanoseconds / 60e9);
  const seconds = `${(nanoseconds - minutes * 60e9) / 1e9}s`;
  if (minutes === 0) return sign + seconds;
  const hours = Math.floor(minutes / 60);
  return `${sign}${hours > 0 ? `${hours}h` : ''}${minutes % 60}m${seconds}`;
}
