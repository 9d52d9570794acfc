// `npm run task -- docs`: writes a page for each export of the package to dist/docs, from the doc comments, with typedoc.
//
//   node scripts/docs.mjs           writes the pages
//   node scripts/docs.mjs --check   only ends with 1 when a comment links to nothing
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application } from 'typedoc';
import { CHECKOUT } from './lib/checkout.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';
import { heading } from './lib/steps.mjs';
import { subpaths } from './lib/subpaths.mjs';

const OUTPUT = join(CHECKOUT, 'dist', 'docs');
/** The compiler's settings for the exports alone: without the tests and the agent it takes half the time. */
const SETTINGS = join(CHECKOUT, 'dist', 'docs.tsconfig.json');

process.exitCode = await reportFailures('docs', async () => {
  const exports = subpaths();
  heading(`pages of ${Object.keys(exports).length} exports`);
  const sources = Object.values(exports).map((target) => join(CHECKOUT, sourceOf(target)));
  mkdirSync(join(CHECKOUT, 'dist'), { recursive: true });
  writeFileSync(SETTINGS, JSON.stringify({ extends: '../tsconfig.json', include: [], files: sources }));
  const application = await Application.bootstrap({
    entryPoints: sources,
    tsconfig: SETTINGS,
    name: 'kube-netlink-proxy',
    readme: join(CHECKOUT, 'docs', 'library.md'),
    // A link to a file that is on no page stays a link to the repository.
    validation: { invalidLink: true, notExported: false, notDocumented: false, rewrittenLink: false },
    treatValidationWarningsAsErrors: true,
    skipErrorChecking: true, // the build finds them
    disableSources: true,
  });
  const project = await application.convert();
  if (!project) throw new Failure('typedoc could not read the exports');
  application.validate(project);
  if (application.logger.hasErrors()) throw new Failure('typedoc found errors');
  if (process.argv.includes('--check')) return 0;
  await application.generateDocs(project, OUTPUT);
  heading(`open ${join(OUTPUT, 'index.html')}`);
  return 0;
});

/**
 * `./dist/src/kernel/ipvs/index.js` → `src/kernel/ipvs/index.ts`.
 *
 * @param {string} target
 */
function sourceOf(target) {
  return target.replace(/^\.\/dist\//, '').replace(/\.js$/, '.ts');
}
