// One file of manifests: text → objects. JSON is read as JSON, everything else as YAML, as in Kubernetes.
import type { Document, LineCounter } from 'yaml';
import { excerpt, type Problem } from '../../kernel/errors.js';
import { TimeSlice } from '../../kernel/timeSlice.js';
import { isRecord } from '../input/fields.js';
import { type Decoded, decodeObject } from '../objects/decode.js';
import type { KubernetesObject } from '../objects/types.js';
import { yaml } from '../yaml.js';
import { findDuplicateKey } from './duplicateKeys.js';

/** The contents of a file. */
interface Manifest {
  /** Objects by identity (see {@link identityOf}). */
  readonly objects: ReadonlyMap<string, KubernetesObject>;
  readonly problems: readonly Problem[];
  /** False when a document, or an object of a kind we read, could not be read: objects may be missing that are still meant. */
  readonly whole: boolean;
}

/** Levels of objects and lists in a document at most. Those of Kubernetes have a few dozen. */
const DEEPEST = 200;
const TOO_DEEP = `must not be nested more than ${DEEPEST} levels deep`;

/** The identity of an object: `Service demo/web`. */
export function identityOf(object: KubernetesObject): string {
  const { kind, name } = object;
  return 'namespace' in object ? `${kind} ${object.namespace}/${name}` : `${kind} ${name}`;
}

/** A document of the text, or why it cannot be read and at which place of the text. */
type Reading = { readonly value: unknown } | { readonly at: string; readonly rule: string };

/**
 * Reads a file's text, a document at a time; problems name the file.
 *
 * @param former objects as they could last be read, by identity
 */
export async function readManifest(
  source: string,
  text: string,
  former?: ReadonlyMap<string, KubernetesObject>,
): Promise<Manifest> {
  const objects = new Map<string, KubernetesObject>();
  const problems: Problem[] = [];
  let whole = true;
  const slice = new TimeSlice();
  for (const reading of readingsOf(source, text)) {
    if (slice.spend()) await slice.yield();
    if (!('value' in reading)) {
      whole = false;
      problems.push({ source, object: 'text', field: reading.at, rule: excerpt(reading.rule) });
      continue;
    }
    for (const raw of itemsOf(reading.value)) {
      if (slice.spend()) await slice.yield();
      const decoded = kindless(raw) ?? decodeObject(raw, (identity) => former?.get(identity));
      problems.push(...decoded.problems.map((problem) => ({ source, ...problem })));
      const { object } = decoded;
      if (object) take(objects, object, source, problems);
      const isRead = object ? object !== former?.get(identityOf(object)) : decoded.problems.length === 0;
      if (!isRead) whole = false;
    }
  }
  return { objects, problems, whole };
}

function take(
  objects: Map<string, KubernetesObject>,
  object: KubernetesObject,
  source: string,
  problems: Problem[],
): void {
  const identity = identityOf(object);
  if (!objects.has(identity)) objects.set(identity, object);
  else
    problems.push({ source, object: identity, field: 'metadata.name', rule: 'must be in a file only once' });
}

/** The documents of a text. A `.json` file is JSON; another may be, and is then read as such: that takes a tenth of the time. */
function* readingsOf(source: string, text: string): Generator<Reading> {
  const strict = source.endsWith('.json');
  if (strict || /^\s*\{/.test(text)) {
    const reading = readJson(text);
    if (strict || reading.isJson) {
      yield reading;
      return;
    }
  }
  yield* readYaml(text);
}

function readJson(text: string): Reading & { readonly isJson: boolean } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { isJson: false, at: 'contents', rule: `must be JSON: ${(error as Error).message}` };
  }
  const found = findDuplicateKey(text, DEEPEST);
  if (!found) return { isJson: true, value };
  const at = `line ${found.line}`;
  if (found.key === undefined) return { isJson: true, at, rule: TOO_DEEP };
  const rule = `must have each key of an object once: ${JSON.stringify(found.key)} is there twice`;
  return { isJson: true, at, rule };
}

/** None is parsed before it is asked for: a hundred of them take long on a slow machine. */
function* readYaml(text: string): Generator<Reading> {
  const { Composer, Lexer, LineCounter, Parser } = yaml();
  const lines = new LineCounter();
  lines.addNewLine(0);
  const composer = new Composer({ version: '1.1', customTags: withoutTimestamps });
  const parser = new Parser(lines.addNewLine);
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme))
      for (const document of composer.next(token)) yield readDocument(document, lines);
    // The library calls itself for each level, and V8 ends the process if that uses up the stack in certain places.
    if (parser.stack.length > DEEPEST) {
      for (const document of composer.end()) yield readDocument(document, lines);
      yield { at: placeAt(parser.offset, lines), rule: TOO_DEEP };
      return;
    }
  }
  for (const token of parser.end())
    for (const document of composer.next(token)) yield readDocument(document, lines);
  for (const document of composer.end()) yield readDocument(document, lines);
}

/** `line 3, column 7`. */
function placeAt(offset: number, lines: LineCounter): string {
  const { line, col } = lines.linePos(offset);
  return `line ${line}, column ${col}`;
}

function readDocument(document: Document, lines: LineCounter): Reading {
  const broken = (position: number, rule: string) => ({ at: placeAt(position, lines), rule });
  const [error] = document.errors;
  if (error) return broken(error.pos[0], error.message);
  try {
    const value: unknown = document.toJS();
    return isDeeper(value, DEEPEST) ? broken(document.range?.[0] ?? 0, TOO_DEEP) : { value };
  } catch (error) {
    // An alias of nothing, or aliases of aliases without end.
    return broken(document.range?.[0] ?? 0, (error as Error).message);
  }
}

/** Whether a value has more levels. One that contains itself, by an alias, has. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((child) => isDeeper(child, levels - 1));
}

/** Kubernetes keeps dates as text; YAML 1.1 would make them dates. */
function withoutTimestamps<Tag>(tags: Tag[]): Tag[] {
  return tags.filter((tag) => (tag as { tag?: string }).tag !== 'tag:yaml.org,2002:timestamp');
}

/** An object without apiVersion or kind may be one that is read here, cut off or mistyped. */
function kindless(raw: unknown): Decoded | undefined {
  if (!isRecord(raw)) return undefined;
  const missing = ['apiVersion', 'kind'].filter((field) => typeof raw[field] !== 'string');
  if (missing.length === 0) return undefined;
  return { problems: missing.map((field) => ({ object: 'document', field, rule: 'must be text' })) };
}

/** The objects of a document: itself, or the items of a `List`; an empty document has none. */
function itemsOf(document: unknown): unknown[] {
  if (document === null || document === undefined) return [];
  if (isRecord(document) && /List$/.test(String(document['kind'])) && Array.isArray(document['items'])) {
    return document['items'];
  }
  return [document];
}
