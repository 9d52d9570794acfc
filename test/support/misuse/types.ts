// The verbs of each export and the fields of their arguments, as the exported types have them.
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../paths.js';

/** What a place may have: `typeof` of its values, `null`, `array`, or the name of a class. */
export type Kind =
  | 'undefined'
  | 'null'
  | 'string'
  | 'number'
  | 'bigint'
  | 'boolean'
  | 'function'
  | 'object'
  | 'array'
  | 'iterable'
  | 'AbortSignal'
  | 'NetlinkError'
  | 'Uint8Array'
  | 'URL'
  | 'ReadonlySet'
  | 'ReadonlyMap'
  | 'AddressPorts'
  | 'SliceEndpoints';

/** The places of the arguments of a verb by their path, `[0].service.port`, with what each may have. */
export type Places = ReadonlyMap<string, ReadonlySet<Kind>>;

/** A verb: the names of its parameters, and its places. */
export interface VerbType {
  readonly parameters: readonly string[];
  readonly places: Places;
}

const LEAVES: ReadonlySet<string> = new Set([
  ...[
    'AbortSignal',
    'NetlinkError',
    'Uint8Array',
    'URL',
    'ReadonlySet',
    'ReadonlyMap',
    'AddressPorts',
    'SliceEndpoints',
  ],
]);

/** The verbs of exported interfaces and the exported functions, by `module` and name. */
export class ExportedTypes {
  readonly #program: ts.Program;
  readonly #checker: ts.TypeChecker;
  /** The types whose places are being collected: one that contains itself, as an expression does, is not entered again. */
  readonly #within: ts.Type[] = [];

