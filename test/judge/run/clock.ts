// The clock that all processes of the judge share.

/** CLOCK_MONOTONIC, in ms. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
