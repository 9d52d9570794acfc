// `npm run task -- chart`: deploy/ as an archive of Helm, and the index of a repository that has it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parse, stringify } from 'yaml';
import { CHECKOUT } from './lib/checkout.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';

const HELP = `Usage: npm run task -- chart [--output FOLDER]

Writes the chart, which is deploy/, as FOLDER/NAME-VERSION.tgz, and
FOLDER/index.yaml with its digest (default dist/chart/). The folder is a
repository of Helm for any web server. If it has an index, the other versions
stay in it; a version that is there with another digest is an error.

  --output FOLDER   the folder of the repository
  --help            print this text
`;

process.exitCode = await reportFailures('chart', () => {
  const [option, value, ...rest] = process.argv.slice(2);
  if (option === '--help') {
    process.stdout.write(HELP);
    return 0;
  }
  if ((option !== undefined && (option !== '--output' || !value)) || rest.length > 0)
    throw new Failure('the only option is --output FOLDER (see --help)');
  const path = write(resolve(value ?? join(CHECKOUT, 'dist/chart')));
  process.stdout.write(`${path}\n`);
  return 0;
});

/**
 * Writes the archive and the index. The same commit has the same bytes.
 *
 * @param {string} folder
 * @returns {string} the path of the archive
 */
function write(folder) {
  const chart = /** @type {Record<string, string>} */ (
    parse(readFileSync(join(CHECKOUT, 'deploy/Chart.yaml'), 'utf8'))
  );
  const { name = '', version = '' } = chart;
  const created = commitTime();
  const archive = gzipSync(archiveOf(name, created), { level: 9 });
  const file = `${name}-${version}.tgz`;
  const digest = createHash('sha256').update(archive).digest('hex');
  const index = join(folder, 'index.yaml');
  const former = existsSync(index) ? entriesOf(index, name) : [];
  if (former.some((entry) => entry.version === version && entry.digest !== digest))
    throw new Failure(`${index} has version ${version} with another digest: a version does not change`);
  const others = former.filter((entry) => entry.version !== version);
  const entries = { [name]: [{ ...chart, created, digest, urls: [file] }, ...others] };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), archive);
  writeFileSync(index, stringify({ apiVersion: 'v1', entries, generated: created }));
  return join(folder, file);
}

/**
 * The files of deploy/ that git knows, as a tar archive; nothing in it depends on the machine.
 *
 * @param {string} name of the folder in the archive
 * @param {string} time of the files
 */
function archiveOf(name, time) {
  const files = execFileSync('git', ['ls-files', '-z', 'deploy'], { cwd: CHECKOUT });
  const equal = [
    '--format=ustar',
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
  ];
  const options = [...equal, `--mtime=${time}`, `--transform=s,^deploy,${name},`, '--null', '--files-from=-'];
  return execFileSync('tar', ['--create', ...options], { cwd: CHECKOUT, input: files, maxBuffer: 2 ** 26 });
}

/** @returns {string} the time of the commit: 2026-12-01T00:00:00Z */
function commitTime() {
  const seconds = Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: CHECKOUT }).toString());
  return new Date(1000 * seconds).toISOString().replace('.000', '');
}

/**
 * @param {string} index
 * @param {string} name
 * @returns {readonly { readonly version?: string, readonly digest?: string }[]} the versions that an index has
 */
function entriesOf(index, name) {
  return parse(readFileSync(index, 'utf8'))?.entries?.[name] ?? [];
}
