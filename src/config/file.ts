// The text of a configuration file → a configuration. Decoding is strict first; where only unknown and duplicate fields
// are in the way, it goes on without them and says so.
import { excerpt, shortened } from '../errors.js';
import { isRecord } from '../input/fields.js';
import { yaml } from '../yaml.js';
import { decodeFields } from './configuration.js';
import { quote } from './goSyntax.js';
import { API_VERSION, type Configuration, KIND } from './schema.js';

/** A file that is no configuration; a line for each thing that is wrong. */
export class DecodingError extends Error {}

/**
 * Reads the text of a configuration file, YAML or JSON. Of several documents, the first counts. Throws DecodingError.
 *
 * @returns warnings: what strict decoding says of a file that is read leniently
 */
export function decodeFile(text: string): {
  readonly configuration: Configuration;
  readonly warnings: readonly string[];
} {
  const { raw, duplicates } = parse(text);
  checkKind(raw, text);
  const { configuration, problems, unknown } = decodeFields(raw);
  if (problems.length > 0) throw failure(problems);
  const strict = [...duplicates, ...unknown.map((path) => `unknown field ${quote(shortened(path))}`)];
  const warnings =
    strict.length === 0
      ? []
      : [
          `Using lenient decoding as strict decoding failed err=${quote(`strict decoding error: ${strict.join(', ')}`)}`,
        ];
  return { configuration, warnings };
}

/** What Go's YAML takes in no text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** The first document, the last of duplicate keys counting, as in Go. */
function parse(text: string): { raw: Readonly<Record<string, unknown>>; duplicates: string[] } {
  if (CONTROL.test(text)) throw failure(['yaml: control characters are not allowed']);
  const [document] = yaml().parseAllDocuments(text, { version: '1.1', prettyErrors: true });
  if (document === undefined || !('errors' in document)) throw failure([missing('Kind', text)]);
  const duplicates = document.errors.filter(({ code }) => code === 'DUPLICATE_KEY');
  const fatal = document.errors.filter((error) => !duplicates.includes(error));
  if (fatal.length > 0)
    throw failure(fatal.map(({ message }) => `yaml: ${excerpt(message.split('\n', 1)[0] as string)}`));
  const raw = contentOf(document);
  if (!isRecord(raw)) throw failure([missing('Kind', text)]);
  return {
    raw,
    duplicates: duplicates.map(
      ({ linePos, pos }) =>
        `line ${linePos?.[0].line}: key ${quote(shortened(keyAt(text, pos[0])))} already set in map`,
    ),
  };
}

/** Aliases are looked up only now, and too many of them are refused. */
function contentOf(document: { toJS(): unknown }): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw failure([`yaml: ${excerpt((error as Error).message)}`]);
  }
}

function keyAt(text: string, position: number): string {
  return /^["']?([^"':\s]*)/.exec(text.slice(position))?.[1] ?? '';
}

function checkKind(raw: Readonly<Record<string, unknown>>, text: string): void {
  const { apiVersion, kind } = raw;
  if (typeof kind !== 'string' || kind === '') throw failure([missing('Kind', text)]);
  if (typeof apiVersion !== 'string' || apiVersion === '') throw failure([missing('apiVersion', text)]);
  if (apiVersion !== API_VERSION || kind !== KIND) {
    throw failure([
      `no kind ${quote(shortened(kind))} is registered for version ${quote(shortened(apiVersion))}`,
    ]);
  }
}

function missing(field: string, text: string): string {
  return `Object '${field}' is missing in '${shortened(text).trim()}'`;
}

function failure(reasons: readonly string[]): DecodingError {
  return new DecodingError(reasons.map((reason) => `failed to decode: ${reason}`).join('\n'));
}
