// The command line of `npm run task -- release`.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CHECKOUT } from '../lib/checkout.mjs';
import { capture, run } from '../lib/commands.mjs';
import { Failure, reportFailures } from '../lib/failure.mjs';
import { heading } from '../lib/steps.mjs';
import { basesOf, pinned } from './bases.mjs';
import { problemsOf } from './checks.mjs';
import { provenanceOf } from './provenance.mjs';
import { PLATFORMS, stepsOf } from './steps.mjs';

const HELP = `Usage: npm run task -- release COMMAND [OPTIONS]

  check     what is missing before a release: version, changelog, tag, digests of the bases; exits with 1 if something is
  pin       writes the digests of the base images into the Dockerfile, as skopeo finds them in their registry
            --node DIGEST, --debian DIGEST   these digests instead, sha256:…
  publish   publishes the package and the images, after check
            --registry NAME    registry and folder of the images: registry.example.com/team
            --snapshot TIME    state of Debian's archive, 20261127T000000Z
            --rebuild NUMBER   only the images, again, with the tag VERSION-rNUMBER; check has this option too
            --dry-run          print the commands, and run none
  provenance --platform NAME --flavour NAME --snapshot TIME
            prints the provenance of an image (SLSA 1.0), as publish attests it

docs/release.md describes a release. publish needs npm, buildah and cosign, and credentials for both registries.
`;

/** @type {Readonly<Record<string, (options: Options) => number>>} */
const COMMANDS = { check, pin, publish, provenance };

/** @typedef {ReturnType<typeof parse>['values']} Options */

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit status
 */
export function main(args) {
  return reportFailures('release', () => {
    const { command, values } = parse(args);
    if (values.help || command === undefined) {
      process.stdout.write(HELP);
      return values.help ? 0 : 1;
    }
    const action = COMMANDS[command];
    if (action === undefined) throw new Failure(`there is no command ${command} (see --help)`);
    return action(values);
  });
}

/** @param {readonly string[]} args */
function parse(args) {
  const text = /** @type {const} */ ({ type: 'string' });
  const flag = /** @type {const} */ ({ type: 'boolean', default: false });
  const options = {
    ...{
      node: text,
      debian: text,
      registry: text,
      snapshot: text,
      platform: text,
      flavour: text,
      rebuild: text,
    },
    ...{ 'dry-run': flag, help: flag },
  };
  try {
    const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options });
    return { command: positionals[0], values };
  } catch (error) {
    throw new Failure(`${/** @type {Error} */ (error).message} (see --help)`);
  }
}

/** @param {string} path */
const read = (path) => readFileSync(join(CHECKOUT, path), 'utf8');

/** @param {readonly string[]} args */
function git(...args) {
  const { ok, stdout, stderr } = capture('git', ['-C', CHECKOUT, ...args]);
  if (!ok) throw new Failure(`git ${args.join(' ')}: ${stderr.trim()}`);
  return stdout.toString().trim();
}

/**
 * The tag of the images.
 *
 * @param {Options} options
 * @returns {string}
 */
function tagOf({ rebuild }) {
  const { version } = JSON.parse(read('package.json'));
  if (rebuild === undefined) return version;
  if (!/^[1-9]\d*$/.test(rebuild)) throw new Failure(`--rebuild must be a number, found ${rebuild}`);
  return `${version}-r${rebuild}`;
}

/** @param {string} tag */
function problems(tag) {
  const manifests = readdirSync(join(CHECKOUT, 'deploy'), { recursive: true, encoding: 'utf8' })
    .map((path) => join('deploy', path))
    .filter((path) => path.endsWith('.yaml'));
  return problemsOf({
    description: JSON.parse(read('package.json')),
    lock: JSON.parse(read('package-lock.json')),
    changelog: read('CHANGELOG.md'),
    dockerfile: read('Dockerfile'),
    manifests: new Map(manifests.map((path) => [path, read(path)])),
    changes: git('status', '--porcelain'),
    tags: git('tag', '--points-at', 'HEAD').split('\n'),
    tag,
  });
}

/** @param {Options} options */
function check(options) {
  const found = problems(tagOf(options));
  process.stdout.write(found.map((problem) => `${problem}\n`).join('') || 'ready for a release\n');
  return found.length === 0 ? 0 : 1;
}

/** @param {Options} options */
function pin(options) {
  const dockerfile = read('Dockerfile');
  const { node, debian } = basesOf(dockerfile);
  const digests = {
    node: options.node ?? digestOf(node.image),
    debian: options.debian ?? digestOf(debian.image),
  };
  writeFileSync(join(CHECKOUT, 'Dockerfile'), pinned(dockerfile, digests));
  process.stdout.write(`${node.image}@${digests.node}\n${debian.image}@${digests.debian}\n`);
  return 0;
}

/**
 * The digest of an image in its registry, of all its platforms.
 *
 * @param {string} image
 */
function digestOf(image) {
  const { ok, stdout, stderr } = capture('skopeo', [
    'inspect',
    '--no-tags',
    '--format',
    '{{.Digest}}',
    `docker://${image}`,
  ]);
  if (!ok) throw new Failure(`skopeo cannot read ${image}: ${stderr.trim()}`);
  return stdout.toString().trim();
}

/** @param {Options} options */
function publish(options) {
  const { registry, snapshot, 'dry-run': dryRun } = options;
  if (registry === undefined) throw new Failure('publish needs --registry');
  const tag = tagOf(options);
  const { version } = JSON.parse(read('package.json'));
  const revision = git('rev-parse', 'HEAD');
  const steps = stepsOf({
    version,
    tag,
    registry,
    snapshot,
    revision,
    time: Number(git('log', '-1', '--format=%ct')),
  });
  if (dryRun) {
    process.stdout.write(steps.map(({ title, script }) => `# ${title}\n${script}\n`).join('\n'));
    return 0;
  }
  const found = problems(tag);
  if (found.length > 0) throw new Failure(found.join('\n'));
  for (const { title, script } of steps) {
    heading(title);
    run('sh', ['-euc', script], { cwd: CHECKOUT });
  }
  return 0;
}

/** @param {Options} options */
function provenance({ platform, flavour, snapshot }) {
  if (!PLATFORMS.includes(platform ?? ''))
    throw new Failure(`--platform must be one of ${PLATFORMS.join(', ')}`);
  const built = {
    ...{
      platform,
      flavour,
      snapshot,
      revision: git('rev-parse', 'HEAD'),
      bases: basesOf(read('Dockerfile')),
    },
    lock: read('package-lock.json'),
    environment: process.env,
  };
  process.stdout.write(`${JSON.stringify(provenanceOf(built), null, 2)}\n`);
  return 0;
}
