// `npm run bundle`: bundles the compiled command and the packages that only it needs into one file, dist/command/main.js, which
// is the command of the published package. The licenses of these packages and the man page are beside it.

import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { CHECKOUT } from './lib/checkout.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';

const FOLDER = join(CHECKOUT, 'dist', 'command');
const COMMAND = join(FOLDER, 'main.js');

/** The addon's loader, which every user has, and the library of credential plugins, which is large and rarely needed. */
const EXTERNAL = ['node-gyp-build', '@kubernetes/client-node'];

// Bundled CommonJS modules call require() for Node's modules.
const BANNER = `import { createRequire as createRequireOfCommand } from 'node:module';
const require = createRequireOfCommand(import.meta.url);`;

/**
 * Modules that load a package on first use have a require of their own, which esbuild does not follow. Without it, esbuild
 * includes the package, and still runs it on first use.
 *
 * @type {import('esbuild').Plugin}
 */
const packagesOnFirstUse = {
  name: 'packages on first use',
  setup({ onLoad }) {
    onLoad({ filter: /\/dist\/src\/.*\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace('\nconst require = createRequire(import.meta.url);', ''),
    }));
  },
};

process.exitCode = await reportFailures('bundle', async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: [join(CHECKOUT, 'dist/src/cli/main.js')],
    outfile: COMMAND,
    absWorkingDir: CHECKOUT,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: EXTERNAL,
    banner: { js: BANNER },
    // They are all in the file of licenses.
    legalComments: 'none',
    plugins: [packagesOnFirstUse],
    metafile: true,
    logLevel: 'warning',
  });
  chmodSync(COMMAND, 0o755);
  const [output] = Object.values(metafile.outputs);
  const packages = packagesIn(Object.keys(output?.inputs ?? {}));
  writeFileSync(join(FOLDER, 'LICENSES'), packages.map(licenseOf).join(`\n${'-'.repeat(80)}\n\n`));
  writeFileSync(join(FOLDER, 'kube-netlink-proxy.8'), manPage());
  const kilobytes = ((output?.bytes ?? 0) / 1000).toFixed(0);
  process.stdout.write(`${relative(CHECKOUT, COMMAND)}: ${kilobytes} kB, with ${packages.length} packages\n`);
  return 0;
});

/** The man page, which the command writes. */
function manPage() {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, 'man'], { encoding: 'utf8' });
  if (status !== 0) throw new Failure(`the command wrote no man page: ${stderr}`);
  return stdout;
}

/**
 * @param {readonly string[]} files
 * @returns {string[]} the folders of the packages that they belong to, in order
 */
function packagesIn(files) {
  const folders = files.flatMap((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

/**
 * @param {string} folder of a package
 * @param {number} _ its place
 * @param {readonly string[]} folders of all packages
 * @returns {string} its name, version and license
 */
function licenseOf(folder, _, folders) {
  const { name, version, license } = described(folder);
  // Some repositories of several packages have one license file, which is only in some of the packages.
  const related = folders.filter((other) => repositoryOf(other) === repositoryOf(folder));
  const text = [folder, ...related].map(licenseFilesIn).find((found) => found !== '');
  if (text === undefined) throw new Failure(`${name} ${version} (${license}) has no file with its license`);
  return `${name} ${version} (${license})\n\n${text}\n`;
}

/** @param {string} folder of a package */
function described(folder) {
  return JSON.parse(readFileSync(join(CHECKOUT, folder, 'package.json'), 'utf8'));
}

/** @param {string} folder of a package */
function repositoryOf(folder) {
  const { repository } = described(folder);
  return repository?.url ?? repository;
}

/** @param {string} folder of a package */
function licenseFilesIn(folder) {
  const files = readdirSync(join(CHECKOUT, folder)).filter((file) =>
    /^(licen[cs]e|copying|notice)/i.test(file),
  );
  return files.map((file) => readFileSync(join(CHECKOUT, folder, file), 'utf8').trim()).join('\n\n');
}
