// `npm test`: installs missing packages, builds, and runs all tests.

import { main } from './test/cli.mjs';

process.exitCode = await main(process.argv.slice(2));
