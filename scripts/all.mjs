// `npm run task -- all`: types of the scripts, lint, format, and all tests, including those of the container image. All kernel
// tests run on Debian's kernel in QEMU; `npm test` prefers faster kernels.

import { reportFailures } from './lib/failure.mjs';
import { ensureNodeModules } from './lib/nodeModules.mjs';
import { nodeScript, step } from './lib/steps.mjs';

process.exitCode = await reportFailures('all', () => {
  ensureNodeModules();
  step('types of the scripts', nodeScript('node_modules/typescript/bin/tsc', '-p', 'tsconfig.scripts.json'));
  step('lint and formatting', nodeScript('scripts/lint.mjs', '--cpp'));
  const inQemu = ['--machine', 'qemu'];
  step('tests', nodeScript('scripts/test.mjs', ...inQemu));
  step('tests of the container image', nodeScript('scripts/test.mjs', ...inQemu, '--only', 'image'));
  return 0;
});
