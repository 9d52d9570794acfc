// `npm run site`: builds the documents as static pages.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CHECKOUT } from './lib/checkout.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';
import { ensurePackages } from './lib/packages.mjs';
import { installPinned } from './lib/pinned.mjs';
import { heading, step } from './lib/steps.mjs';
import { serveSite } from './site/serve.mjs';
import { stage } from './site/stage.mjs';

const HELP = `Usage: npm run site [-- OPTIONS]

Builds the documents as static pages, with a search: dist/site/. Any web server can have them. The first run installs the generator
(npm packages, about 120 MB below .cache/).

  --serve           then serves them on 127.0.0.1 until it is interrupted
  --port NUMBER     of --serve (default 4173)
  --test            then opens every page in Chromium, and fails on what a reader would notice: links, search, errors, width, contrast.
                    Installs Debian's package chromium
  --pictures FOLDER with --test: also writes screenshots to this folder
  --base PATH       where the pages are on their host, such as /kube-netlink-proxy/ (default /)
  --source PREFIX   links to files that no page shows begin with it, such as https://github.com/OWNER/NAME/blob/HEAD; without it,
                    such a link is only text
  --help            print this text
`;

const OUTPUT = join(CHECKOUT, 'dist', 'site');
const PLACE = '.cache/site';
/** Below the packages, so that the pages find them. */
const STAGE = `${PLACE}/pages`;

process.exitCode = await reportFailures('site', async () => {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (options.test) ensurePackages({ chromium: 'chromium' });
  const title = 'npm packages: the generator of pages (about 120 MB)';
  const modules = installPinned({ folder: 'scripts/site', place: PLACE, title, allProcessors: false });
  const pages = stage(join(CHECKOUT, STAGE), { base: options.base, output: OUTPUT, source: options.source });
  const vitepress = join(modules, 'vitepress', 'bin', 'vitepress.js');
  step(`${pages.length} pages`, [process.execPath, vitepress, 'build', STAGE]);
  heading(`built ${join(OUTPUT, 'index.html')}`);
  if (options.test) {
    const { testSite } = await import('./site/test.mjs');
    const status = await testSite({ ...options, folder: OUTPUT, modules, pages });
    if (status !== 0) return status;
  }
  if (options.serve) {
    const { address } = await serveSite(OUTPUT, options.base, options.port);
    heading(`${address} until this is interrupted`);
  }
  return 0;
});

/** @param {readonly string[]} args */
function parseOptions(args) {
  const options = read(args);
  const port = Number(options.port);
  if (!/^\d{1,5}$/.test(options.port) || port > 65_535)
    throw new Failure(`--port must be a number from 0 to 65535, found ${options.port}`);
  if (!/^\/(?:[\w.-]+\/)*$/.test(options.base))
    throw new Failure(`--base must begin and end with /, found ${options.base}`);
  const { pictures } = options;
  if (pictures !== undefined && !options.test) throw new Failure('--pictures needs --test');
  if (pictures !== undefined && !existsSync(pictures))
    throw new Failure(`--pictures ${pictures}: there is no such folder`);
  return { ...options, port, source: options.source?.replace(/\/$/, '') };
}

/** @param {readonly string[]} args */
function read(args) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        serve: { type: 'boolean', default: false },
        port: { type: 'string', default: '4173' },
        test: { type: 'boolean', default: false },
        pictures: { type: 'string' },
        base: { type: 'string', default: '/' },
        source: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new Failure(`${/** @type {Error} */ (error).message} (see --help)`);
  }
}
