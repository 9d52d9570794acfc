// Draws the last screen of the demo. Standard input: the output of the demo. Argument: the file to write.
import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { lastScreen } from './report.js';
import { terminalSvg } from './svg.js';

const [, , file = ''] = process.argv;
writeFileSync(file, terminalSvg(lastScreen(await text(process.stdin))));
