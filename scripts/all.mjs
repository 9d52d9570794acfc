// `npm run all`: everything that a change has to pass: types of the scripts, lint, formatting, and all tests, also those
// of the container image.

import { reportFailures } from './lib/failure.mjs';
import { nodeScript, step } from './lib/steps.mjs';
import { ensureNodeModules } from './test/prepare.mjs';

process.exitCode = await reportFailures('all', () => {
  ensureNodeModules();
  step('types of the scripts', nodeScript('node_modules/typescript/bin/tsc', '-p', 'tsconfig.scripts.json'));
  step('lint and formatting', nodeScript('scripts/lint.mjs'));
  step('tests', nodeScript('scripts/test.mjs'));
  step('tests of the container image', nodeScript('scripts/test.mjs', '--only', 'image'));
  return 0;
});
