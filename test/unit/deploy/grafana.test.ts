// The dashboard of deploy/monitoring has the types of Grafana's own schema: no field that Grafana does not know, and no value that it does not.
// Needs: deployTools
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import ts from 'typescript';
import { TOOLS } from '../../support/deployment/rendered.js';
import { ROOT } from '../../support/paths.js';

/** A file beside the packages that is never written. */
const FILE = join(TOOLS, '../dashboard.mts');

const HEAD = `
import type { Dashboard } from './node_modules/@grafana/schema/dist/types/raw/dashboard/x/types.gen.js';
import type { Options } from './node_modules/@grafana/schema/dist/types/raw/composable/timeseries/panelcfg/x/types.gen.js';
/** JSON has the values of enumerations, and not their names. */
type Plain<T> = T extends string
  ? \`\${T}\`
  : T extends readonly (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { [Key in keyof T]: Plain<T[Key]> }
      : T;
`;

/** The compiler's messages for a dashboard, and for the options of its panels, which are all time series. */
function typeErrors(dashboard: {
  readonly panels: readonly { readonly type: string; readonly options: object }[];
}): string[] {
  const panels = dashboard.panels.map(
    ({ options }, i) => `export const options${i}: Plain<Options> = ${JSON.stringify(options)};`,
  );
  const text = [
    HEAD,
    `export const dashboard: Plain<Dashboard> = ${JSON.stringify(dashboard)};`,
    ...panels,
  ].join('\n');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const own = {
    getSourceFile: host.getSourceFile.bind(host),
    fileExists: host.fileExists.bind(host),
    readFile: host.readFile.bind(host),
  };
  host.getSourceFile = (path, ...rest) =>
    path === FILE
      ? ts.createSourceFile(path, text, ts.ScriptTarget.ES2022)
      : own.getSourceFile(path, ...rest);
  host.fileExists = (path) => path === FILE || own.fileExists(path);
  host.readFile = (path) => (path === FILE ? text : own.readFile(path));
  return ts
    .getPreEmitDiagnostics(ts.createProgram([FILE], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

type Json = Parameters<typeof typeErrors>[0] & Record<string, unknown>;

const read = () => JSON.parse(readFileSync(join(ROOT, 'deploy/monitoring/dashboard.json'), 'utf8')) as Json;

describe('the dashboard', () => {
  it('has the types of Grafana', () => {
    const dashboard = read();
    assert.deepEqual(new Set(dashboard.panels.map(({ type }) => type)), new Set(['timeseries']));
    assert.deepEqual(typeErrors(dashboard), []);
  });

  it('would not have them with an unknown field, a wrong value, or a missing one', () => {
    const dashboard = read();
    const [first, second, third] = dashboard.panels;
    assert.ok(first && second && third);
    Object.assign(dashboard, { refersh: '1m' });
    Object.assign(first.options, { legend: {} });
    Object.assign(second.options, { tooltip: { mode: 'all', sort: 'none' } });
    Object.assign(third.options, { tooltips: {} });
    const messages = typeErrors(dashboard).join('\n');
    for (const message of [/refersh.* does not exist/, /missing/, /"all"/, /tooltips.* does not exist/])
      assert.match(messages, message);
  });
});
