// The pages of `npm run site`: which documents they are, and where their links lead. What a browser shows is tested by
// `npm run site -- --test`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { documents } from '../support/documents/codeBlocks.js';
import { ROOT } from '../support/paths.js';

const { anchorOf, homeOf, linkOf, pagesOf } = await import(join(ROOT, 'scripts/site/pages.mjs'));

/** Also the list of the API reports, which {@link documents} leaves out. */
const all = [...documents(), 'docs/api/README.md'];

const site = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['scripts/site.mjs', ...args], { cwd: ROOT, encoding: 'utf8' });

it('each document of docs/ is a page of its own, and one in no group is refused', () => {
  const pages: Map<string, string> = pagesOf(all);
  assert.equal(new Set(pages.values()).size, pages.size);
  assert.equal(pages.get('docs/decisions/0057-three-layers.md'), 'decisions/0057-three-layers');
  assert.throws(() => pagesOf([...all, 'docs/new.md']), /docs\/new\.md is in no group/);
  const others = all.filter((path) => path !== 'docs/choose.md');
  assert.throws(() => pagesOf(others), /docs\/choose\.md does not exist/);
});

it('a link leads to the page of its file, to its source, or nowhere', () => {
  const pages = pagesOf(all);
  const of = (link: string, source?: string) => linkOf('docs/health.md', link, pages, source);
  assert.equal(of('versions.md#what-was-tried'), '/versions.md#what-was-tried');
  assert.equal(of('../README.md'), '/index.md');
  assert.equal(of('../deploy'), '/deploy/index.md');
  assert.equal(of('#probes'), '#probes');
  assert.equal(of('https://kubernetes.io/'), 'https://kubernetes.io/');
  assert.equal(of('../Dockerfile'), undefined);
  assert.equal(of('../Dockerfile', 'https://host/x'), 'https://host/x/Dockerfile');
});

it('anchors are those of GitHub', () => {
  assert.equal(anchorOf('Two `words`, and --more_x'), 'two-words-and---more_x');
});

it('the home page has parts of README.md, and names one that is missing', () => {
  const [readme, library] = ['README.md', 'docs/library.md'].map((path) =>
    readFileSync(join(ROOT, path), 'utf8'),
  );
  const home: string = homeOf(readme, library);
  for (const heading of ['Use it', 'See it', 'A library for Node.js'])
    assert.match(home, new RegExp(`^## ${heading}$`, 'm'));
  assert.throws(() => homeOf(readme?.replace('## Use it', '## Use'), library), /no section Use it/);
});

it('wrong options are refused before anything is installed', () => {
  for (const [args, message] of [
    [['--base', 'docs'], 'site: --base must begin and end with /, found docs\n'],
    [['--port', '65536'], 'site: --port must be a number from 0 to 65535, found 65536\n'],
    [['--pictures', '.'], 'site: --pictures needs --test\n'],
    [['--test', '--pictures', 'none'], 'site: --pictures none: there is no such folder\n'],
  ] as const) {
    const { status, stderr } = site(...args);
    assert.deepEqual([status, stderr], [1, message]);
  }
  assert.match(site('--nonesuch').stderr, /^site: Unknown option '--nonesuch'.*\(see --help\)$/m);
});
