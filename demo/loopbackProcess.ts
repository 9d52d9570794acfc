// Prints the machine's time for requests over loopback, in ms: run by scripts/demo.mjs outside of the VM.
import { loopbackMs } from './loopback.js';

process.stdout.write(`${await loopbackMs()}\n`);
