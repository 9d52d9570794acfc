// Draws the last screen of the demonstration: its output on standard input, the file to write as the argument.
import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { lastScreen } from './report.js';
import { terminalSvg } from './svg.js';

const [, , file = ''] = process.argv;
writeFileSync(file, terminalSvg(lastScreen(await text(process.stdin))));
