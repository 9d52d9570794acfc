// The command `npm run image`: installs missing packages, builds, and optionally unpacks the image.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { capture, run } from '../lib/commands.mjs';
import { Failure, reportFailures } from '../lib/failure.mjs';
import { ensureNodeModules } from '../lib/nodeModules.mjs';
import { ensurePackages, IMAGE_PACKAGES, NODE_GYP_PACKAGES } from '../lib/packages.mjs';
import { heading, nodeScript, step } from '../lib/steps.mjs';
import { Buildah } from './buildah.mjs';
import { sumOfInputs } from './inputs.mjs';
import { HELP, parseOptions } from './options.mjs';
import { assertRunnable, DEBIAN_ARCH } from './platform.mjs';
import { ensureStandIns } from './standIn.mjs';

/** @typedef {import('./options.mjs').ImageOptions} ImageOptions */

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit status
 */
export function main(args) {
  return reportFailures('image', () => {
    const { version } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'));
    const options = parseOptions(args, version);
    if (options.help) process.stdout.write(HELP);
    else buildImage(options, version);
    return 0;
  });
}

/**
 * @param {ImageOptions} options
 * @param {string} version
 */
function buildImage(options, version) {
  if (process.getuid?.() !== 0) throw new Failure('building needs root');
  assertRunnable(options.arch);
  ensurePackages({ ...NODE_GYP_PACKAGES, ...IMAGE_PACKAGES });
  ensureNodeModules();
  // The image has the binary of the package.
  step('prebuilt binary', nodeScript('scripts/prebuild.mjs', '--target', `linux-${options.arch}-glibc`));
  const sum = `${sumOfInputs()} ${options.arch}`;
  if (options.exportFolder !== undefined && sumIn(options.exportFolder) === sum) {
    heading(`${options.exportFolder} holds this image`);
    return;
  }
  const buildah = new Buildah(options.storage);
  const dockerfile = readFileSync(join(CHECKOUT, 'Dockerfile'), 'utf8');
  const bases = options.standInBases ? ensureStandIns(buildah, basesOf(dockerfile), options.arch) : {};
  heading(`building ${options.tag} for ${options.arch}`);
  const values = Object.entries({ ...bases, VERSION: version, REVISION: revision() });
  buildah.run([
    'bud',
    ...['--isolation', 'chroot'],
    ...['--network', 'host'],
    ...['--platform', `linux/${DEBIAN_ARCH[options.arch]}`],
    options.standInBases ? '--pull-never' : '--pull',
    ...values.flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    ...['--tag', options.tag],
    CHECKOUT,
  ]);
  // In our own storage, delete the images whose name this one takes.
  if (options.storage !== undefined) buildah.run(['rmi', '--prune']);
  if (options.exportFolder === undefined) return;
  unpack(buildah, options.tag, options.exportFolder);
  writeFileSync(join(options.exportFolder, SUM), sum);
}

// The last file of an unpacked image: the hash of its inputs.
const SUM = 'inputs.sha256';

/**
 * @param {string} folder
 * @returns {string | undefined} the hash of the inputs of the image there; undefined if there is no complete one
 */
function sumIn(folder) {
  const file = join(folder, SUM);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/**
 * @param {string} dockerfile
 * @returns {import('./standIn.mjs').Bases}
 */
function basesOf(dockerfile) {
  /** @param {string} name */
  const value = (name) => {
    const found = new RegExp(`^ARG ${name}=(\\S+)$`, 'm').exec(dockerfile)?.[1];
    if (found === undefined) throw new Failure(`the Dockerfile has no line "ARG ${name}=…"`);
    return found;
  };
  return { node: value('NODE_IMAGE'), debian: value('DEBIAN_IMAGE') };
}

/** The commit, with a mark if there are uncommitted changes. */
function revision() {
  const { ok, stdout } = capture('git', [
    '-C',
    CHECKOUT,
    'describe',
    '--always',
    '--abbrev=40',
    '--dirty',
    '--match=',
  ]);
  return ok ? stdout.toString().trim() : 'unknown';
}

/**
 * @param {Buildah} buildah
 * @param {string} image
 * @param {string} folder
 */
function unpack(buildah, image, folder) {
  heading(`unpacking into ${folder}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  buildah.within(image, (container) => {
    const mounted = buildah.ask(['mount', container]);
    run('cp', ['--archive', mounted, join(folder, 'rootfs')]);
    buildah.run(['umount', container]);
  });
  const { OCIv1 } = JSON.parse(buildah.ask(['inspect', '--type', 'image', image]));
  writeFileSync(join(folder, 'config.json'), `${JSON.stringify(OCIv1.config, null, 2)}\n`);
}
