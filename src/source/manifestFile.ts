// One file of manifests: text → objects. JSON is YAML here, as everywhere in Kubernetes.
import { Composer, type Document, LineCounter, Parser } from 'yaml';
import { TimeSlice } from '../timeSlice.js';
import type { Problem } from '../errors.js';
import { isRecord } from '../fields.js';
import { decodeObject } from '../objects/decode.js';
import type { KubernetesObject } from '../objects/types.js';

/** What a file says. */
export interface Manifest {
  /** Objects by identity (see {@link identityOf}). */
  readonly objects: ReadonlyMap<string, KubernetesObject>;
  readonly problems: readonly Problem[];
  /** False when part of the text could not be read as YAML at all: objects may be missing that are still meant. */
  readonly whole: boolean;
}

/** `Service demo/web`: what tells objects apart. */
export function identityOf(object: KubernetesObject): string {
  return object.kind === 'Node' ? `Node ${object.name}` : `${object.kind} ${object.namespace}/${object.name}`;
}

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
  const lines = new LineCounter();
  for (const document of documentsOf(text, lines)) {
    if (slice.spend()) await slice.yield();
    const { value, broken } = read(document);
    if (broken) {
      whole = false;
      const { line, col } = lines.linePos(broken.at);
      problems.push({
        source,
        object: 'text',
        field: `line ${line}, column ${col}`,
        rule: broken.said,
      });
      continue;
    }
    for (const raw of itemsOf(value)) {
      const decoded = decodeObject(raw, (identity) => former?.get(identity));
      problems.push(...decoded.problems.map((problem) => ({ source, ...problem })));
      if (!decoded.object) continue;
      const identity = identityOf(decoded.object);
      if (objects.has(identity)) {
        problems.push({
          source,
          object: identity,
          field: 'metadata.name',
          rule: 'must stand once in a file',
        });
      } else {
        objects.set(identity, decoded.object);
      }
    }
  }
  return { objects, problems, whole };
}

/** The documents of a text. None is parsed before it is asked for: a hundred of them take long on a slow machine. */
function documentsOf(text: string, lines: LineCounter): Iterable<Document> {
  const composer = new Composer({ version: '1.1', customTags: withoutTimestamps });
  return composer.compose(new Parser(lines.addNewLine).parse(text));
}

/** What a document says, or what is wrong with it and at which character of the text. */
function read(document: Document): { value?: unknown; broken?: { at: number; said: string } } {
  const [error] = document.errors;
  if (error) return { broken: { at: error.pos[0], said: error.message } };
  try {
    return { value: document.toJS() };
  } catch (error) {
    // An alias of nothing, or aliases of aliases without end.
    return { broken: { at: document.range?.[0] ?? 0, said: (error as Error).message } };
  }
}

/** Kubernetes keeps dates as text; YAML 1.1 would make them dates. */
function withoutTimestamps<Tag>(tags: Tag[]): Tag[] {
  return tags.filter((tag) => (tag as { tag?: string }).tag !== 'tag:yaml.org,2002:timestamp');
}

/** The objects of a document: itself, or the items of a `List`; an empty document has none. */
function itemsOf(document: unknown): unknown[] {
  if (document === null || document === undefined) return [];
  if (isRecord(document) && /List$/.test(String(document['kind'])) && Array.isArray(document['items'])) {
    return document['items'];
  }
  return [document];
}
