// Format and lint of the C++ sources, with .clang-format and .clang-tidy.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT, filesBelow } from '../lib/checkout.mjs';
import { ensurePackages } from '../lib/packages.mjs';
import { step } from '../lib/steps.mjs';

const FOLDERS = ['native', 'bench/native', 'test/native'];
// clang-tidy needs the compiler options of each file, which CMake exports.
const COMMANDS = 'build-cmake';

/**
 * @param {boolean} fix repair the format
 */
export function lintCpp(fix) {
  const files = FOLDERS.flatMap((folder) => filesBelow(folder, /\.(cc|h)$/));
  if (files.length === 0) return;
  ensurePackages({ 'clang-format': 'clang-format', 'clang-tidy': 'clang-tidy' });
  step('C++: clang-format', ['clang-format', ...(fix ? ['-i'] : ['--dry-run', '--Werror']), ...files]);
  if (!existsSync(join(CHECKOUT, COMMANDS, 'compile_commands.json'))) return;
  const sources = files.filter((file) => file.endsWith('.cc'));
  step('C++: clang-tidy', ['clang-tidy', '-p', COMMANDS, '--quiet', '--warnings-as-errors=*', ...sources]);
}
