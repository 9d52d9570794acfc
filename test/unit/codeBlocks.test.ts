// Each code block of the documents: TypeScript compiles against the package's exports, shell and data are well formed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { type CodeBlock, codeBlocks, codeBlocksOf } from '../support/documents/codeBlocks.js';
import { callsIn, findRefusal } from '../support/documents/commandLine.js';
import { sample } from '../support/extent.js';
import { ROOT } from '../support/paths.js';

const blocks = codeBlocks();

/** Languages of blocks that are output or drawings, and have nothing to check. */
const SHOWN = ['text', 'mermaid'];

const CHECKS: Readonly<Record<string, (block: CodeBlock) => string[]>> = {
  sh: ({ text }) => [...shellErrors(text), ...commandErrors(text)],
  console: ({ text }) => commandErrors(text),
  json: ({ text }) => errorsOf(() => JSON.parse(text)),
  yaml: ({ text }) => parseAllDocuments(text).flatMap(({ errors }) => errors.map(String)),
  python: ({ text }) => programErrors('python3', ['-c', 'import ast,sys; ast.parse(sys.stdin.read())'], text),
};

function errorsOf(act: () => unknown): string[] {
  try {
    act();
    return [];
  } catch (error) {
    return [String(error)];
  }
}

function programErrors(program: string, args: readonly string[], input: string): string[] {
  const { status, stderr, error } = spawnSync(program, args, { input, encoding: 'utf8' });
  if (error) throw error;
  return status === 0 ? [] : [stderr];
}

function shellErrors(text: string): string[] {
  return programErrors('bash', ['-n'], text);
}

/** Calls of our own command that it would refuse. */
function commandErrors(text: string): string[] {
  return callsIn(text).flatMap((args) => findRefusal(args) ?? []);
}

/** The files that all programs have in common: they are parsed once. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** The compiler's messages for programs that are files in the repository's root: they import the package by its name. */
function compilerErrors(programs: readonly CodeBlock[]): string[] {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    ROOT,
  );
  const sources = new Map(
    programs.map((block) => [
      join(ROOT, `${block.name.replaceAll(/[/:]/g, '-')}.${block.language === 'js' ? 'mjs' : 'mts'}`),
      block,
    ]),
  );
  // Not the settings for unused names: an example may declare a value that it does not use. Without the folder of the output, the
  // declarations of the package are the compiled ones, as for its users.
  const { tsBuildInfoFile: _, noUnusedLocals: __, noUnusedParameters: ___, outDir: ____, ...rest } = options;
  const isTyped = programs.every(({ language }) => language === 'ts');
  const compilerOptions: ts.CompilerOptions = {
    ...rest,
    ...{ noEmit: true, incremental: false, rootDir: ROOT },
    ...(!isTyped && { allowJs: true, checkJs: true, noImplicitAny: false }),
  };
  const host = ts.createCompilerHost(compilerOptions);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => sources.has(path) || fileExists(path);
  host.readFile = (path) => sources.get(path)?.text ?? readFile(path);
  host.getSourceFile = (path, version, ...others) => {
    const block = sources.get(path);
    if (block) return ts.createSourceFile(path, block.text, version);
    if (!parsed.has(path)) parsed.set(path, getSourceFile.call(host, path, version, ...others));
    return parsed.get(path);
  };
  const program = ts.createProgram([...sources.keys()], compilerOptions, host);
  // Of the blocks alone: npm test has compiled the package.
  const written = program.getSourceFiles().filter(({ fileName }) => sources.has(fileName));
  return written
    .flatMap((file) => ts.getPreEmitDiagnostics(program, file))
    .map((diagnostic) => {
      const { file, start = 0, messageText } = diagnostic;
      const name = (file && sources.get(file.fileName)?.name) ?? file?.fileName ?? '';
      const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
      return `${name}, line ${line} of the block: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
}

describe('the code blocks of the documents', () => {
  it('have a language', () => {
    const known = [...SHOWN, ...Object.keys(CHECKS), 'ts', 'js'];
    const unknown = blocks.filter(({ language }) => !known.includes(language));
    assert.deepEqual(
      unknown.map(({ name, language }) => `${name}: ${language || 'none'}`),
      [],
      `a block needs one of ${known.join(', ')}`,
    );
  });

  for (const [language, check] of Object.entries(CHECKS)) {
    it(`in ${language} are well formed`, () => {
      const written = sample(
        blocks.filter((block) => block.language === language),
        40,
      );
      assert.deepEqual(
        written.flatMap((block) => check(block).map((error) => `${block.name}: ${error}`)),
        [],
      );
    });
  }

  for (const language of ['ts', 'js']) {
    it(`in ${language} compile against the exports of the package`, () => {
      const programs = blocks.filter((block) => block.language === language);
      assert.ok(programs.length > 0);
      assert.deepEqual(compilerErrors(programs), []);
    });
  }
});

it('a wrong block of each language is found', () => {
  const wrong = codeBlocksOf(
    'x.md',
    [
      "```ts\nimport { open } from 'kube-netlink-proxy/ipvs';\n```",
      '```sh\nif true; then\n```',
      [
        '```sh',
        'sudo kube-netlink-proxy plan \\',
        '  --manifest examples # no such flag',
        'node dist/src/command/cli/main.js top --sort size | head',
        'kube-netlink-proxy status >/dev/null || kube-netlink-proxy sttus',
        'x $(kube-netlink-proxy --once --config=a.conf)',
        '```',
      ].join('\n'),
      '```console\n$ kube-netlink-proxy check --once\nkube-netlink-proxy ends\n```',
      '```json\n{\n```',
      '  ```yaml\n  a: [\n  ```',
      '```python\ndef\n```',
    ].join('\n'),
  );
  const [program, ...others] = wrong;
  assert.ok(program);
  assert.match(
    compilerErrors([program]).join(),
    /x\.md:1, line 1 of the block: .*has no exported member.*'open'/,
  );
  const counts = others.map((block) => CHECKS[block.language]?.(block).length);
  assert.deepEqual(counts, [1, 3, 1, 1, 1, 1]);
});
