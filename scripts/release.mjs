// `npm run task -- release`: checks a checkout before a release, pins the base images, and publishes the package and the images.

import { main } from './release/cli.mjs';

process.exitCode = await main(process.argv.slice(2));
