// `npm run vm -- CMD ARGS…`: runs a command as root on a kernel with IPVS and dummy interfaces.

import { main } from './vm/cli.mjs';

process.exitCode = await main(process.argv.slice(2));
