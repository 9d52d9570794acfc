// Prints the time of requests over loopback, in ms. The demo and scripts/demo.mjs run it.
import { loopbackMs } from './loopback.js';

process.stdout.write(`${await loopbackMs()}\n`);
