// The pages of the site: which file of the repository each one is, and where a link between such files leads.

import { posix } from 'node:path';

/**
 * @typedef {object} Group of pages in the sidebar
 * @property {string} title
 * @property {'operators' | 'library' | 'figures' | 'contributors'} reader
 * @property {readonly (readonly [file: string, title: string])[]} pages paths in the repository
 */

/** @type {readonly Group[]} In the order of the sidebar: operators first. */
export const GROUPS = [
  {
    title: 'Decide',
    reader: 'operators',
    pages: [
      ['docs/choose.md', 'Should I use this?'],
      ['docs/features.md', 'Features'],
      ['docs/differences.md', 'Differences'],
      ['docs/versions.md', 'Versions'],
      ['docs/upstream-tests.md', "Kubernetes' own tests"],
    ],
  },
  {
    title: 'Install and migrate',
    reader: 'operators',
    pages: [
      ['docs/migrate.md', 'Migrate, and back'],
      ['docs/clusters.md', 'Kinds of clusters'],
      ['deploy/README.md', 'Manifests and chart'],
    ],
  },
  {
    title: 'Settings',
    reader: 'operators',
    pages: [
      ['docs/configuration.md', 'Configuration'],
      ['docs/service-settings.md', 'Settings of a Service'],
      ['docs/schedulers.md', 'Schedulers'],
    ],
  },
  {
    title: 'Operation',
    reader: 'operators',
    pages: [
      ['docs/commands.md', 'Commands'],
      ['docs/explain.md', 'Explain a connection'],
      ['docs/health.md', 'Health'],
      ['docs/runbook.md', 'Runbook of alerts'],
      ['docs/troubleshooting.md', 'Troubleshooting'],
      ['SECURITY.md', 'Security'],
      ['CHANGELOG.md', 'Changelog'],
    ],
  },
  {
    title: 'Library',
    reader: 'library',
    pages: [
      ['docs/library.md', 'The library'],
      ['docs/cookbook.md', 'Cookbook'],
      ['src/kernel/README.md', 'Parts of the kernel'],
      ['docs/api/README.md', 'API reports'],
    ],
  },
  {
    title: 'Figures and proof',
    reader: 'figures',
    pages: [
      ['docs/benchmarks.md', 'Benchmarks'],
      ['docs/performance.md', 'Performance'],
      ['docs/bench.md', 'How it is measured'],
      ['docs/judge.md', 'The judge'],
    ],
  },
  {
    title: 'Contributors',
    reader: 'contributors',
    pages: [
      ['CONTRIBUTING.md', 'Contributing'],
      ['docs/development.md', 'Development'],
      ['docs/endpoint-change.md', 'An endpoint change'],
      ['docs/ipvs-rules.md', 'Rules of ipvs mode'],
      ['docs/release.md', 'Releases'],
      ['docs/decisions/README.md', 'Decisions'],
    ],
  },
];

/** The folders of which every document is a page, although the sidebar has only the list of them. */
const WHOLE_FOLDERS = ['docs/api', 'docs/decisions'];

/** The file of the home page. */
export const HOME = 'README.md';

/**
 * @param {readonly string[]} documents paths of all documents of the repository
 * @returns {Map<string, string>} path of a document → path of its page, without a suffix
 * @throws {Error} if a document of docs/ is in no group, or a group names one that there is not
 */
export function pagesOf(documents) {
  const listed = GROUPS.flatMap(({ pages }) => pages.map(([file]) => file));
  const wanted = [HOME, ...listed];
  const missing = wanted.filter((file) => !documents.includes(file));
  const inFolders = documents.filter((file) => WHOLE_FOLDERS.includes(posix.dirname(file)));
  const all = [...new Set([...wanted, ...inFolders])];
  const unlisted = documents.filter((file) => posix.dirname(file) === 'docs' && !all.includes(file));
  const faults = [
    ...missing.map((file) => `${file} does not exist`),
    ...unlisted.map((file) => `${file} is in no group`),
  ];
  if (faults.length > 0) throw new Error(`scripts/site/pages.mjs: ${faults.join('; ')}`);
  return new Map(all.map((file) => [file, pageOf(file)]));
}

/** @param {string} file */
function pageOf(file) {
  if (file === HOME) return 'index';
  const name = file.replace(/^docs\//, '').replace(/\.md$/, '');
  return (posix.basename(name) === 'README' ? `${posix.dirname(name)}/index` : name.toLowerCase()).replace(
    /^src\//,
    '',
  );
}

/**
 * Where a link leads that a document has.
 *
 * @param {string} file the document, a path in the repository
 * @param {string} link as written: `versions.md#what-was-tried`, `../deploy`, `#here`, `https://…`
 * @param {ReadonlyMap<string, string>} pages of {@link pagesOf}
 * @param {string | undefined} source prefix for files without a page, such as `https://HOST/OWNER/NAME/blob/HEAD`
 * @returns {string | undefined} a link for the site; undefined if nothing on it shows the file
 */
export function linkOf(file, link, pages, source) {
  if (/^(?:[a-z]+:|#)/.test(link)) return link;
  const [path = '', ...anchor] = link.split(/(?=#)/);
  const target = posix.join(posix.dirname(file), path).replace(/\/$/, '');
  const page = pages.get(target) ?? pages.get(`${target}/README.md`);
  if (page !== undefined) return `/${page}.md${anchor.join('')}`;
  return source === undefined ? undefined : `${source}/${target}${anchor.join('')}`;
}

/**
 * GitHub's anchor of a heading, which the links of the documents have.
 *
 * @param {string} heading its text
 */
export const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/**
 * The home page: what the proxy is, the ways on, how to install it and what it shows, all from README.md, and the first program of
 * library.md.
 *
 * @param {string} readme
 * @param {string} library
 * @returns {string} its Markdown; links are those of README.md
 */
export function homeOf(readme, library) {
  const [opening = '', ...sections] = readme.split(/^(?=## )/m);
  const [, what = '', ...introduction] = opening.trim().split('\n\n');
  const section = (/** @type {string} */ title) => {
    const found = sections.find((text) => text.startsWith(`## ${title}\n`));
    if (found === undefined) throw new Error(`README.md has no section ${title}`);
    return found.trim();
  };
  const program = /^```ts run\n[\s\S]*?^```$/m.exec(library)?.[0];
  if (program === undefined) throw new Error('docs/library.md has no program');
  const front = {
    layout: 'home',
    title: 'kube-netlink-proxy',
    titleTemplate: false,
    hero: {
      name: 'kube-netlink-proxy',
      tagline: what.replaceAll('\n', ' '),
      actions: [
        { theme: 'brand', text: 'Should I use this?', link: '/choose' },
        { theme: 'alt', text: 'Install it', link: '#use-it' },
        { theme: 'alt', text: 'Migrate a cluster', link: '/migrate' },
        { theme: 'alt', text: 'Use the library', link: '/library' },
      ],
    },
  };
  return [
    `---\n${JSON.stringify(front)}\n---`,
    ...introduction,
    section('Use it'),
    section('See it'),
    section('Pages'),
    '## A library for Node.js',
    'The modes are built on typed clients of the kernel, which other agents of a node can use: [library](docs/library.md), [cookbook](docs/cookbook.md).',
    program,
    section('Licence'),
    '',
  ].join('\n\n');
}
