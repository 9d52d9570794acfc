// `npm run build`: builds everything that the command and the tests need, also the command that `bin` of package.json names.
// It installs missing compilers; with --install, missing npm packages too.

import { buildCommand, buildNative, buildTypeScript } from './lib/build.mjs';
import { reportFailures } from './lib/failure.mjs';
import { ensureNodeModules } from './lib/nodeModules.mjs';
import { COMPILER_PACKAGES, ensurePackages } from './lib/packages.mjs';

process.exitCode = await reportFailures('build', () => {
  ensurePackages(COMPILER_PACKAGES);
  if (process.argv.includes('--install')) ensureNodeModules();
  buildNative();
  buildTypeScript();
  buildCommand();
  return 0;
});
