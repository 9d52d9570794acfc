// `npm run task -- schedulers`: builds, and makes the load figures of docs/schedulers.md.

import { runCompiled } from './lib/compiled.mjs';

process.exitCode = await runCompiled('schedulers', 'dist/bench/schedulers/main.js');
