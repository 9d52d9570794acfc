// Finds the known word that is closest to a misspelt one.

/** Minimum length of a prefix that is completed, in characters. */
const SHORTEST_PREFIX = 3;

/**
 * The candidate that is closest to a misspelt word: the only one that starts with the word, or else the one with the
 * fewest edits, if there is at most one edit for every three letters. Undefined if none is close.
 */
export function closestTo(word: string, candidates: Iterable<string>): string | undefined {
  const known = [...candidates];
  const [completed, ...others] = known.filter(
    (candidate) => word.length >= SHORTEST_PREFIX && candidate.startsWith(word),
  );
  if (others.length === 0 && completed !== undefined) return completed;
  const rated = known.map((candidate) => ({ candidate, edits: editsBetween(word, candidate) }));
  const [nearest] = rated.sort((a, b) => a.edits - b.edits);
  return nearest && nearest.edits <= word.length / 3 ? nearest.candidate : undefined;
}

/** Number of edits between two words: a letter inserted, deleted or replaced, or two adjacent letters exchanged. */
function editsBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(replaced, at(last, j) + 1, at(row, j - 1) + 1);
      const exchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (exchanged) row[j] = Math.min(at(row, j), at(beforeLast, j - 2) + 1);
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] as number;
}
