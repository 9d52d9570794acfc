// `npm run lint`: checks format and lint of TypeScript and JavaScript, and of C++ if asked; with --fix, repairs them if possible.

import { parseArgs } from 'node:util';
import { capture } from './lib/commands.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';
import { nodeScript, step } from './lib/steps.mjs';
import { lintCpp } from './lint/cpp.mjs';

const HELP = `Usage: npm run lint [-- OPTIONS]

Checks format and lint of TypeScript, JavaScript and JSON with biome; warnings are failures too.

  --fix      repairs what can be repaired
  --changed  only files that differ from the last commit
  --cpp      also C++, with clang-format and clang-tidy, which it installs
  --help     print this text
`;

process.exitCode = await reportFailures('lint', () => {
  const { fix, changed, cpp, help } = options();
  if (help) {
    process.stdout.write(HELP);
    return 0;
  }
  // The files and rules are in biome.json.
  const check = ['check', '--error-on-warnings', ...(fix ? ['--write'] : [])];
  const files = changed ? changedFiles() : ['.'];
  const biome = nodeScript(
    'node_modules/@biomejs/biome/bin/biome',
    ...check,
    '--no-errors-on-unmatched',
    ...files,
  );
  if (files.length > 0) step('TypeScript and JavaScript: biome', biome);
  if (cpp) lintCpp(fix);
  return 0;
});

function options() {
  const flag = /** @type {const} */ ({ type: 'boolean', default: false });
  try {
    return parseArgs({ options: { fix: flag, changed: flag, cpp: flag, help: flag } }).values;
  } catch (error) {
    throw new Failure(`${/** @type {Error} */ (error).message} (see --help)`);
  }
}

/** @returns {string[]} files that were changed or added since the last commit, relative to the checkout */
function changedFiles() {
  const lists = [
    ['diff', '--name-only', '--diff-filter=d', 'HEAD'],
    ['ls-files', '--others', '--exclude-standard'],
  ].map((args) => capture('git', args));
  const failed = lists.find(({ ok }) => !ok);
  if (failed) throw new Failure(`git cannot list the changed files: ${failed.stderr.trim()}`);
  return lists.flatMap(({ stdout }) => stdout.toString().split('\n').filter(Boolean));
}
