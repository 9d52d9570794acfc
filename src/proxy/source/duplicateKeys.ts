// Checks a JSON text that JSON.parse has accepted: an object that has a key twice, of which JSON.parse takes the last one without
// an error, and YAML and the strict decoding of Kubernetes refuse both; and nesting that is too deep.

/** A key that its object has twice, or the place where objects and lists are nested too deeply. */
interface DuplicateKey {
  /** Undefined for nesting that is too deep. */
  readonly key: string | undefined;
  /** Line of the place, from 1. */
  readonly line: number;
}

/**
 * The first duplicate key, or the first place that is nested too deeply, of a text that JSON.parse has accepted; undefined when
 * there is none.
 *
 * @param deepest number of levels
 */
export function findDuplicateKey(json: string, deepest: number): DuplicateKey | undefined {
  /** The keys of each object around the place; undefined for a list. */
  const around: (Set<string> | undefined)[] = [];
  /** The next text is a key. */
  let atKey = false;
  const token = /["{}[\],]/g;
  const lineAt = (index: number) => json.slice(0, index).split('\n').length;
  for (let found = token.exec(json); found; found = token.exec(json)) {
    switch (found[0]) {
      case '"': {
        const end = endOfText(json, found.index);
        token.lastIndex = end;
        if (!atKey) break;
        atKey = false;
        const key = unescaped(json.slice(found.index, end));
        const keys = around.at(-1);
        if (keys?.has(key)) return { key, line: lineAt(found.index) };
        keys?.add(key);
        break;
      }
      case '{':
        around.push(new Set());
        atKey = true;
        break;
      case '[':
        around.push(undefined);
        atKey = false;
        break;
      case ',':
        atKey = around.at(-1) !== undefined;
        break;
      default:
        around.pop();
        atKey = false;
    }
    if (around.length > deepest) return { key: undefined, line: lineAt(found.index) };
  }
  return undefined;
}

/** The value of a JSON string, given with its quotes. */
function unescaped(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

/** The index behind the closing quote of the text that opens at an index. */
function endOfText(json: string, open: number): number {
  let quote = json.indexOf('"', open + 1);
  while (isEscaped(json, quote)) quote = json.indexOf('"', quote + 1);
  return quote + 1;
}

/** Whether an odd number of backslashes precedes it. */
function isEscaped(json: string, quote: number): boolean {
  let first = quote;
  while (json[first - 1] === '\\') first--;
  return (quote - first) % 2 === 1;
}
