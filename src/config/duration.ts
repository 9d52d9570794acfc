// Durations as Kubernetes writes them: Go's notation.

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds of a duration in Go's notation (`1h30m`, `1.5s`, `0`), or undefined when the text is none. */
export function parseDuration(text: string): number | undefined {
  const [, sign, rest = ''] = /^([+-]?)(.*)$/.exec(text) ?? [];
  if (rest === '0') return 0;
  if (!/^(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/.test(rest)) return undefined;
  let milliseconds = 0;
  for (const [, number, unit] of rest.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)) {
    milliseconds += Number(number) * (UNITS[unit as string] as number);
  }
  return sign === '-' ? -milliseconds : milliseconds;
}
