// Builds replacements of the base images without a registry: Debian with debootstrap, and Node from npm.

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';
import { heading } from '../lib/steps.mjs';
import { DEBIAN_ARCH } from './platform.mjs';

/** @typedef {import('./buildah.mjs').Buildah} Buildah */
/** @typedef {import('./options.mjs').Arch} Arch */
/** @typedef {{ node: string, debian: string }} Bases names of the images */

// As in the official images: no documentation of packages, except copyright files.
const UNWANTED = ['info', 'locale', 'man'].map((name) => `/usr/share/${name}`);
const DOCUMENTATION = '/usr/share/doc';
const COPYRIGHT = 'copyright';
const EMPTIED = ['/var/cache/apt', '/var/lib/apt/lists'];
// Additional certificates of this machine, so that the build can reach npm as this machine does.
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Builds the base images of both stages, unless they exist.
 *
 * @param {Buildah} buildah
 * @param {Bases} bases the names in the Dockerfile
 * @param {Arch} arch the image's processor; the first stage has this machine's
 * @returns {Readonly<Record<string, string>>} values of the Dockerfile's arguments
 */
export function ensureStandIns(buildah, bases, arch) {
  const own = /** @type {Arch} */ (process.arch);
  const final = arch === own ? bases : { node: `${bases.node}-${arch}`, debian: `${bases.debian}-${arch}` };
  const release = /(?:^|-)([a-z]+)-slim$/.exec(bases.node)?.[1];
  const version = /:(\d+\.\d+\.\d+)-/.exec(bases.node)?.[1];
  if (release === undefined || version === undefined) {
    throw new Failure(`cannot replace ${bases.node}: its tag does not have the form 24.21.0-trixie-slim`);
  }
  for (const [names, processor] of /** @type {const} */ ([
    [bases, own],
    [final, arch],
  ])) {
    const platform = { release, version, arch: processor };
    if (!buildah.has(names.debian))
      withFolder((folder) => makeDebian(buildah, names.debian, platform, folder));
    if (!buildah.has(names.node)) withFolder((folder) => makeNode(buildah, names, platform, folder));
  }
  return { NODE_IMAGE: final.node, DEBIAN_IMAGE: final.debian, BUILD_IMAGE: bases.node };
}

/** @typedef {{ release: string, version: string, arch: Arch }} Platform Debian's release, Node's version, the processor */

/**
 * @param {Buildah} buildah
 * @param {string} image
 * @param {Platform} platform
 * @param {string} folder
 */
function makeDebian(buildah, image, { release, arch }, folder) {
  heading(`standing in for ${image}: debootstrap ${release}`);
  const root = join(folder, 'root');
  run('debootstrap', ['--variant=minbase', `--arch=${DEBIAN_ARCH[arch]}`, release, root]);
  writeFileSync(join(root, 'etc/apt/sources.list'), sources(release));
  const excluded = [...UNWANTED, DOCUMENTATION].map((path) => `path-exclude ${path}/*\n`).join('');
  const included = `path-include ${DOCUMENTATION}/*/${COPYRIGHT}\n`;
  writeFileSync(join(root, 'etc/dpkg/dpkg.cfg.d/docker'), excluded + included);
  run('find', [join(root, DOCUMENTATION), '-type', 'f', '!', '-name', COPYRIGHT, '-delete']);
  for (const path of [...UNWANTED, ...EMPTIED]) {
    rmSync(join(root, path), { recursive: true, force: true });
    mkdirSync(join(root, path), { recursive: true });
  }
  commit(buildah, 'scratch', root, image, ['--arch', DEBIAN_ARCH[arch]]);
}

/**
 * @param {string} release
 */
function sources(release) {
  return [
    `deb http://deb.debian.org/debian ${release} main`,
    `deb http://deb.debian.org/debian ${release}-updates main`,
    `deb http://deb.debian.org/debian-security ${release}-security main`,
    '',
  ].join('\n');
}

/**
 * @param {Buildah} buildah
 * @param {Bases} bases
 * @param {Platform} platform
 * @param {string} folder
 */
function makeNode(buildah, bases, { version, arch }, folder) {
  heading(`standing in for ${bases.node}: Node ${version} from npm`);
  const packed = join(folder, 'packed');
  const local = join(folder, 'root/usr/local');
  mkdirSync(packed);
  mkdirSync(local, { recursive: true });
  const quiet = ['--silent', '--no-audit', '--no-fund', '--no-package-lock'];
  run('npm', ['install', ...quiet, '--prefix', packed, '--force', `node-linux-${arch}@${version}`, 'npm@11']);
  const modules = join(packed, 'node_modules');
  for (const part of ['bin', 'include']) {
    cpSync(join(modules, `node-linux-${arch}`, part), join(local, part), { recursive: true });
  }
  cpSync(join(modules, 'npm'), join(local, 'lib/node_modules/npm'), { recursive: true });
  writeFileSync(
    join(local, 'bin/npm'),
    '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n',
    {
      mode: 0o755,
    },
  );
  if (existsSync(CERTIFICATES)) {
    mkdirSync(join(local, 'etc'));
    writeFileSync(join(local, 'etc/certificates.crt'), readFileSync(CERTIFICATES));
    writeFileSync(join(local, 'etc/npmrc'), 'cafile=/usr/local/etc/certificates.crt\n');
  }
  commit(buildah, bases.debian, join(folder, 'root'), bases.node);
}

/**
 * @param {Buildah} buildah
 * @param {string} base
 * @param {string} root
 * @param {string} image
 * @param {readonly string[]} [options] of buildah from
 */
function commit(buildah, base, root, image, options) {
  const add = (/** @type {string} */ container) => {
    buildah.run(['add', '--quiet', container, root, '/']);
    buildah.run(['config', '--cmd', '/bin/bash', '--env', `PATH=${PATH}`, container]);
    buildah.run(['commit', '--quiet', container, image]);
  };
  buildah.within(base, add, options);
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * @param {(folder: string) => void} action
 */
function withFolder(action) {
  const folder = mkdtempSync(join(tmpdir(), 'kube-netlink-proxy-base-'));
  try {
    action(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
