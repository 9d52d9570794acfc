// `npm run task -- seccomp`: records the system calls of the agent, and writes the seccomp profile of deploy/seccomp.

import { main } from './seccomp/cli.mjs';

process.exitCode = await main(process.argv.slice(2));
