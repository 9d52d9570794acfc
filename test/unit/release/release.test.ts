// `npm run task -- release`: what it finds missing, the digests that it writes, and the commands that it would run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../../support/paths.js';

const { problemsOf } = await import(join(ROOT, 'scripts/release/checks.mjs'));
const { pinned, basesOf } = await import(join(ROOT, 'scripts/release/bases.mjs'));
const { provenanceOf } = await import(join(ROOT, 'scripts/release/provenance.mjs'));

const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const NODE = `sha256:${'a1'.repeat(32)}`;
const DEBIAN = `sha256:${'b2'.repeat(32)}`;

function release(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['scripts/release.mjs', ...args], { cwd: ROOT, encoding: 'utf8' });
}

/** A checkout that can be released. */
const READY = {
  description: { version: '1.2.3' },
  lock: { version: '1.2.3' },
  changelog: '# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-27\n\n- x\n',
  dockerfile: pinned(dockerfile, { node: NODE, debian: DEBIAN }),
  manifests: new Map([
    ['deploy/a.yaml', 'images:\n  - newTag: 1.2.3\nimage: REGISTRY/kube-netlink-proxy:1.2.3\n'],
  ]),
  changes: '',
  tags: ['v1.2.3'],
  tag: '1.2.3',
};

test('a checkout that lacks nothing is ready', () => {
  assert.deepEqual(problemsOf(READY), []);
});

for (const [what, change, told] of [
  ['changes that are not committed', { changes: ' M README.md' }, /not committed/],
  ['another tag', { tags: ['v1.2.2'] }, /no tag v1\.2\.3/],
  [
    'another version in the lock file',
    { lock: { version: '1.2.2' } },
    /package-lock\.json has version 1\.2\.2/,
  ],
  [
    'changes under Unreleased',
    { changelog: READY.changelog.replace('ed]\n', 'ed]\n\n- y\n') },
    /under Unreleased/,
  ],
  [
    'no section of the version',
    { changelog: '## [Unreleased]\n\n## [1.2.2] - 2026-01-01\n' },
    /no section "\[1\.2\.3\] - DATE"/,
  ],
  ['a section without its date', { changelog: '## [Unreleased]\n\n## [1.2.3]\n' }, /no section/],
  [
    'a manifest of another version',
    { manifests: new Map([['a.yaml', 'newTag: 1.2.2']]) },
    /a\.yaml has version 1\.2\.2/,
  ],
] as const) {
  test(`it finds ${what}, and nothing else`, () => {
    const problems: string[] = problemsOf({ ...READY, ...change });
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems[0] as string, told);
  });
}

test('it finds bases without a digest', () => {
  const unpinned = dockerfile.replaceAll(/^(ARG (?:NODE|DEBIAN)_IMAGE=[^\s@]+)@\S+$/gm, '$1');
  const problems: string[] = problemsOf({ ...READY, dockerfile: unpinned });
  assert.equal(problems.length, 2);
  assert.match(problems[0] as string, /node:24\.\S+ without a digest/);
});

test('pin writes both digests, again in place of former ones, and refuses what is none', () => {
  const once: string = pinned(dockerfile, { node: NODE, debian: DEBIAN });
  assert.match(once, new RegExp(`^ARG NODE_IMAGE=\\S+:24\\S+-slim@${NODE}$`, 'm'));
  assert.match(once, new RegExp(`^ARG DEBIAN_IMAGE=\\S+:13\\S+@${DEBIAN}$`, 'm'));
  const again: string = pinned(once, { node: DEBIAN, debian: NODE });
  assert.equal(basesOf(again).node.digest, DEBIAN);
  assert.equal(again.length, once.length);
  assert.throws(
    () => pinned(dockerfile, { node: 'sha256:abc', debian: DEBIAN }),
    /digest of node must be sha256:/,
  );
});

test('publish needs a registry, and with --dry-run prints its commands: each is a shell script', () => {
  assert.match(release('publish').stderr, /publish needs --registry/);
  const { status, stdout } = release(
    'publish',
    '--dry-run',
    '--registry=registry.example.com/team',
    '--snapshot=20261127T000000Z',
  );
  assert.equal(status, 0);
  assert.equal(spawnSync('sh', ['-n'], { input: stdout }).status, 0);
  for (const told of [
    /^npm publish --provenance --access public$/m,
    /^buildah bud --platform linux\/arm64 .* --build-arg AUTH_PROVIDERS=without --build-arg SNAPSHOT=20261127T000000Z /m,
    /^buildah manifest push --all .* docker:\/\/registry\.example\.com\/team\/kube-netlink-proxy:\d+\.\d+\.\d+-auth-providers$/m,
    /^cosign attest --yes --type cyclonedx /m,
    /^cosign attest --yes --type slsaprovenance1 /m,
  ])
    assert.match(stdout, told);
});

test('images that are built again have a tag of their own, and no package is published', () => {
  const { status, stdout } = release('publish', '--dry-run', '--registry=r', '--rebuild=2');
  assert.equal(status, 0);
  assert.doesNotMatch(stdout, /npm publish/);
  assert.match(stdout, /docker:\/\/r\/kube-netlink-proxy:\d+\.\d+\.\d+-r2$/m);
  assert.match(
    release('publish', '--dry-run', '--registry=r', '--rebuild=x').stderr,
    /--rebuild must be a number, found x/,
  );
});

test('a provenance has the commit, the lock file and the bases', () => {
  const { status, stdout } = release('provenance', '--platform=linux/arm64', '--flavour=without');
  assert.equal(status, 0);
  const { buildDefinition } = JSON.parse(stdout) as {
    buildDefinition: {
      externalParameters: object;
      resolvedDependencies: { name?: string; uri?: string; digest?: object }[];
    };
  };
  assert.deepEqual(buildDefinition.externalParameters, {
    platform: 'linux/arm64',
    authProviders: 'without',
    snapshot: null,
  });
  const [source, lock, ...bases] = buildDefinition.resolvedDependencies;
  assert.match(JSON.stringify(source), /^\{"name":"source","digest":\{"gitCommit":"[0-9a-f]{40}"\}\}$/);
  assert.match(JSON.stringify(lock), /"sha256":"[0-9a-f]{64}"/);
  assert.deepEqual(
    bases.map(({ uri }) => uri?.replace(/:[\d.]+(-\S+)?$/, '')),
    ['docker://docker.io/library/node', 'docker://docker.io/library/debian'],
  );
  assert.match(release('provenance').stderr, /--platform must be one of linux\/amd64, linux\/arm64/);
});

test('the builder of a provenance is the job that built', () => {
  const built = { platform: 'linux/amd64', revision: 'r', bases: basesOf(READY.dockerfile), lock: '' };
  const builder = (environment: object) =>
    provenanceOf({ ...built, environment }).runDetails.builder.id as string;
  assert.equal(
    builder({ GITHUB_SERVER_URL: 'https://g', GITHUB_WORKFLOW_REF: 'o/r/w@v1' }),
    'https://g/o/r/w@v1',
  );
  assert.equal(builder({ CI_JOB_URL: 'https://l/1' }), 'https://l/1');
  assert.equal(builder({}), 'urn:kube-netlink-proxy:release:by-hand');
});

test('a command that does not exist is an error', () => {
  assert.match(release('sell').stderr, /there is no command sell/);
  assert.equal(release('--help').status, 0);
});
