// Runs before `npm pack` and `npm publish`: builds all that the package holds and the checkout does not. scripts/postpack.mjs
// runs after them.

import { buildCommand, buildTypeScript } from './lib/build.mjs';
import { reportFailures } from './lib/failure.mjs';
import { unlinkSourceMaps } from './lib/sourceMaps.mjs';
import { nodeScript, step } from './lib/steps.mjs';

process.exitCode = await reportFailures('prepack', () => {
  buildTypeScript();
  buildCommand();
  step('prebuilt binaries', nodeScript('scripts/prebuild.mjs'));
  unlinkSourceMaps();
  return 0;
});
