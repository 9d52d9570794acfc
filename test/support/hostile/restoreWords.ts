// The words of a line, as iptables-restore reads them: it has no other way to tell where an argument ends.

/** Longest line that is read as one, in bytes, with its end: 10 240 less the final NUL. */
export const LONGEST_READ = 10_239;

/** The words of a line: a quote begins and ends one, in quotes a backslash is before any character, and spaces separate. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  let word = '';
  let quoted = false;
  let begun = false;
  const end = () => {
    if (begun) words.push(word);
    word = '';
    begun = false;
  };
  for (let i = 0; i < line.length; i++) {
    const character = line[i] as string;
    if (quoted && character === '\\') word += line[++i] ?? '';
    else if (quoted && character === '"') {
      quoted = false;
      end();
    } else if (quoted) word += character;
    else if (character === '"') {
      quoted = true;
      begun = true;
    } else if (' \t\n'.includes(character)) end();
    else {
      word += character;
      begun = true;
    }
  }
  if (quoted) throw new Error(`a quote is not closed: ${line}`);
  end();
  return words;
}
