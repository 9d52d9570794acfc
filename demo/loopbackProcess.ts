// Prints what a machine needs for requests over loopback, in ms: run by the demonstration, and by scripts/demo.mjs outside.
import { loopbackMs } from './loopback.js';

process.stdout.write(`${await loopbackMs()}\n`);
