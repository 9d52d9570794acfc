// What an image contains: Debian's packages, Node.js with its libraries, the proxy with its addon, and packages of npm.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { capture } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';
import { debianPackages, systemOf } from './debian.mjs';
import { addonBinaries, bundledPackages, installedPackages, partsOfAddon } from './npm.mjs';

/** @typedef {import('./cycloneDx.mjs').Component} Component */

/** The folder of the proxy in the image. */
const PROXY = 'opt/kube-netlink-proxy';
const NODE = 'usr/local/bin/node';

/**
 * @param {string} root the folder of its root filesystem
 * @returns {import('./cycloneDx.mjs').Contents}
 */
export function imageContents(root) {
  const proxy = join(root, PROXY);
  const installed = installedPackages(proxy);
  const own = installed.find(({ path }) => path === 'package.json');
  if (own === undefined) throw new Failure(`${proxy} has no package.json`);
  const { path: _, ...subject } = own;
  const bundled = bundledPackages(readFileSync(join(proxy, 'dist/command/LICENSES'), 'utf8'));
  const { ID: system = '', VERSION_ID: release = '', PRETTY_NAME: title = '' } = systemOf(root);
  return {
    subject: { ...subject, type: 'application' },
    components: [
      { type: 'operating-system', name: system, version: release, properties: [['title', title]] },
      ...debianPackages(root),
      nodeComponent(root),
      ...installed
        .filter((each) => each !== own)
        .map(({ path, ...each }) => ({ ...each, properties: [['file', `/${PROXY}/${path}`]] })),
      ...bundled,
      ...addonBinaries(proxy, subject.version, partsOfAddon(CHECKOUT)),
    ].map((component) => /** @type {Component} */ (component)),
  };
}

/**
 * Node.js with the libraries that it contains, as it names them itself.
 *
 * @param {string} root
 * @returns {Component}
 */
function nodeComponent(root) {
  const { node, modules: _, napi: __, ...libraries } = versionsOfNode(root);
  if (node === undefined) throw new Failure('the Node.js of the image names no version');
  const content = createHash('sha256')
    .update(readFileSync(join(root, NODE)))
    .digest('hex');
  return {
    type: 'platform',
    name: 'node',
    version: node,
    purl: `pkg:generic/node@${node}`,
    license: 'MIT',
    hashes: [{ alg: 'SHA-256', content }],
    properties: [['file', `/${NODE}`]],
    components: Object.entries(libraries).map(([name, version]) => ({
      type: 'library',
      name,
      version,
      purl: `pkg:generic/${encodeURIComponent(name)}@${encodeURIComponent(version)}?node=${node}`,
    })),
  };
}

/**
 * `process.versions` of the image's Node.js, which runs with the libraries of the image, and not with this machine's.
 *
 * @param {string} root
 * @returns {Record<string, string>}
 */
function versionsOfNode(root) {
  const libraries = readdirSync(join(root, 'usr/lib')).filter((name) => name.includes('-linux-gnu'));
  const folders = libraries.map((name) => join(root, 'usr/lib', name));
  const loader = folders
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .find((path) => /\/ld-linux.*\.so\.\d+$/.test(path) && existsSync(path));
  if (loader === undefined) throw new Failure(`${root} has no loader of programs`);
  const script = 'process.stdout.write(JSON.stringify(process.versions))';
  const { ok, stdout, stderr } = capture(loader, [
    '--library-path',
    folders.join(':'),
    join(root, NODE),
    '-e',
    script,
  ]);
  if (!ok) throw new Failure(`the Node.js of the image does not run here: ${stderr.trim()}`);
  return JSON.parse(stdout.toString());
}
