// The base images that the Dockerfile names.

import { Failure } from '../lib/failure.mjs';

const LINES = /^ARG NODE_IMAGE=([^\s@]+)(?:@(\S+))?\nARG DEBIAN_IMAGE=([^\s@]+)(?:@(\S+))?$/m;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/**
 * A base: its name with the tag, and its digest if the Dockerfile has it.
 *
 * @typedef {{ image: string, digest: string | undefined }} Base
 */

/**
 * @param {string} dockerfile
 * @returns {{ node: Base, debian: Base }}
 */
export function basesOf(dockerfile) {
  const [, node, nodeDigest, debian, debianDigest] = LINES.exec(dockerfile) ?? [];
  if (node === undefined || debian === undefined) {
    throw new Failure('the Dockerfile does not begin with the arguments NODE_IMAGE and DEBIAN_IMAGE');
  }
  return { node: { image: node, digest: nodeDigest }, debian: { image: debian, digest: debianDigest } };
}

/**
 * @param {string} dockerfile
 * @param {{ node: string, debian: string }} digests
 * @returns {string} the Dockerfile with these digests
 */
export function pinned(dockerfile, digests) {
  for (const [name, digest] of Object.entries(digests)) {
    if (!DIGEST.test(digest))
      throw new Failure(`the digest of ${name} must be sha256: and 64 hexadecimal digits, found ${digest}`);
  }
  const { node, debian } = basesOf(dockerfile);
  const lines = [
    `NODE_IMAGE=${node.image}@${digests.node}`,
    `DEBIAN_IMAGE=${debian.image}@${digests.debian}`,
  ];
  return dockerfile.replace(LINES, lines.map((line) => `ARG ${line}`).join('\n'));
}
