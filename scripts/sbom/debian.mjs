// The packages of Debian in a root filesystem, from dpkg's own list.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../lib/failure.mjs';

/** @typedef {import('./cycloneDx.mjs').Component} Component */

/**
 * @param {string} root the folder of a root filesystem
 * @returns {Component[]}
 */
export function debianPackages(root) {
  const status = join(root, 'var/lib/dpkg/status');
  if (!existsSync(status)) throw new Failure(`${status} is missing: this is no root filesystem of Debian`);
  const { VERSION_ID: release = '' } = systemOf(root);
  return paragraphsOf(readFileSync(status, 'utf8'))
    .filter((fields) => / installed$/.test(fields['Status'] ?? ''))
    .map((fields) => componentOf(fields, release));
}

/**
 * The fields of /etc/os-release.
 *
 * @param {string} root
 * @returns {Record<string, string>}
 */
export function systemOf(root) {
  const lines = readFileSync(join(root, 'etc/os-release'), 'utf8').split('\n');
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name = '', value = ''] = /^(\w+)="?([^"]*)"?$/.exec(line) ?? [];
      return name === '' ? [] : [[name, value]];
    }),
  );
}

/**
 * The paragraphs of a control file, without the continued lines of their fields.
 *
 * @param {string} text
 * @returns {Record<string, string>[]}
 */
function paragraphsOf(text) {
  return text
    .split('\n\n')
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) =>
      Object.fromEntries(
        [...paragraph.matchAll(/^([\w-]+): (.*)$/gm)].map(([, name, value]) => [name, value]),
      ),
    );
}

/**
 * @param {Record<string, string>} fields
 * @param {string} release of Debian
 * @returns {Component}
 */
function componentOf(
  { Package: name = '', Version: version = '', Architecture: architecture = '', Source: source },
  release,
) {
  // `glibc (2.41-12)` if the versions differ. Advisories of Debian name source packages.
  const [, sourceName = name, sourceVersion = version] = /^(\S+)(?: \((.*)\))?$/.exec(source ?? name) ?? [];
  const qualifiers = [`arch=${architecture}`, `distro=debian-${release}`];
  if (source !== undefined)
    qualifiers.push(`upstream=${encodeURIComponent(`${sourceName}@${sourceVersion}`)}`);
  return {
    type: 'library',
    name,
    version,
    purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?${qualifiers.join('&')}`,
    properties: [['license', `/usr/share/doc/${name}/copyright`]],
  };
}
