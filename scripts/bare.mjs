// `npm run bare -- COMMAND…`: runs a command in a fresh clone, on a machine that has only Debian, Node.js, npm, git and apt.

import { main } from './bare/cli.mjs';

process.exitCode = await main(process.argv.slice(2));
