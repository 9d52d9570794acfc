// `npm run vm -- CMD ARGS…`: runs a command as root on a kernel that has IPVS and the dummy device.

import { main } from './vm/cli.mjs';

process.exitCode = await main(process.argv.slice(2));
