// `npm run task -- image`: builds the image of the Dockerfile with buildah and without a registry, for its tests, and unpacks it to
// .cache/image/unpacked: `rootfs` and `config.json`. Its base images are made of Debian's packages and npm's build of Node.js; they
// resemble the official ones. Do not distribute it: `docker build .` makes the image for nodes.

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { listingOf } from './image/listing.mjs';
import { CHECKOUT } from './lib/checkout.mjs';
import { capture, run } from './lib/commands.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';
import { ensureNodeModules } from './lib/nodeModules.mjs';
import { ensurePackages, IMAGE_PACKAGES, NODE_GYP_PACKAGES } from './lib/packages.mjs';
import { heading, nodeScript, step } from './lib/steps.mjs';

const HELP = `Usage: npm run task -- image [OPTIONS]

Builds the image of the Dockerfile with buildah, for its tests, and unpacks it to .cache/image/unpacked. Needs root. Takes some minutes.

  --twice             builds it once more, and writes what both builds are made of to .cache/image/builds.json
  --without-iptables  leaves out iptables, ipset and libipset (the build argument IPTABLES)
`;

const FOLDER = join(CHECKOUT, '.cache/image');
const UNPACKED = join(FOLDER, 'unpacked');
const IMAGE = 'localhost/kube-netlink-proxy';

// As in the official images: no documentation of packages, except copyright files.
const UNWANTED = ['info', 'locale', 'man'].map((name) => `/usr/share/${name}`);
const DOCUMENTATION = '/usr/share/doc';
const COPYRIGHT = 'copyright';
const EMPTIED = ['/var/cache/apt', '/var/lib/apt/lists'];
// Additional certificates of this machine, so that the build can reach npm as this machine does.
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

