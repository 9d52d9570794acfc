// Runs before `npm pack` and `npm publish`: builds all that the package holds and the checkout does not.

import { buildTypeScript } from './lib/build.mjs';
import { reportFailures } from './lib/failure.mjs';
import { nodeScript, step } from './lib/steps.mjs';

process.exitCode = await reportFailures('prepack', () => {
  buildTypeScript();
  step('command', nodeScript('scripts/bundle.mjs'));
  step('prebuilt binaries', nodeScript('scripts/prebuild.mjs'));
  return 0;
});
