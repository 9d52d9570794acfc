// `npm run build`: builds everything that the command and the tests need. With --install, it installs missing npm packages first.

import { buildNative, buildTypeScript } from './lib/build.mjs';
import { reportFailures } from './lib/failure.mjs';
import { ensureNodeModules } from './test/prepare.mjs';

process.exitCode = await reportFailures('build', () => {
  if (process.argv.includes('--install')) ensureNodeModules();
  buildNative();
  buildTypeScript();
  return 0;
});
