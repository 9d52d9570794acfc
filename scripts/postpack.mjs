// Runs after `npm pack` and `npm publish`: the modules in dist/ name their source maps again.

import { reportFailures } from './lib/failure.mjs';
import { linkSourceMaps } from './lib/sourceMaps.mjs';

process.exitCode = await reportFailures('postpack', () => {
  linkSourceMaps();
  return 0;
});
