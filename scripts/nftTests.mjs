// Reads the rules of nft's own tests (tests/py of its source) with our reader, applies them, and compares what nft lists with what nft makes
// of them itself. The tests are not part of this checkout: a person names their folder, or one file. Needs root, and a build
// (`npm run build`). nft is that of Debian sid, which is downloaded. Whole rulesets (`dumps/*.nft` of tests/shell) are read in the same way;
// what nft makes of each is also listed by us, printed, and read again.
//
//   npm run task -- nft-tests PATH             prints the numbers of rules, and those that nft refuses and we apply
//   npm run task -- nft-tests PATH --reasons   prints for each other rule, too, why it is not equal

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CHECKOUT } from './lib/checkout.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';
import { ensureNftVersions, NFT_VERSIONS } from './test/nftVersions.mjs';

/** Says in the environment that the network namespace is a new one: the tests flush its ruleset. */
const INSIDE = 'KNP_NFT_TESTS';

const built = (/** @type {string} */ file) => import(join(CHECKOUT, 'dist/src/kernel/nftables', file));
/** @type {typeof import('../src/kernel/nftables/open.js')} */
const { openNftables } = await built('open.js');
/** @type {typeof import('../src/kernel/nftables/text/index.js')} */
const { formatRuleset, parseRuleset, readRuleset, RulesetError } = await built('text/index.js');

process.exitCode = await reportFailures('nftTests', async () => {
  const [path, option, ...more] = process.argv.slice(2);
  const found = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  if (path === undefined || !found || (option ?? '--reasons') !== '--reasons' || more.length > 0)
    throw new Failure('usage: npm run task -- nft-tests PATH [--reasons]');
  if (!process.env[INSIDE]) {
    // Before the namespace, which has no network.
    ensureNftVersions();
    const args = ['-n', process.execPath, join(CHECKOUT, 'scripts/nftTests.mjs'), ...process.argv.slice(2)];
    const { status, error } = spawnSync('unshare', args, {
      stdio: 'inherit',
      env: { ...process.env, [INSIDE]: '1' },
    });
    if (error) throw new Failure(`cannot start unshare: ${error.message}`);
    return status ?? 1;
  }
  const folder = found.isDirectory() ? path : dirname(path);
  const names = found.isDirectory()
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
    : [basename(path)];
  const files = names.filter((name) => name.endsWith('.t')).sort();
  const shown = names.filter((name) => /(^|\/)dumps\/[^/]+\.nft$/.test(name)).sort();
  if (files.length + shown.length === 0)
    throw new Failure(`${path} has no files *.t, and no files dumps/*.nft`);
  const nftables = await openNftables();
  try {
    return files.length > 0
      ? await compareRules(nftables, folder, files, option !== undefined)
      : await compareDumps(nftables, folder, shown);
  } finally {
    await nftables.close();
  }
});

/** @typedef {Awaited<ReturnType<typeof openNftables>>} Nftables */

/**
 * Compares each rule of these files, and prints the numbers.
 *
 * @param {Nftables} nftables
 * @param {string} folder
 * @param {readonly string[]} files
 * @param {boolean} withReasons
 * @returns {Promise<number>} the exit status
 */
async function compareRules(nftables, folder, files, withReasons) {
  const count = { valid: 0, loaded: 0, read: 0, applied: 0, equal: 0, invalid: 0, wide: 0 };
  for (const [index, file] of files.entries()) {
    console.error(`${index + 1} of ${files.length}: ${file}`);
    for (const { line, text, isValid } of testsOf(readFileSync(join(folder, file), 'utf8'))) {
      const ours = await byUs(nftables, text);
      const isRefused = ours instanceof Error;
      const say = (/** @type {string} */ what) => console.log(`${file}:${line}: ${what}\n${text}`);
      if (!isValid) {
        count.invalid++;
        if (isRefused) continue;
        count.wide++;
        say('applied, and nft refuses it');
        continue;
      }
      count.valid++;
      const theirs = byNft(text);
      if (!(theirs instanceof Error)) count.loaded++;
      const isUnread = ours instanceof RulesetError;
      if (!isUnread) count.read++;
      if (!isRefused) count.applied++;
      if (!isRefused && ours === theirs) count.equal++;
      else if (withReasons && isRefused) say(`${isUnread ? 'not read' : 'not applied'}: ${ours}`);
      else if (withReasons) say(`listed as ${ours}\nand of nft as ${theirs}`);
    }
  }
  console.log(
    `${count.valid} rules × families that nft accepts (${count.loaded} on this kernel): ${count.read} read, ${count.applied} applied, ${count.equal} equal`,
  );
  console.log(`${count.invalid} that it refuses: ${count.wide} applied`);
  return count.wide > 0 ? 1 : 0;
}

/**
 * Compares whole rulesets: what our reader makes of each, and what is printed of what nft makes of it.
 *
 * @param {Nftables} nftables
 * @param {string} folder
 * @param {readonly string[]} files
 * @returns {Promise<number>} the exit status
 */
