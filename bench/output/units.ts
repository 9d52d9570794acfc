// Figures as text for people. Pure.

/** Stays between a number and its unit, and between groups of digits. */
const NO_BREAK = '\u00a0';

const DURATIONS = [
  { unit: 's', milliseconds: 1e3 },
  { unit: 'ms', milliseconds: 1 },
  { unit: 'µs', milliseconds: 1e-3 },
] as const;

const NANOSECOND = { unit: 'ns', milliseconds: 1e-6 } as const;

/**
 * A duration with three significant digits: `1.23 s`, `45.6 ms`, `789 µs`.
 *
 * @param digits how the number before the unit is written
 */
export function durationText(milliseconds: number, digits: (value: number) => string = numberText): string {
  const found = DURATIONS.find((one) => milliseconds >= one.milliseconds * ROUNDED_UP) ?? NANOSECOND;
  return `${digits(milliseconds / found.milliseconds)}${NO_BREAK}${found.unit}`;
}

/** 999.5 ms has three digits as 1.00 s. */
const ROUNDED_UP = 0.9995;

/** A number with three significant digits and groups of digits: `0.0123`, `1.25`, `45.6`, `12 300`. */
export function numberText(value: number): string {
  const rounded = Number(value.toPrecision(3));
  const size = Math.abs(rounded);
  if (size >= 1000) return groupedText(rounded);
  if (size === 0) return '0';
  return rounded.toFixed(Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(size) + 1e-9))));
}

/** All digits of a count in groups of three: `110 000`; four digits are one group. */
export function groupedText(value: number): string {
  const digits = String(Math.round(value));
  return digits.length <= 4 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, NO_BREAK);
}

/** A size in MB (10^6 bytes): `79.1 MB`. */
export function megabytesText(bytes: number): string {
  return `${numberText(bytes / 1e6)}${NO_BREAK}MB`;
}

/** `at most 5 runs`: the time of large sizes may permit fewer. */
export function runsText(repetitions: number): string {
  return repetitions === 1 ? '1 run' : `at most ${repetitions} runs`;
}

/** The time left or elapsed: `8 s`, `1 min 05 s`, `1 h 02 min`. */
export function spanText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (minutes === 0) return `${seconds} s`;
  if (hours === 0) return `${minutes} min ${twoDigits(seconds % 60)} s`;
  return `${hours} h ${twoDigits(minutes % 60)} min`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
