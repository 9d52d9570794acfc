// `npm run task -- flow-table`: builds, and measures connections with and without a flow table.

import { runCompiled } from './lib/compiled.mjs';

process.exitCode = await runCompiled('flow-table', 'dist/bench/flowTable/main.js');
