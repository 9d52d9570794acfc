// `npm run task -- bundle`: bundles the compiled command and the packages that only it needs into dist/command/, the command of the
// published package. main.js imports the other files when it needs them: the agent does not load the code of the other
// commands. The licenses of these packages and the man page are beside them.
//
//   --auth-providers without   leaves out the packages that only a kubeconfig with an auth-provider needs
//   --folder PATH              writes to this folder of the checkout

import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { CHECKOUT } from './lib/checkout.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';

const { values: options } = parseArgs({
  options: {
    'auth-providers': { type: 'string', default: 'with' },
    folder: { type: 'string', default: 'dist/command' },
  },
});
const FOLDER = join(CHECKOUT, options.folder);
const COMMAND = join(FOLDER, 'main.js');

/** The addon's loader, which every user has. */
const LOADER = 'node-gyp-build';
/** Without it, a kubeconfig with an auth-provider is an error that names it. */
const CLIENT_LIBRARY = '@kubernetes/client-node';

// Bundled CommonJS modules call require() for Node.js's modules.
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

/**
 * Of the Kubernetes client library, only what reads a kubeconfig, in a file of its own that is read for a user with an
 * auth-provider. Its default entry loads the whole API of Kubernetes. It gives credentials for requests of our own, and sends no
 * request to the API server: in place of node-fetch, with which it would, it has Node.js's functions.
 *
 * @type {import('esbuild').Plugin}
 */
const credentialsOnly = {
  name: 'credentials of the client library',
  setup({ onResolve, onLoad }) {
    const namespace = 'credentials';
    // What its modules do when they are loaded is for themselves alone: without those that nothing uses, such as every type of
    // the API, it does the same.
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) =>
      resolveDir.includes(`/node_modules/${CLIENT_LIBRARY}/`)
        ? { path: resolve(resolveDir, path), sideEffects: false }
        : undefined,
    );
    onResolve({ filter: /^(@kubernetes\/client-node|node-fetch)$/ }, ({ path }) => ({ path, namespace }));
    onLoad({ filter: /^@kubernetes/, namespace }, () => ({
      contents: "export { KubeConfig } from '@kubernetes/client-node/dist/config.js';",
      resolveDir: CHECKOUT,
    }));
    onLoad({ filter: /^node-fetch$/, namespace }, () => ({
      contents: 'export const { Headers } = globalThis; export default globalThis.fetch;',
    }));
  },
};

process.exitCode = await reportFailures('bundle', async () => {
  const providers = options['auth-providers'];
  if (providers !== 'with' && providers !== 'without')
    throw new Failure(`--auth-providers must be with or without, found ${providers}`);
  const isComplete = providers === 'with';
  rmSync(FOLDER, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: {
      main: join(CHECKOUT, 'dist/src/command/cli/main.js'),
      // A thread of its own. The code that starts it is in the same folder.
      'parts/thread': join(CHECKOUT, 'dist/src/command/health/thread.js'),
    },
    outdir: FOLDER,
    chunkNames: 'parts/[name]-[hash]',
    // A process keeps the text of the code that it has loaded.
    splitting: true,
    minifyWhitespace: true,
    minifySyntax: true,
    // Lines of this length, in characters, keep positions in stack traces useful.
    lineLimit: 120,
    absWorkingDir: CHECKOUT,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: isComplete ? [LOADER] : [LOADER, CLIENT_LIBRARY],
    banner: { js: BANNER },
    // They are all in the file of licenses.
    legalComments: 'none',
    plugins: isComplete ? [packagesOnFirstUse, credentialsOnly] : [packagesOnFirstUse],
    metafile: true,
    logLevel: 'warning',
  });
  chmodSync(COMMAND, 0o755);
  const outputs = Object.values(metafile.outputs);
  const packages = packagesIn(outputs.flatMap(({ inputs }) => Object.keys(inputs)));
  writeFileSync(join(FOLDER, 'LICENSES'), packages.map(licenseOf).join(`\n${'-'.repeat(80)}\n\n`));
  writeFileSync(join(FOLDER, 'kube-netlink-proxy.8'), manPage());
  const kilobytes = (outputs.reduce((sum, { bytes }) => sum + bytes, 0) / 1000).toFixed(0);
  process.stdout.write(
    `${relative(CHECKOUT, FOLDER)}: ${kilobytes} kB in ${outputs.length} files, with ${packages.length} packages\n`,
  );
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
