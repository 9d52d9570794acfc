// `npm run image`: builds the container image of the Dockerfile with buildah, where nothing can be pulled too.

import { main } from './image/cli.mjs';

process.exitCode = await main(process.argv.slice(2));
