// `npm run task -- prebuild`: builds the binaries that the package is published with.

import { main } from './prebuild/cli.mjs';

process.exitCode = await main(process.argv.slice(2));
