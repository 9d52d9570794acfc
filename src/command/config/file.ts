// Decodes a configuration file. If its only errors are unknown and duplicate fields, they are ignored with a warning, as
// in kube-proxy.
import { excerpt, shortened } from '../../kernel/errors.js';
import { isRecord } from '../../proxy/input/fields.js';
import { yaml } from '../../proxy/yaml.js';
import { decodeFields } from './configuration.js';
import { quote } from './goSyntax.js';
import { API_VERSION, type Configuration, KIND } from './schema.js';

/** A file that is not a valid configuration; the message has a line for each error. */
export class DecodingError extends Error {}

/**
 * Decodes the text of a configuration file, YAML or JSON. Documents after the first are ignored. Throws
 * {@link DecodingError}.
 *
 * @returns strict: the errors of strict decoding, if lenient decoding succeeds; warnings: the same in kube-proxy's words
 */
export function decodeFile(text: string): {
  readonly configuration: Configuration;
  readonly strict: readonly string[];
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
  return { configuration, strict, warnings };
}

/** Characters that Go's YAML parser rejects. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them on purpose.
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Parses the first document. The last of duplicate keys wins, as in Go. */
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

/** The document as plain values. This resolves aliases, and throws if there are too many. */
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
