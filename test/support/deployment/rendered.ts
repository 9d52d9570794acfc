// The objects of deploy/ as kustomize builds them, and as Helm would render the chart.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { prepared, ROOT } from '../paths.js';

const run = promisify(execFile);
const CACHE = join(ROOT, '.cache');
const KUSTOMIZE = prepared('kustomize/kustomize');

/** Where `npm test` installs the packages of `tools/`. */
export const TOOLS = prepared('deploy-tools/node_modules');

/** An object of Kubernetes. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
}

/** Objects by kind, namespace and name. */
export type Objects = ReadonlyMap<string, KubernetesObject>;

/** Builds a kustomization in a directory of its own, for example `{resources: ['base']}`; paths are relative to deploy/. */
export async function built(kustomization: {
  readonly resources: readonly string[];
  readonly components?: readonly string[];
  readonly [field: string]: unknown;
}): Promise<Objects> {
  const folder = mkdtempSync(join(CACHE, 'kustomization-'));
  try {
    const pathOf = (name: string) => join(relative(folder, ROOT), 'deploy', name);
    const { resources, components = [], ...rest } = kustomization;
    const text = stringify({
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: resources.map(pathOf),
      components: components.map(pathOf),
      ...rest,
    });
    writeFileSync(join(folder, 'kustomization.yaml'), text);
    const { stdout } = await run(KUSTOMIZE, ['build', folder]);
    return objectsOf(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The chart's default values, with others on top: objects are merged by key, and null removes a key, as Helm does. */
export function valuesWith(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return merged(readChartFile('values.yaml') as Record<string, unknown>, values);
}

function merged(
  base: Record<string, unknown>,
  over: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const result = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const former = result[key];
    if (value === null) delete result[key];
    else result[key] = isObject(former) && isObject(value) ? merged(former, value) : value;
  }
  return result;
}

/** A YAML file of the chart. */
export function readChartFile(name: string): unknown {
  return parse(readFileSync(join(ROOT, 'deploy', name), 'utf8'));
}

/** The files of the chart's templates: path below deploy/, and text. */
export function templates(): Map<string, string> {
  const names = readdirSync(join(ROOT, 'deploy/templates')).map((name) => `templates/${name}`);
  return new Map(names.map((name) => [name, readFileSync(join(ROOT, 'deploy', name), 'utf8')]));
}

/**
 * Renders the chart with Go's engine of templates, which is Helm's. The functions that Helm adds are those of {@link HELM_FUNCTIONS}: an action
 * that uses one is evaluated here, and the engine inserts its result.
 */
export async function rendered(values: Readonly<Record<string, unknown>>): Promise<Objects> {
  const { parse: render } = (await import(join(TOOLS, '@evertdespiegeleer/go-template/dist/main.js'))) as {
    parse(template: string, data: object): Promise<string>;
  };
  const { appVersion } = readChartFile('Chart.yaml') as { appVersion: string };
  const Values = valuesWith(values);
  const texts: string[] = [];
  for (const template of templates().values()) {
    const results: string[] = [];
    const prepared = template.replaceAll(/\{\{(-?) ([^}]*?) (-?)\}\}/g, (action, left, pipeline, right) => {
      if (!HELM_FUNCTION.test(pipeline)) return action;
      results.push(evaluated(pipeline, Values));
      return `{{${left} index $.Results ${results.length - 1} ${right}}}`;
    });
    texts.push(await render(prepared, { Values, Chart: { AppVersion: appVersion }, Results: results }));
  }
  return objectsOf(texts.join('\n---\n'));
}

type Values = Readonly<Record<string, unknown>>;
type HelmFunction = (args: readonly unknown[], piped: unknown) => unknown;

const indented = (text: unknown, columns: unknown) =>
  String(text).replaceAll(/^/gm, ' '.repeat(Number(columns)));

/** The functions of Helm that the templates use. The last argument of a function in Go is the piped one. */
export const HELM_FUNCTIONS: Readonly<Record<string, HelmFunction>> = {
  toYaml: ([value]) => stringify(value).trimEnd(),
  '.Files.Get': ([name]) => readFileSync(join(ROOT, 'deploy', String(name)), 'utf8'),
  quote: (_, piped) => JSON.stringify(piped),
  indent: ([columns], piped) => indented(piped, columns),
  nindent: ([columns], piped) => `\n${indented(piped, columns)}`,
  list: (args) => args,
  toJson: (_, piped) => JSON.stringify(piped),
  sha256sum: (_, piped) => createHash('sha256').update(String(piped)).digest('hex'),
  replace: ([from, to], piped) => String(piped).replaceAll(String(from), () => String(to)),
};

const HELM_FUNCTION = /(?:^|[| ])(toYaml|\.Files\.Get|quote|indent|nindent|list|replace)(?: |$)/;
const WORD = /\((printf "%s#" \S+)\)|"([^"]*)"|(\S+)/g;

function evaluated(pipeline: string, values: Values): string {
  return String(
    pipeline.split(' | ').reduce<unknown>((piped, command, i) => {
      const words = [...command.matchAll(WORD)];
      const [first = '', ...args] = words.map(([word]) => word);
      if (i === 0 && words.length === 1) return valueAt(first, values);
      const apply = HELM_FUNCTIONS[first];
      if (!apply) throw new Error(`${pipeline}: the function ${first} is unknown`);
      return apply(
        args.map((word) => argument(word, values)),
        piped,
      );
    }, undefined),
  );
}

function argument(word: string, values: Values): unknown {
  const [, path] = /^\(printf "%s#" (\S+)\)$/.exec(word) ?? [];
  if (path !== undefined) return `${valueAt(path, values)}#`;
  return word.startsWith('.') ? valueAt(word, values) : (JSON.parse(word) as unknown);
}

/** The value at `.Values.a.b`. Throws if there is none. */
function valueAt(path: string, values: Values): unknown {
  const [empty, root, ...keys] = path.split('.');
  if (empty !== '' || root !== 'Values') throw new Error(`${path}: not below .Values`);
  let value: unknown = values;
  for (const key of keys) {
    if (!isObject(value) || !(key in value)) throw new Error(`${path}: there is no ${key}`);
    value = value[key];
  }
  return value;
}

function objectsOf(text: string): Objects {
  const objects = new Map<string, KubernetesObject>();
  for (const document of parseAllDocuments(text)) {
    if (document.errors[0]) throw document.errors[0];
    const object = document.toJS() as KubernetesObject | null;
    if (object === null) continue;
    const { kind, metadata } = object;
    const key = `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
    if (objects.has(key)) throw new Error(`${key} is there twice`);
    objects.set(key, withParsedFiles(object));
  }
  return objects;
}

/** The files of a ConfigMap are compared by their contents: comments, order and quotes have no meaning. */
function withParsedFiles(object: KubernetesObject): KubernetesObject {
  if (object.kind !== 'ConfigMap') return object;
  const data = Object.entries(object.data ?? {}).map(([name, text]) => [name, parse(text) as unknown]);
  return { ...object, data: Object.fromEntries(data) as Record<string, string> };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