process.exitCode = await reportFailures('image', () => {
  const options = parse(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (process.getuid?.() !== 0) throw new Failure('building needs root');
  ensurePackages({ ...NODE_GYP_PACKAGES, ...IMAGE_PACKAGES });
  ensureNodeModules();
  step('prebuilt binary', nodeScript('scripts/prebuild.mjs', '--target', `linux-${process.arch}-glibc`));
  const dockerfile = readFileSync(join(CHECKOUT, 'Dockerfile'), 'utf8');
  // Without their digests, which are those of the official images.
  const tags =
    /^ARG NODE_IMAGE=(\S+:([\d.]+)-([a-z]+)-slim)(?:@\S+)?\nARG DEBIAN_IMAGE=([^\s@]+)(?:@\S+)?$/m.exec(
      dockerfile,
    );
  const [, node = '', version = '', release = '', debian = ''] = tags ?? [];
  if (!tags) throw new Failure('the first arguments of the Dockerfile are no tags of Node.js and of Debian');
  if (!has(debian)) withFolder((folder) => makeDebian(debian, release, folder));
  if (!has(node)) withFolder((folder) => makeNode(node, debian, version, folder));
  const iptables = `IPTABLES=${options['without-iptables'] ? 'without' : 'with'}`;
  const names = [`NODE_IMAGE=${node}`, `DEBIAN_IMAGE=${debian}`, iptables].flatMap((name) => [
    '--build-arg',
    name,
  ]);
  build('building', names);
  unpack();
  if (!options.twice) return 0;
  const first = builtImage();
  build('building it once more', names);
  writeFileSync(join(FOLDER, 'builds.json'), `${JSON.stringify([first, builtImage()])}\n`);
  return 0;
});

/** @param {string[]} args */
function parse(args) {
  const flag = /** @type {const} */ ({ type: 'boolean', default: false });
  try {
    return parseArgs({ args, options: { twice: flag, 'without-iptables': flag, help: flag } }).values;
  } catch (error) {
    throw new Failure(`${/** @type {Error} */ (error).message} (see --help)`);
  }
}

/**
 * Builds the image, without the layers of an earlier build.
 *
 * @param {string} title
 * @param {readonly string[]} names the options with the names of the bases
 */
function build(title, names) {
  heading(title);
  const isolated = ['--isolation', 'chroot', '--network', 'host', '--pull-never', '--no-cache'];
  buildah('bud', ...isolated, '--timestamp', timeOfCommit(), ...names, '--tag', IMAGE, CHECKOUT);
  // The images whose name this one takes.
  buildah('rmi', '--prune');
}

/** The time that all files of the image have, in s since the epoch. */
function timeOfCommit() {
  const given = process.env['SOURCE_DATE_EPOCH'];
  if (given !== undefined) return given;
  const { ok, stdout } = capture('git', ['-C', CHECKOUT, 'log', '-1', '--format=%ct']);
  if (!ok) throw new Failure('this is no git checkout: set SOURCE_DATE_EPOCH');
  return stdout.toString().trim();
}

/**
 * What the image is made of: its configuration with the digests of its layers, and a line for each file.
 *
 * @returns {{ configuration: object, files: string[] }}
 */
function builtImage() {
  heading('reading all its files');
  /** @type {string[]} */
  const files = [];
  within(IMAGE, (container) => {
    files.push(...listingOf(ask('mount', container)));
    buildah('umount', container);
  });
  return { configuration: JSON.parse(ask('inspect', '--type', 'image', IMAGE)).OCIv1, files };
}

/**
 * The image of Debian.
 *
 * @param {string} image
 * @param {string} release
 * @param {string} folder
 */
function makeDebian(image, release, folder) {
  heading(`instead of ${image}: debootstrap ${release}`);
  run('debootstrap', ['--variant=minbase', release, folder]);
  const parts = [`debian ${release}`, `debian ${release}-updates`, `debian-security ${release}-security`];
  const sources = parts.map((part) => `deb http://deb.debian.org/${part} main\n`).join('');
  writeFileSync(join(folder, 'etc/apt/sources.list'), sources);
  const excluded = [...UNWANTED, DOCUMENTATION].map((path) => `path-exclude ${path}/*\n`).join('');
  const included = `path-include ${DOCUMENTATION}/*/${COPYRIGHT}\n`;
  writeFileSync(join(folder, 'etc/dpkg/dpkg.cfg.d/docker'), excluded + included);
  run('find', [join(folder, DOCUMENTATION), '-type', 'f', '!', '-name', COPYRIGHT, '-delete']);
  for (const path of [...UNWANTED, ...EMPTIED]) {
    rmSync(join(folder, path), { recursive: true, force: true });
    mkdirSync(join(folder, path), { recursive: true });
  }
  commit('scratch', folder, image);
}

/**
 * The image of Node.js, with npm.
 *
 * @param {string} image
 * @param {string} debian its base
 * @param {string} version
 * @param {string} folder
 */
function makeNode(image, debian, version, folder) {
  heading(`instead of ${image}: Node.js ${version} from npm`);
  const quiet = ['--silent', '--no-audit', '--no-fund', '--no-package-lock'];
  const packages = [`node-linux-${process.arch}@${version}`, 'npm@11'];
  run('npm', ['install', ...quiet, '--prefix', join(folder, 'packed'), '--force', ...packages]);
  const modules = join(folder, 'packed/node_modules');
  const local = join(folder, 'root/usr/local');
  for (const part of ['bin', 'include']) {
    cpSync(join(modules, `node-linux-${process.arch}`, part), join(local, part), { recursive: true });
  }
  cpSync(join(modules, 'npm'), join(local, 'lib/node_modules/npm'), { recursive: true });
  const npm = '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n';
  writeFileSync(join(local, 'bin/npm'), npm, { mode: 0o755 });
  if (existsSync(CERTIFICATES)) {
    mkdirSync(join(local, 'etc'));
    cpSync(CERTIFICATES, join(local, 'etc/certificates.crt'), { dereference: true });
    writeFileSync(join(local, 'etc/npmrc'), 'cafile=/usr/local/etc/certificates.crt\n');
  }
  commit(debian, join(folder, 'root'), image);
}

/**
 * @param {string} base
 * @param {string} root the files that the image has more
 * @param {string} image
 */
function commit(base, root, image) {
  within(base, (container) => {
    buildah('add', '--quiet', container, root, '/');
    buildah('config', '--cmd', '/bin/bash', '--env', `PATH=${PATH}`, container);
    buildah('commit', '--quiet', container, image);
  });
}

function unpack() {
  heading(`unpacking into ${UNPACKED}`);
  rmSync(UNPACKED, { recursive: true, force: true });
  mkdirSync(UNPACKED);
  within(IMAGE, (container) => {
    run('cp', ['--archive', ask('mount', container), join(UNPACKED, 'rootfs')]);
    buildah('umount', container);
  });
  const { OCIv1 } = JSON.parse(ask('inspect', '--type', 'image', IMAGE));
  writeFileSync(join(UNPACKED, 'config.json'), `${JSON.stringify(OCIv1.config, null, 2)}\n`);
  run('du', ['-sm', join(UNPACKED, 'rootfs')]);
}

/**
 * Runs an action with a container of an image, and deletes the container.
 *
 * @param {string} image
 * @param {(container: string) => void} action
 */
function within(image, action) {
  const container = ask('from', '--pull-never', image);
  try {
    action(container);
  } finally {
    buildah('rm', container);
  }
}

/**
 * The arguments of a call of buildah. The driver vfs and the isolation chroot work inside containers and sandboxes too.
 *
 * @param {readonly string[]} args
 */
function inStorage(args) {
  const storage = join(FOLDER, 'storage');
  return [
    '--storage-driver',
    'vfs',
    '--root',
    join(storage, 'root'),
    '--runroot',
    join(storage, 'run'),
    ...args,
  ];
}

/** @param {readonly string[]} args */
function buildah(...args) {
  run('buildah', inStorage(args));
}

/**
 * @param {readonly string[]} args
 * @returns {string} the output of buildah
 */
function ask(...args) {
  const { ok, stdout, stderr } = capture('buildah', inStorage(args));
  if (!ok) throw new Failure(`buildah ${args.join(' ')}: ${stderr.trim()}`);
  return stdout.toString().trim();
}

/** @param {string} image */
function has(image) {
  return capture('buildah', inStorage(['inspect', '--type', 'image', image])).ok;
}

/** @param {(folder: string) => void} action with a folder that is deleted afterwards */
function withFolder(action) {
  const folder = mkdtempSync(join(tmpdir(), 'kube-netlink-proxy-base-'));
  try {
    action(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
