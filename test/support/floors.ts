// The layers of src/ and the floors in them, and the floors of test/judge/: the imports that each folder may have, from other folders and from
// packages. For the floors test.
import { posix } from 'node:path';
import ts from 'typescript';

/** A part of a tree of folders. */
export interface Floor {
  readonly name: string;
  /** Its files, as paths in the tree. A file belongs to the first floor that matches. */
  readonly files: RegExp;
  /** Other floors that it may import from. */
  readonly imports: readonly string[];
  /** Floors of which it may import types. */
  readonly interfaces?: readonly string[];
  /** Packages and Node modules that it may import; none if it is pure. */
  readonly outside?: RegExp;
  /** Packages of which it may import types. */
  readonly types?: RegExp;
}

const EVERYTHING = /.*/;

/** The agent's programs are started by the addon (src/kernel/shared/programs/program.ts), because child_process copies the page tables of the agent. */
const ALL_BUT_CHILD_PROCESS = /^(?!(node:)?child_process$)/;

/** Large optional packages, which must be loaded with import(). */
const ON_DEMAND = /^@kubernetes\/client-node$/;

/** The layers, as folders of src/: each may import from those before it. */
const LAYERS: readonly string[] = ['kernel', 'proxy', 'command'];

/** The floors of the kernel. */
const KERNEL = ['kernel values', 'kernel shared', 'kernel parts'];

