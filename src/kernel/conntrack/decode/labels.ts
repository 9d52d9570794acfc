// The labels of a flow: one bit each.

/** Largest label (`XT_CONNLABEL_MAXBIT`). */
export const LARGEST_LABEL = 127;

/** The labels whose bits are 1 in the 16 bytes at a place, ascending. */
export function labelsOf(bytes: Uint8Array, at: number): number[] {
  const labels: number[] = [];
  for (let label = 0; label <= LARGEST_LABEL; label++) {
    if (((bytes[at + (label >> 3)] ?? 0) >> (label & 7)) & 1) labels.push(label);
  }
  return labels;
}
