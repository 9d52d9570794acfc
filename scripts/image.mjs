// `npm run image`: builds the container image of the Dockerfile with buildah, with or without a registry.

import { main } from './image/cli.mjs';

process.exitCode = await main(process.argv.slice(2));
