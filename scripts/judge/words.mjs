// The words of a command line.
import { Failure } from '../lib/failure.mjs';

/**
 * The words of a text: separated by spaces, but for those between quotes of one kind. Parts without a space between them are one
 * word, so that `--name="a b"` is one. There are no escapes: each kind of quote can be between those of the other kind.
 *
 * @param {string} text
 * @param {string} option its name for errors
 * @returns {string[]}
 */
export function wordsOf(text, option) {
  const words = [];
  let word = '';
  let inWord = false;
  for (let at = 0; at < text.length; at++) {
    const letter = /** @type {string} */ (text[at]);
    if (/\s/.test(letter)) {
      if (inWord) words.push(word);
      word = '';
      inWord = false;
      continue;
    }
    inWord = true;
    if (letter !== '"' && letter !== "'") {
      word += letter;
      continue;
    }
    const end = text.indexOf(letter, at + 1);
    if (end < 0) throw new Failure(`${option}: the quote ${letter} at character ${at + 1} is not closed`);
    word += text.slice(at + 1, end);
    at = end;
  }
  if (inWord) words.push(word);
  if (words.length === 0) throw new Failure(`${option}: must have a word`);
  return words;
}