  /** @param modules files below src/kernel, without `.ts` */
  constructor(modules: readonly string[]) {
    const config = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, ROOT);
    this.#program = ts.createProgram(modules.map(fileOf), { ...options, noEmit: true });
    this.#checker = this.#program.getTypeChecker();
  }

  /** The methods that an interface declares itself. */
  interface(module: string, name: string): Map<string, VerbType> {
    const symbol = this.#exports(module).find((each) => each.name === name);
    const verbs = new Map<string, VerbType>();
    for (const member of symbol?.members?.values() ?? []) verbs.set(member.name, this.#verbOf(member));
    return verbs;
  }

  /** The functions that a module exports. */
  functions(module: string): Map<string, VerbType> {
    const functions = new Map<string, VerbType>();
    for (const symbol of this.#exports(module)) {
      const declared = symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
      if (declared.flags & ts.SymbolFlags.Function) functions.set(symbol.name, this.#verbOf(declared));
    }
    return functions;
  }

  /** The functions that a module exports, and of its classes the constructors (`ManifestSource`), methods and static methods. */
  calls(module: string): Map<string, VerbType> {
    const calls = this.functions(module);
    for (const symbol of this.#exports(module)) {
      const declared = symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
      if (!(declared.flags & ts.SymbolFlags.Class) || isTypeOnly(symbol)) continue;
      const type = this.#checker.getTypeOfSymbol(declared);
      const [made] = type.getConstructSignatures();
      if (made && !isHidden(made.getDeclaration())) calls.set(symbol.name, this.#signatureOf(made));
      for (const member of [...(declared.members?.values() ?? []), ...(declared.exports?.values() ?? [])]) {
        const isMethod = member.flags & ts.SymbolFlags.Method && !isHidden(member.valueDeclaration);
        if (isMethod) calls.set(`${symbol.name}.${member.name}`, this.#verbOf(member));
      }
    }
    for (const [name, { parameters }] of calls) if (parameters.length === 0) calls.delete(name);
    return calls;
  }

  #exports(module: string): ts.Symbol[] {
    const source = this.#program.getSourceFile(fileOf(module));
    const symbol = source && this.#checker.getSymbolAtLocation(source);
    if (!symbol) throw new Error(`${module} is not a module`);
    return this.#checker.getExportsOfModule(symbol);
  }

  #verbOf(symbol: ts.Symbol): VerbType {
    // Of several, the last takes every call.
    return this.#signatureOf(this.#checker.getTypeOfSymbol(symbol).getCallSignatures().at(-1));
  }

  #signatureOf(signature: ts.Signature | undefined): VerbType {
    const places = new Map<string, Set<Kind>>();
    const parameters = signature?.parameters ?? [];
    for (const [place, parameter] of parameters.entries()) {
      this.#collect(`[${place}]`, this.#checker.getTypeOfSymbol(parameter), places);
      const { valueDeclaration: declared } = parameter;
      const isOptional =
        declared !== undefined &&
        ts.isParameter(declared) &&
        (declared.questionToken !== undefined || declared.initializer !== undefined);
      if (isOptional) places.get(`[${place}]`)?.add('undefined');
    }
    return { parameters: parameters.map(({ name }) => name), places };
  }

  #collect(path: string, given: ts.Type, places: Map<string, Set<Kind>>): void {
    // Of a type that depends on a parameter, what it is at most.
    const open = ts.TypeFlags.Conditional | ts.TypeFlags.TypeParameter;
    const type = given.flags & open ? (this.#checker.getBaseConstraintOfType(given) ?? given) : given;
    let kinds = places.get(path);
    if (!kinds) {
      kinds = new Set();
      places.set(path, kinds);
    }
    // Of a type parameter: what it may be.
    const most = this.#checker.getBaseConstraintOfType(type) ?? type;
    if (this.#within.includes(most)) {
      kinds.add('object');
      return;
    }
    this.#within.push(most);
    for (const each of most.isUnion() ? most.types : [most]) this.#collectOne(path, each, kinds, places);
    this.#within.pop();
  }

  #collectOne(path: string, type: ts.Type, kinds: Set<Kind>, places: Map<string, Set<Kind>>): void {
    // `string & {}`, beside names that editors suggest.
    const [inner] = type.isIntersection() ? type.types.flatMap((part) => simpleKind(part) ?? []) : [];
    const simple = inner ?? simpleKind(type);
    if (simple) {
      kinds.add(simple);
      return;
    }
    // What is sent as JSON.
    if (type.flags & ts.TypeFlags.Unknown) {
      kinds.add('object');
      return;
    }
    const name = type.symbol?.name;
    if (LEAVES.has(name)) kinds.add(name as Kind);
    else if (this.#checker.isArrayLikeType(type)) {
      kinds.add('array');
      for (const element of this.#checker.getTypeArguments(type as ts.TypeReference)) {
        this.#collect(`${path}[]`, element, places);
      }
    } else if (name === 'Iterable') {
      kinds.add('iterable').add('array');
      const [element] = this.#checker.getTypeArguments(type as ts.TypeReference);
      if (element) this.#collect(`${path}[]`, element, places);
    } else if (type.getCallSignatures().length > 0) kinds.add('function');
    else {
      kinds.add('object');
      for (const property of this.#checker.getPropertiesOfType(type)) {
        if (property.name.startsWith('__@')) continue; // a symbol, which marks the type for the compiler
        const held = this.#checker.getTypeOfSymbol(property);
        if (held.flags & ts.TypeFlags.Undefined || held.flags & ts.TypeFlags.Never) continue; // `field?: never`
        const inner = `${path}.${property.name}`;
        this.#collect(inner, held, places);
        if (property.flags & ts.SymbolFlags.Optional) places.get(inner)?.add('undefined');
      }
    }
  }
}

/** Whether only the type of a class is exported. */
function isTypeOnly({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some(
    (each) => ts.isExportSpecifier(each) && (each.isTypeOnly || each.parent.parent.isTypeOnly),
  );
}

/** Whether a part of a class is not for users: private, or `@internal`. */
function isHidden(declaration: ts.Declaration | undefined): boolean {
  if (!declaration) return false;
  const name = ts.getNameOfDeclaration(declaration);
  const isPrivate =
    ts.getCombinedModifierFlags(declaration) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected);
  return (
    isPrivate !== 0 ||
    (name !== undefined && ts.isPrivateIdentifier(name)) ||
    ts.getJSDocTags(declaration).some((tag) => tag.tagName.text === 'internal')
  );
}

function simpleKind({ flags }: ts.Type): Kind | undefined {
  if (flags & ts.TypeFlags.Undefined) return 'undefined';
  if (flags & ts.TypeFlags.Null) return 'null';
  if (flags & ts.TypeFlags.StringLike) return 'string';
  if (flags & ts.TypeFlags.NumberLike) return 'number';
  if (flags & ts.TypeFlags.BigIntLike) return 'bigint';
  return flags & ts.TypeFlags.BooleanLike ? 'boolean' : undefined;
}

/** Its compiled declarations: the compiler reads them in half of the time of the sources. */
function fileOf(module: string): string {
  return join(ROOT, 'dist/src/kernel', `${module}.d.ts`);
}
