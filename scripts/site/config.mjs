// The configuration of VitePress, which reads it beside the staged pages. What it needs of the repository is in site.json.

import { readFileSync } from 'node:fs';
import { anchorOf, GROUPS, linkOf } from './pages.mjs';

/** @type {{ base: string, output: string, source?: string, files: [page: string, file: string, title: string][] }} Of stage.mjs. */
const { base, output, source, files } = JSON.parse(
  readFileSync(new URL('site.json', import.meta.url), 'utf8'),
);
const pages = new Map(files.map(([page, file]) => [file, page]));
const fileOf = new Map(files.map(([page, file]) => [`${page}.md`, file]));

/**
 * @typedef {object} Token of markdown-it
 * @property {string} type
 * @property {string} tag
 * @property {number} level
 * @property {Token[] | null} children
 * @property {(name: string) => string | null} attrGet
 * @property {(name: string, value: string) => void} attrSet
 * @property {[string, string][] | null} attrs
 */

/**
 * Points links at pages. A link to a file that no page shows becomes its text.
 *
 * @param {Token[]} tokens
 * @param {string} file of the document
 */
function resolveLinks(tokens, file) {
  let removed = false;
  for (const token of tokens) {
    if (token.children) resolveLinks(token.children, file);
    if (token.type === 'link_open') {
      const target = linkOf(file, token.attrGet('href') ?? '', pages, source);
      removed = target === undefined;
      if (target !== undefined) token.attrSet('href', target);
    }
    if (removed && /^link_(open|close)$/.test(token.type)) {
      token.tag = 'span';
      token.attrs = null;
      token.type = token.type.replace('link', 'text_span');
    }
  }
}

/** @param {Omit<import('./pages.mjs').Group, 'title'>} group */
const itemsOf = ({ pages: listed }) =>
  listed.map(([file, text]) => {
    const page = pages.get(file) ?? '';
    const below = page.endsWith('/index') ? itemsBelow(page.slice(0, -'index'.length)) : [];
    const link = `/${page.replace(/index$/, '')}`;
    return below.length === 0 ? { text, link } : { text, link, collapsed: true, items: below };
  });

/** @param {string} folder of pages, with a slash */
const itemsBelow = (folder) =>
  files
    .filter(([page]) => page.startsWith(folder) && page !== `${folder}index`)
    .map(([page, , text]) => ({ text, link: `/${page}` }));

/** VitePress sends these functions to the browser as text: they use nothing from outside of them. */
const miniSearch = {
  options: {
    // The words, and as one word each what is joined: the name of a flag, of a setting or of a metric.
    tokenize: (/** @type {string} */ text) => [
      ...text.split(/[\n\r\p{Z}\p{P}]+/u),
      ...(text.match(/\w+(?:[-./]\w+)+/g) ?? []),
    ],
  },
  searchOptions: {
    // One letter in ten may differ: "connection" is not "correction".
    fuzzy: 0.1,
    boost: { title: 4, text: 2, titles: 1 },
    // What operators read comes before what explains the source, and a page before the home page, which repeats it.
    boostDocument: (/** @type {string} */ page) => {
      if (/\/(?:decisions|api)\/|\/(?:upstream-tests|development)\./.test(page)) return 0.2;
      return /\/(?:index\.html)?(?:#|$)/.test(page) ? 0.3 : 1;
    },
  },
};

export default {
  base,
  outDir: output,
  lang: 'en',
  title: 'kube-netlink-proxy',
  description: 'A drop-in kube-proxy whose data plane speaks netlink',
  cleanUrls: false,
  metaChunk: true,
  // Otherwise each page also loads all pages that the sidebar shows.
  router: { prefetchLinks: false },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}icon.svg` }]],
  // Pictures stay files: one for both colour schemes.
  vite: { build: { assetsInlineLimit: 0, chunkSizeWarningLimit: 1000 }, logLevel: 'warn' },
  markdown: {
    anchor: { slugify: anchorOf },
    attrs: { disable: true },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    /** @param {{ disable: Function, linkify: { set: Function }, core: { ruler: { push: Function } } }} md */
    config(md) {
      md.disable('emoji');
      md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
      md.core.ruler.push(
        'links of the repository',
        (/** @type {{ tokens: Token[], env: { relativePath: string } }} */ { tokens, env }) =>
          resolveLinks(tokens, fileOf.get(env.relativePath) ?? ''),
      );
    },
  },
  themeConfig: {
    nav: [
      { text: 'Operators', link: '/choose', activeMatch: '^/(choose|migrate|configuration|commands)' },
      { text: 'Library', link: '/library', activeMatch: '^/(library|cookbook|kernel|api)' },
      { text: 'Benchmarks', link: '/benchmarks', activeMatch: '^/(bench|performance)' },
    ],
    sidebar: GROUPS.map((group) => ({
      text: group.title,
      collapsed: group.reader === 'contributors',
      items: itemsOf(group),
    })),
    outline: { level: [2, 3], label: 'On this page' },
    search: { provider: 'local', options: { detailedView: true, miniSearch } },
    externalLinkIcon: true,
  },
};
