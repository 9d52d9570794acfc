// `npm test`: on a fresh clone, gets what is missing, builds, and runs every test, those of the kernel in the VM.

import { main } from './test/cli.mjs';

process.exitCode = await main(process.argv.slice(2));