async function compareDumps(nftables, folder, files) {
  const count = { loaded: 0, applied: 0, equal: 0, printed: 0, printRefused: 0, wrong: 0 };
  for (const [index, file] of files.entries()) {
    console.error(`${index + 1} of ${files.length}: ${file}`);
    const text = readFileSync(join(folder, file), 'utf8');
    const expected = byNft(text);
    if (expected instanceof Error || expected === '') continue;
    count.loaded++;
    const printed = await printedText(nftables);
    const ours = await byUs(nftables, text);
    if (ours instanceof Error) console.log(`${file}: refused: ${ours.message}`);
    else {
      count.applied++;
      if (ours === expected) count.equal++;
      else difference(file, 'is another one', expected, ours);
    }
    if (printed instanceof Error) {
      count.printRefused++;
      console.log(`${file}: print refused: ${printed.message}`);
      continue;
    }
    const [again, read] = [byNft(printed), await byUs(nftables, printed)];
    // What has no notation is in brackets, which neither of the two reads.
    const hole = /^(?:"[^"]*"|[^"[])*(\[[^\]]*\])/m.exec(printed)?.[1];
    if (hole !== undefined && again instanceof Error && read instanceof Error) {
      count.printRefused++;
      console.log(`${file}: print refused: ${hole}`);
    } else if (again !== expected) difference(file, 'printed is another one', expected, again);
    else if (!(read instanceof Error) && read !== expected)
      difference(file, 'printed and read by us is another one', expected, read);
    else count.printed++;
  }
  console.log(
    `${count.loaded} dumps that nft loads, and that are not empty: ${count.applied} read and applied, ${count.equal} equal; printed: ${count.printed} equal, ${count.printRefused} refused`,
  );
  return count.wrong > 0 ? 1 : 0;

  /**
   * @param {string} file
   * @param {string} what
   * @param {string} expected
   * @param {string | Error} given
   */
  function difference(file, what, expected, given) {
    count.wrong++;
    const found = given instanceof Error ? given.message : given;
    const lines = new Set(expected.split('\n'));
    console.log(
      `${file}: ${what}: ${found.split('\n').find((line) => !lines.has(line)) ?? 'lines are missing'}`,
    );
  }
}

/**
 * The text of what the kernel has, or why there is none.
 *
 * @param {Nftables} nftables
 */
async function printedText(nftables) {
  try {
    return formatRuleset(await readRuleset(nftables));
  } catch (error) {
    return /** @type {Error} */ (error);
  }
}

/**
 * What nft lists of a text that it loads, or its error.
 *
 * @param {string} text
 */
function byNft(text) {
  nft('', 'flush', 'ruleset');
  const { status, stderr } = nft(text, '-f', '-');
  return status === 0 ? listed() : new Error(stderr);
}

/**
 * What nft lists of a text that we read and apply, or the reason why not: a RulesetError if it cannot be read.
 *
 * @param {Nftables} nftables
 * @param {string} text
 */
async function byUs(nftables, text) {
  nft('', 'flush', 'ruleset');
  try {
    const results = await nftables.apply(parseRuleset(text));
    return results.find((each) => each !== undefined && each.code !== 'ERR_ROLLED_BACK') ?? listed();
  } catch (error) {
    return /** @type {Error} */ (error);
  }
}

/** What nft lists, without what is another one the next time: the rest of a lifetime, and the number of elements, which is a comment. */
function listed() {
  const { stdout } = nft('', 'list', 'ruleset');
  return stdout.replace(/ expires \S+/g, ' expires').replace(/\t# count \d+$/gm, '');
}

/**
 * @param {string} input
 * @param {readonly string[]} args
 */
function nft(input, ...args) {
  return spawnSync(join(NFT_VERSIONS, 'sid/nft'), args, { input, encoding: 'utf8' });
}

/**
 * The rules of a file, each once for each table, with the sets and objects that it names: `:chain;hook`, `*family;table;chains`, `!set type types`, `?set elements`, `%object type`, and
 * `rule;ok` or `rule;fail`. A line that begins with `-` or `#` is none.
 *
 * @param {string} file
 * @returns {Generator<{ line: number, text: string, isValid: boolean }>}
 */
function* testsOf(file) {
  const tables = [];
  const chains = new Map();
  const sets = new Map();
  const objects = new Map();
  for (const [i, source] of file.split('\n').entries()) {
    const [first = '', second = '', third = ''] = source.split(';');
    const [name = '', ...rest] = first.slice(1).trim().split(/\s+/);
    if (first.startsWith(':')) chains.set(name, source.slice(source.indexOf(';') + 1));
    else if (first.startsWith('*')) tables.push({ family: name, table: second, names: third.split(',') });
    else if (first.startsWith('%') && source.endsWith(';ok')) {
      const [, kind, content] = /^%\S+ type (ct \w+|\w+) ?(.*);ok$/.exec(source) ?? [];
      if (kind) objects.set(name, `\t${kind} ${name} {\n\t\t${content?.replace(/^\{|\}$/g, '')}\n\t}\n`);
    } else if (first.startsWith('!') && second === 'ok')
      sets.set(name, { type: rest.join(' '), elements: [] });
    else if (first.startsWith('?') && second === 'ok' && sets.has(name))
      sets.get(name).elements.push(rest.join(' '));
    else if (/^[^-#!?%\s]/.test(first) && (second === 'ok' || second === 'fail'))
      for (const { family, table, names } of tables) {
        const isNamed = (/** @type {[string, unknown]} */ [each]) => new RegExp(`[@"]${each}\\b`).test(first);
        const blocks = [...sets].filter(isNamed).map(([set, { type, elements }]) => {
          const [types = '', flags = ''] = type.split(/ (?=timeout |flags )/);
          const list = elements.length === 0 ? '' : `\t\telements = { ${elements.join(', ')} }\n`;
          return `\t${type.includes(':') ? 'map' : 'set'} ${set} {\n\t\t${types}\n\t\t${flags}\n${list}\t}\n`;
        });
        const [chain = 'c'] = names;
        const hook = chains.has(chain) ? `\t\t${chains.get(chain)};\n` : '';
        const text = `table ${family} ${table} {\n${[...objects]
          .filter(isNamed)
          .map(([, block]) => block)
          .join('')}${blocks.join('')}\tchain ${chain} {\n${hook}\t\t${first}\n\t}\n}\n`;
        yield { line: i + 1, text, isValid: second === 'ok' };
      }
  }
}
