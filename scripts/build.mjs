// `npm run build`: builds everything that the command and the tests need.

import { buildNative, buildTypeScript } from './lib/build.mjs';
import { reportFailures } from './lib/failure.mjs';

process.exitCode = await reportFailures('build', () => {
  buildNative();
  buildTypeScript();
  return 0;
});
