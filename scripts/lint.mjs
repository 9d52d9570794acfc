// `npm run lint`: checks format and lint of TypeScript, JavaScript and C++; with --fix, repairs them if possible.

import { reportFailures } from './lib/failure.mjs';
import { nodeScript, step } from './lib/steps.mjs';
import { lintCpp } from './lint/cpp.mjs';

const fix = process.argv.includes('--fix');

process.exitCode = await reportFailures('lint', () => {
  // The files and rules are in biome.json; warnings are failures too.
  const check = ['check', '--error-on-warnings', ...(fix ? ['--write'] : [])];
  step('TypeScript and JavaScript: biome', nodeScript('node_modules/@biomejs/biome/bin/biome', ...check));
  lintCpp(fix);
  return 0;
});
