// `npm run lint`: formatting and lint of TypeScript, JavaScript and C++; with --fix, repairs what can be repaired.

import { reportFailures } from './lib/failure.mjs';
import { nodeScript, step } from './lib/steps.mjs';
import { lintCpp } from './lint/cpp.mjs';

const fix = process.argv.includes('--fix');

process.exitCode = await reportFailures('lint', () => {
  // Files and rules are biome.json's; a warning counts as well as an error.
  const check = ['check', '--error-on-warnings', ...(fix ? ['--write'] : [])];
  step('TypeScript and JavaScript: biome', nodeScript('node_modules/@biomejs/biome/bin/biome', ...check));
  lintCpp(fix);
  return 0;
});
