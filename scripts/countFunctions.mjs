// `npm run task -- count-functions`: builds, and counts the functions that one added endpoint calls.

import { runCompiled } from './lib/compiled.mjs';

process.exitCode = await runCompiled('count-functions', 'dist/bench/countFunctions.js');
