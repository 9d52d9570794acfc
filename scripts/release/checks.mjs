// What is missing before a release.

import { basesOf } from './bases.mjs';

/**
 * @param {object} checkout
 * @param {{ version: string }} checkout.description package.json
 * @param {{ version: string }} checkout.lock package-lock.json
 * @param {string} checkout.changelog
 * @param {string} checkout.dockerfile
 * @param {ReadonlyMap<string, string>} checkout.manifests path → text
 * @param {string} checkout.changes of `git status --porcelain`
 * @param {readonly string[]} checkout.tags of the commit
 * @param {string} checkout.tag the one that it needs, without the v
 * @returns {string[]} a sentence for each problem
 */
export function problemsOf({ description, lock, changelog, dockerfile, manifests, changes, tags, tag }) {
  const { version } = description;
  const problems = [
    changes === '' ? undefined : 'the checkout has changes that are not committed',
    tags.includes(`v${tag}`) ? undefined : `the commit has no tag v${tag}`,
    lock.version === version
      ? undefined
      : `package-lock.json has version ${lock.version}, and package.json ${version}`,
    ...changelogProblems(changelog, version),
    ...Object.values(basesOf(dockerfile)).map(({ image, digest }) =>
      digest === undefined
        ? `the Dockerfile names ${image} without a digest: npm run task -- release pin`
        : undefined,
    ),
    ...[...manifests].map(([path, text]) => {
      const [, other] = /\b(?:image: \S*kube-netlink-proxy:|newTag: )(\S+)/.exec(text) ?? [];
      return other === undefined || other === version ? undefined : `${path} has version ${other}`;
    }),
  ];
  return problems.flatMap((problem) => problem ?? []);
}

/**
 * @param {string} changelog
 * @param {string} version
 */
function changelogProblems(changelog, version) {
  const sections = changelog.split(/^## /m).slice(1);
  const headed = (/** @type {string} */ name) => sections.find((section) => section.startsWith(`[${name}]`));
  const unreleased = headed('Unreleased')?.split('\n').slice(1).join('').trim() ?? '';
  const released = headed(version)?.split('\n')[0] ?? '';
  return [
    unreleased === '' ? undefined : 'CHANGELOG.md has changes under Unreleased',
    / - \d{4}-\d{2}-\d{2}$/.test(released) ? undefined : `CHANGELOG.md has no section "[${version}] - DATE"`,
  ];
}
