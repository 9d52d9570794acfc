// `npm run all`: types of the scripts, lint, formatting, and all tests, also those of the container image. Every test of the
// kernel runs on Debian's own, in QEMU: `npm test` prefers quicker kernels.

import { reportFailures } from './lib/failure.mjs';
import { nodeScript, step } from './lib/steps.mjs';
import { ensureNodeModules } from './test/prepare.mjs';

process.exitCode = await reportFailures('all', () => {
  ensureNodeModules();
  step('types of the scripts', nodeScript('node_modules/typescript/bin/tsc', '-p', 'tsconfig.scripts.json'));
  step('lint and formatting', nodeScript('scripts/lint.mjs'));
  const inQemu = ['--vehicle', 'qemu'];
  step('tests', nodeScript('scripts/test.mjs', ...inQemu));
  step('tests of the container image', nodeScript('scripts/test.mjs', ...inQemu, '--only', 'image'));
  return 0;
});
