// Test files that share a process: its start and its imports take longer than most of their tests.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CHECKOUT } from '../lib/checkout.mjs';

// What a file has that needs its process for itself: hooks of all tests, and what belongs to the whole process, such as its memory and
// its CPU time.
const OWN_PROCESS =
  /^(before|after)(Each)?\(|\bcloseAfter\b|\bmock\b|\bprocess\.(env|on|once|exit|chdir|umask|kill|std\w+|memoryUsage|cpuUsage)\b|\bWorker\b|\bgc\(|\bspawn|\bexecFile|\bfork\(|\bglobalThis\b|\bperformance\b|\/measures\/|'node:v8'|^\/\/ Needs: /m;

/** Time for the process of a group to end after its last test, in ms: below the time limit of a file, which does not say what keeps it. */
const LINGERS = 120_000;

/** The end of a group: `after` of a file that has no tests of its own runs after all of them. */
const END = `import { after } from 'node:test';
after(() => {
  setTimeout(() => {
    process.stderr.write(\`All tests have ended, but the process has not: \${process.getActiveResourcesInfo().join(', ')}\\n\`);
    process.exit(1);
  }, ${LINGERS}).unref();
});
`;

// With all rows of their tables, few files keep a process busy for minutes.
const groupSize = () => (process.env['KNP_TEST_EXTENT'] === 'whole' ? 8 : 120);

/** The modules of support that a test file imports. */
const SUPPORT = /from '(\.[^']*\/support\/[^']*)\.js'/g;

/**
 * @param {string} file a test file, relative to the checkout
 * @returns {boolean} whether it has, or opens by a module of support, what needs its process for itself
 */
function needsProcess(file) {
  const path = join(CHECKOUT, file);
  const text = readFileSync(path, 'utf8');
  if (OWN_PROCESS.test(text)) return true;
  const modules = [...text.matchAll(SUPPORT)].map(([, name]) => join(dirname(path), `${name}.ts`));
  return modules.some((module) => readFileSync(module, 'utf8').includes('closeAfter('));
}

/**
 * @param {readonly string[]} files of a tier, relative to the checkout
 * @param {string} prefix of the paths of the files that are written
 * @returns {string[]} what node --test starts: those that need their process, and files that import the others
 */
export function groupFiles(files, prefix) {
  const alone = files.filter(needsProcess);
  const others = files.filter((file) => !alone.includes(file));
  const count = Math.ceil(others.length / groupSize());
  const groups = Array.from({ length: count }, (_, index) => {
    const path = `${prefix}-${index + 1}.mjs`;
    // Dealt out, because the files of one folder take long alike.
    const dealt = others.filter((_file, n) => n % count === index);
    writeFileSync(path, dealt.map((file) => `import '${pathToFileURL(compiled(file))}';\n`).join('') + END);
    return path;
  });
  return [...alone.map(compiled), ...groups];
}

/**
 * @param {string} file a test file, relative to the checkout
 * @returns {string} what is compiled from it
 */
export const compiled = (file) => join(CHECKOUT, 'dist', file.replace(/\.ts$/, '.js'));
