// `npm run task -- sbom`: writes the bill of materials of the package or of an image.

import { main } from './sbom/cli.mjs';

process.exitCode = await main(process.argv.slice(2));