/** From bottom to top. Only the wiring may import everything. */
const FLOORS: readonly Floor[] = [
  { name: 'errors', files: /^kernel\/errors\.ts$/, imports: ['arguments'] },
  // Rules of values that programs give.
  { name: 'arguments', files: /^kernel\/(arguments|shapes)\.ts$/, imports: [], outside: /^node:util$/ },
  { name: 'steps', files: /^kernel\/steps\.ts$/, imports: [] },
  // Time slices for loops over a whole cluster.
  {
    name: 'timeSlice',
    files: /^kernel\/timeSlice\.ts$/,
    imports: ['steps'],
    outside: /^node:(perf_hooks|timers\/promises)$/,
  },
  { name: 'timers', files: /^proxy\/timers\.ts$/, imports: [], outside: /^node:timers\/promises$/ },
  { name: 'optionalPackage', files: /^proxy\/optionalPackage\.ts$/, imports: [] },
  { name: 'packageRoot', files: /^kernel\/packageRoot\.ts$/, imports: [], outside: /^node:(fs|path|url)$/ },
  // Loads the YAML library on first use.
  { name: 'yaml', files: /^proxy\/yaml\.ts$/, imports: ['optionalPackage'], outside: /^(node:module|yaml)$/ },
  { name: 'backoff', files: /^proxy\/backoff\.ts$/, imports: [] },
  { name: 'net', files: /^kernel\/net\//, imports: ['arguments'] },
  { name: 'input', files: /^proxy\/input\//, imports: ['arguments', 'errors', 'net'] },
  {
    name: 'objects',
    files: /^proxy\/objects\//,
    imports: ['arguments', 'errors', 'net', 'input'],
    types: ON_DEMAND,
  },
  {
    name: 'services',
    files: /^proxy\/services\//,
    imports: ['arguments', 'errors', 'input', 'net', 'objects'],
  },
  // What the values of a part of the kernel mean: set types, the notation of entries, real servers of a virtual service.
  {
    name: 'kernel values',
    files: /^kernel\/[^/]+\/values\//,
    imports: ['errors', 'net'],
    interfaces: KERNEL,
  },
  {
    name: 'kernel shared',
    files: /^kernel\/shared\//,
    imports: ['arguments', 'errors', 'net', 'steps', 'timeSlice', 'packageRoot'],
    outside: ALL_BUT_CHILD_PROCESS,
  },
  {
    name: 'testing',
    files: /^kernel\/testing\//,
    imports: ['arguments', 'errors', 'net', 'steps', 'timeSlice', ...KERNEL],
    outside: /^node:os$/,
  },
  {
    name: 'kernel parts',
    // Some are read by commands alone.
    files: /^(?:command\/)?kernel\/[^/]+\//,
    imports: ['arguments', 'errors', 'net', 'steps', 'timeSlice', 'kernel values', 'kernel shared'],
    outside: ALL_BUT_CHILD_PROCESS,
  },
  // The clean-up of UDP flows, common to all modes.
  {
    name: 'conntrack',
    files: /^proxy\/conntrack\//,
    imports: ['errors', 'net', 'services'],
    interfaces: KERNEL,
    outside: /^node:util$/,
  },
  // Which other nodes answer.
  {
    name: 'nodes',
    files: /^proxy\/nodes\//,
    imports: ['net'],
    interfaces: KERNEL,
    outside: /^node:(net|perf_hooks)$/,
  },
  {
    name: 'mode contract',
    files: /^proxy\/modes\/mode\.ts$/,
    imports: ['errors', 'net', 'services'],
  },
  // Pure: what the kernel should hold, and the difference. Names of chains of iptables are hashes.
  {
    name: 'mode plan',
    files: /^proxy\/modes\/[^/]+\/plan\//,
    imports: ['net', 'services', 'mode contract', 'kernel values'],
    interfaces: KERNEL,
    outside: /^node:crypto$/,
  },
  // Effects: reads and changes the kernel. The index of a mode joins its plan and its program.
  {
    name: 'mode program',
    files: /^proxy\/modes\/[^/]+\/(program\/|index\.ts$)/,
    imports: [
      ...['arguments', 'errors', 'net', 'services', 'timers', 'timeSlice', 'mode contract', 'mode plan'],
      ...KERNEL,
    ],
    outside: /^node:timers\/promises$/,
  },
  // The agent's: opens a mode from the configuration, and its former state. The library does not contain it.
  {
    name: 'mode open',
    files: /^command\/modes\//,
    imports: [
      'errors',
      'net',
      'services',
      'nodes',
      'config',
      'mode contract',
      'mode plan',
      'mode program',
      ...KERNEL,
    ],
    outside: ALL_BUT_CHILD_PROCESS,
  },
  // The commands': the path of a packet, from what the kernel holds.
  {
    name: 'explain read',
    files: /^command\/explain\/read\//,
    imports: ['errors', 'net', 'explain', 'mode plan', 'mode program', 'mode open', ...KERNEL],
    outside: ALL_BUT_CHILD_PROCESS,
  },
  {
    name: 'explain',
    files: /^command\/explain\//,
    imports: ['errors', 'net', 'services', 'mode plan', 'kernel values'],
    interfaces: KERNEL,
  },
  {
    name: 'reconcile',
    files: /^proxy\/reconcile\//,
    imports: ['errors', 'backoff', 'net', 'timers', 'timeSlice', 'mode contract', 'services'],
  },
  {
    name: 'source',
    files: /^proxy\/source\//,
    imports: ['arguments', 'errors', 'net', 'timeSlice', 'yaml', 'input', 'objects'],
    outside: EVERYTHING,
  },
  {
    name: 'api',
    files: /^proxy\/api\//,
    imports: [
      'arguments',
      'errors',
      'backoff',
      'net',
      'timeSlice',
      'optionalPackage',
      'yaml',
      'input',
      'objects',
      'source',
    ],
    outside: EVERYTHING,
  },
  // Node ports on localhost, which the agent serves itself.
  {
    name: 'localhostPorts',
    files: /^command\/localhostPorts\//,
    imports: ['net', 'services', 'timeSlice'],
    outside: /^node:(events|net|perf_hooks)$/,
  },
  {
    name: 'config',
    files: /^command\/config\//,
    imports: ['arguments', 'errors', 'net', 'input', 'yaml'],
    outside: EVERYTHING,
  },
  {
    name: 'servers',
    files: /^command\/servers\//,
    imports: ['arguments', 'errors', 'net', 'input'],
    outside: /^(node:.*|prom-client)$/,
  },
  {
    name: 'health',
    files: /^command\/health\//,
    imports: ['net', 'servers', 'localhostPorts'],
    outside: /^node:worker_threads$/,
  },
  {
    name: 'proxy',
    files: /^proxy\/(proxy|proxyShapes|index)\.ts$/,
    imports: ['*'],
    outside: /^node:(perf_hooks|util)$/,
  },
  { name: 'agent', files: /^command\/agent\//, imports: ['*'], outside: ALL_BUT_CHILD_PROCESS },
  { name: 'cli', files: /^command\/cli\//, imports: ['*'], outside: EVERYTHING },
];

/** The judge of histories, below test/. It knows objects and packets, and nothing of src/. */
export const JUDGE_FLOORS: readonly Floor[] = [
  // Pure: histories, the model, the verdict and the report.
  { name: 'judge core', files: /^judge\/core\//, imports: [] },
  { name: 'judge simulated', files: /^judge\/simulated\//, imports: ['judge core'] },
  // Effects: namespaces, sockets, processes.
  {
    name: 'judge run',
    files: /^judge\/run\//,
    imports: ['judge core', 'laboratory', 'support', 'API server'],
    outside: /^node:/,
  },
  { name: 'laboratory', files: /^laboratory\//, imports: [] },
  { name: 'support', files: /^support\/(apiServer|packets)\//, imports: [] },
  { name: 'API server', files: /^\.\.\/bench\/apiServer\//, imports: [] },
];

/** A line for each forbidden import. Keys of `files` are paths below src/, or in the tree of other floors. */
export function violations(files: ReadonlyMap<string, string>, floors: readonly Floor[] = FLOORS): string[] {
  return [...files].flatMap(([path, text]) => {
    const floor = floorOf(path, floors);
    if (!floor) return [`${path}: is on no floor; give its folder one`];
    return importsOf(path, text).flatMap((imported) => judge(path, floor, imported, floors) ?? []);
  });
}

function judge(
  path: string,
  floor: Floor,
  { specifier, load }: Import,
  floors: readonly Floor[],
): string | undefined {
  if (!specifier.startsWith('.')) {
    if (load === 'start' && ON_DEMAND.test(specifier)) return `${path}: loads ${specifier} at the start`;
    if (floor.outside?.test(specifier) || (load === 'never' && floor.types?.test(specifier)))
      return undefined;
    return `${path}: ${floor.name} may not reach outside, but imports ${specifier}`;
  }
  const target = targetOf(path, specifier);
  const below = floorOf(target, floors);
  if (!below) return `${path}: imports ${target}, which is on no floor`;
  if (layerOf(target) > layerOf(path)) return `${path}: is in a lower layer, but imports ${target}`;
  const [from, to] = [modeOf(path), modeOf(target)];
  const isMode = (folder: string | undefined) => folder !== undefined && !SHARED.includes(folder);
  if (from !== undefined && isMode(to) && from !== to) {
    return `${path}: a mode may not import from another, but imports ${target}`;
  }
  if (from === 'shared' && to !== 'shared' && to !== undefined && SHARED.includes(to)) {
    return `${path}: modes/shared is for every mode, but imports ${target}`;
  }
  if (from === undefined && isMode(to) && !NAMES_MODES.test(path)) {
    return `${path}: only command/modes/select.ts knows which modes there are, but it imports ${target}`;
  }
  if (below === floor || floor.imports.includes('*') || floor.imports.includes(below.name)) return undefined;
  if (load === 'never' && floor.interfaces?.includes(below.name)) return undefined;
  return `${path}: ${floor.name} may not import from ${below.name}, but imports ${target}`;
}

function layerOf(path: string): number {
  return LAYERS.indexOf(path.split('/', 1)[0] ?? '');
}

function floorOf(path: string, floors: readonly Floor[]): Floor | undefined {
  return floors.find(({ files }) => files.test(path));
}

/** Circles of imports, types too: the files of each, one line a circle. Keys of `files` are paths below src/. */
export function circles(files: ReadonlyMap<string, string>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, above: readonly string[]): void => {
    const start = above.indexOf(path);
    if (start >= 0) found.push([...above.slice(start), path].join(' → '));
    if (start >= 0 || done.has(path)) return;
    for (const { specifier } of importsOf(path, files.get(path) ?? '')) {
      if (specifier.startsWith('.')) visit(targetOf(path, specifier), [...above, path]);
    }
    done.add(path);
  };
  for (const path of files.keys()) visit(path, []);
  return found;
}

/** The files that are loaded with a file, before it runs, or `later` too. Keys of `files` are paths below src/. */
export function loadedWith(
  path: string,
  files: ReadonlyMap<string, string>,
  ...loads: readonly 'later'[]
): Set<string> {
  const times: readonly Import['load'][] = ['start', ...loads];
  const loaded = new Set([path]);
  for (const file of loaded) {
    for (const { specifier, load } of importsOf(file, files.get(file) ?? '')) {
      if (times.includes(load) && specifier.startsWith('.')) loaded.add(targetOf(file, specifier));
    }
  }
  return loaded;
}

/** The files that a file loads with import(). */
export function loadedLater(path: string, text: string): string[] {
  return importsOf(path, text)
    .filter(({ specifier, load }) => load === 'later' && specifier.startsWith('.'))
    .map(({ specifier }) => targetOf(path, specifier));
}

function targetOf(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');
}

/** Files outside of the folder of a mode that may import from it: the selection, the export of the library, and explanations. */
const NAMES_MODES = /^(proxy\/index\.ts$|command\/modes\/select\.ts$|command\/explain\/)/;

/** The folders of what all modes share, and of what those with rules of iptables, or of nf_tables, share. */
const SHARED: readonly string[] = ['shared', 'iptablesRules', 'nftablesRules'];

function modeOf(path: string): string | undefined {
  return /^(?:proxy|command)\/modes\/([^/]+)\//.exec(path)?.[1];
}

interface Import {
  readonly specifier: string;
  /** The time when the module is loaded: with the file, by import(), or never if only its types are used. */
  readonly load: 'start' | 'later' | 'never';
}

/** Text of a file → its imports: several rules read the same files. */
const IMPORTS = new Map<string, readonly Import[]>();

/** All imports and re-exports of a file, with types, import() and import types. */
function importsOf(path: string, text: string): readonly Import[] {
  const known = IMPORTS.get(text);
  if (known) return known;
  const imports: Import[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier && ts.isStringLiteralLike(specifier)) {
      imports.push({ specifier: specifier.text, load: loadOf(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  IMPORTS.set(text, imports);
  return imports;
}

function loadOf(node: ts.Node): Import['load'] {
  if (ts.isCallExpression(node)) return 'later';
  if (ts.isImportTypeNode(node)) return 'never';
  if (ts.isImportDeclaration(node)) return node.importClause?.isTypeOnly ? 'never' : 'start';
  return ts.isExportDeclaration(node) && node.isTypeOnly ? 'never' : 'start';
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
  return ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
    ? node.arguments[0]
    : undefined;
}
