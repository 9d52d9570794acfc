// `npm run task -- api`: writes the API report of each export of the package, docs/api/*.api.md: every exported declaration, without
// comments. A change of the API shows in the diff, and a test fails when the reports are not current.
//
//   node scripts/api.mjs           compiles the TypeScript, and writes the reports
//   node scripts/api.mjs --check   ends with 1 when a report is not current, or when an exported declaration has no doc comment
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { buildTypeScript } from './lib/build.mjs';
import { CHECKOUT } from './lib/checkout.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';
import { subpaths } from './lib/subpaths.mjs';

const REPORTS = join(CHECKOUT, 'docs', 'api');
const README = 'README.md';

/** Messages of the extractor that are errors here. */
const ERRORS = ['ae-undocumented', 'ae-unresolved-link'];
/**
 * Names that no export has, because users pass them on, or never see them: parts of the items of modes, the bases of the
 * fakes, the attempts that these name, the refusals that they answer with, lists of real servers, the name by which a module imports
 * all types of another, and the types of the table of fields of rules.
 */
const INTERNAL = [
  ...[
    'SetItem',
    'Chain',
    'ChainRule',
    'Entry',
    'NodeDrop',
    'Shortcut',
    'TunnelLink',
    'TunnelRule',
    'TunnelRoute',
    'VirtualServiceItem',
    'Phase',
    'KernelCall',
  ],
  ...[
    'ChainItem',
    'CounterItem',
    'DeviceItem',
    'FlowTableItem',
    'SharedChainItem',
    'RuleItem',
    'TableItem',
    'TableChain',
    'ElementItem',
  ],
  ...[
    'FakeClient',
    'FakeConntrack_base',
    'FakeIpset_base',
    'FakeIpvs_base',
    'FakeNftables_base',
    'FakeRtnetlink_base',
  ],
  ...['Attempt', 'Refusal', 'ServerLists', 'RealServers', 'ChangePart', 'types'],
  ...['AnyHeaderField', 'MetaFields', 'CtFields', 'CtDirections', 'MatchesOf', 'LoadedType'],
];
/** Members may do without a comment where their name says all. */
const MEMBER = /^Missing documentation for "[a-z]/;

const check = process.argv.includes('--check');

process.exitCode = await reportFailures('api', () => {
  if (!check) buildTypeScript();
  mkdirSync(REPORTS, { recursive: true });
  const exports = subpaths();
  const reports = reportsOf(exports);
  const exported = new Set(reports.flatMap((report) => report.exported));
  const errors = reports.flatMap((report) => [
    ...report.errors,
    ...report.missing
      .filter((name) => !exported.has(name) && !INTERNAL.includes(name.replace(/_\d+$/, '')))
      .map((name) => `${report.subpath}: ${name} is used, but exported by no subpath`),
  ]);
  const expected = Object.keys(exports).map((subpath) => `${nameOf(subpath)}.api.md`);
  for (const name of readdirSync(REPORTS)) {
    if (name === README) continue;
    if (expected.includes(name)) continue;
    if (check) errors.push(`docs/api/${name}: the package has no such export`);
    else rmSync(join(REPORTS, name));
  }
  if (errors.length > 0) throw new Failure(errors.join('\n'));
  return 0;
});

/**
 * Writes or checks the reports of these exports. The declarations of all are compiled once.
 *
 * @param {Record<string, string>} exports
 */
function reportsOf(exports) {
  const temporary = mkdtempSync(join(tmpdir(), 'knp-api-'));
  try {
    const declarations = Object.values(exports).map(declarationsOf);
    const configs = Object.keys(exports).map((subpath, i) =>
      configOf(subpath, /** @type {string} */ (declarations[i]), temporary),
    );
    const [first] = configs;
    if (!first) throw new Failure('package.json has no exports');
    const compilerState = CompilerState.create(first, { additionalEntryPoints: declarations });
    return Object.keys(exports).map((subpath, i) => ({
      subpath,
      ...reportOf(subpath, /** @type {ExtractorConfig} */ (configs[i]), compilerState),
    }));
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

/** @param {string} target a compiled file */
function declarationsOf(target) {
  return join(CHECKOUT, target.replace(/\.js$/, '.d.ts'));
}

/**
 * Writes or checks one report.
 *
 * @param {string} subpath `./ipvs`
 * @param {ExtractorConfig} config
 * @param {CompilerState} compilerState
 * @returns {{ errors: string[], exported: string[], missing: string[] }} with the names that it exports, and those that its
 *     declarations use but that only another export may export
 */
function reportOf(subpath, config, compilerState) {
  /** @type {string[]} */
  const errors = [];
  /** @type {string[]} */
  const missing = [];
  const { apiReportChanged } = Extractor.invoke(config, {
    localBuild: !check,
    compilerState,
    messageCallback: (message) => {
      message.handled = true;
      if (message.messageId === 'ae-forgotten-export') missing.push(/"(.*?)"/.exec(message.text)?.[1] ?? '');
      if (!ERRORS.includes(message.messageId) || MEMBER.test(message.text)) return;
      errors.push(`${subpath}: ${basename(message.sourceFilePath ?? '')}: ${message.text}`);
    },
  });
  if (check && apiReportChanged) {
    const report = `docs/api/${nameOf(subpath)}.api.md`;
    const state = existsSync(join(CHECKOUT, report)) ? 'is not current' : 'is missing';
    errors.push(`${report} ${state}: run \`npm run task -- api\`, and describe the change in CHANGELOG.md`);
  }
  const text = readFileSync(config.reportTempFilePath, 'utf8');
  const exported = [...text.matchAll(/^export (?:declare )?(?:abstract )?\w+ (\w+)/gm)].map(
    ([, name = '']) => name,
  );
  return { errors, exported, missing };
}

/**
 * @param {string} subpath
 * @param {string} declarations
 * @param {string} temporary folder
 */
function configOf(subpath, declarations, temporary) {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: CHECKOUT,
      mainEntryPointFilePath: declarations,
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'ES2023',
            lib: ['ES2023'],
            types: ['node'],
            module: 'NodeNext',
            moduleResolution: 'NodeNext',
            strict: true,
            skipLibCheck: true,
          },
          files: [declarations],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${nameOf(subpath)}.api.md`,
        reportFolder: REPORTS,
        reportTempFolder: temporary,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      messages: {},
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(CHECKOUT, 'package.json'),
  });
}

/**
 * `./nftables/text` → `nftables-text`, `.` → `index`.
 *
 * @param {string} subpath
 */
function nameOf(subpath) {
  return subpath === '.' ? 'index' : subpath.slice('./'.length).replaceAll('/', '-');
}
