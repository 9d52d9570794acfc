// Copies the documents, as pages, to the folder that VitePress reads.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CHECKOUT, filesBelow } from '../lib/checkout.mjs';
import { Failure } from '../lib/failure.mjs';
import { HOME, homeOf, pagesOf } from './pages.mjs';

const PICTURE = /!\[[^\]]*\]\(([^)\s]+\.svg)\)/g;

/**
 * @param {string} folder absolute; what it has is replaced
 * @param {object} settings
 * @param {string} settings.base path of the site on its host, `/` or `/NAME/`
 * @param {string} settings.output absolute path of the built pages
 * @param {string | undefined} settings.source prefix of links to files without a page
 * @returns {string[]} the pages, without a suffix
 */
export function stage(folder, settings) {
  const pages = pagesOrFailure();
  rmSync(folder, { recursive: true, force: true });
  const own = join(folder, '.vitepress');
  mkdirSync(own, { recursive: true });
  for (const file of ['config.mjs', 'pages.mjs', 'theme'])
    cpSync(join(import.meta.dirname, file), join(own, file), { recursive: true });
  mkdirSync(join(folder, 'public'));
  cpSync(join(import.meta.dirname, 'theme', 'icon.svg'), join(folder, 'public', 'icon.svg'));
  const files = [...pages].map(([file, page]) => {
    const text = textOf(file);
    write(join(folder, `${page}.md`), text);
    for (const [, picture = ''] of text.matchAll(PICTURE))
      write(join(folder, dirname(page), picture), readFileSync(join(CHECKOUT, dirname(file), picture)));
    return [page, file, /^# (.*)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? ''];
  });
  writeFileSync(join(own, 'site.json'), JSON.stringify({ ...settings, files }));
  return [...pages.values()];
}

function pagesOrFailure() {
  const inFolders = ['docs', 'deploy', 'src'].flatMap((folder) => filesBelow(folder, /\.md$/));
  try {
    return pagesOf([...filesBelow('.', /^[^/]+\.md$/), ...inFolders]);
  } catch (error) {
    throw new Failure(/** @type {Error} */ (error).message);
  }
}

/** @param {string} file */
function textOf(file) {
  const text = readFileSync(join(CHECKOUT, file), 'utf8');
  if (file === HOME) return homeOf(text, readFileSync(join(CHECKOUT, 'docs/library.md'), 'utf8'));
  if (!file.endsWith('.api.md')) return text;
  const name = basename(file, '.api.md');
  const path = name === 'index' ? '' : `/${name.replace('-', '/')}`;
  // Without colours, which would be most of the whole site.
  return text.replace(/^## .*$/m, `# kube-netlink-proxy${path}`).replace(/^```ts$/m, '```text');
}

/**
 * @param {string} path
 * @param {string | Buffer} content
 */
function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
