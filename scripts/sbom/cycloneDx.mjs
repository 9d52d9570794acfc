// A document of CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/).

import { createHash } from 'node:crypto';

/**
 * A part of the software.
 *
 * @typedef {object} Component
 * @property {'application' | 'library' | 'platform' | 'operating-system' | 'file'} type
 * @property {string} name
 * @property {string} version
 * @property {string} [purl] its name in the form of package-url
 * @property {string} [license] an expression of SPDX
 * @property {{ alg: 'SHA-256' | 'SHA-512', content: string }[]} [hashes]
 * @property {readonly [name: string, value: string][]} [properties]
 * @property {readonly Component[]} [components] parts of this part
 */

/**
 * What a document describes.
 *
 * @typedef {object} Contents
 * @property {Component} subject
 * @property {readonly Component[]} components
 */

/**
 * @param {Contents} contents
 * @param {number} time in s since the epoch
 */
export function documentOf({ subject, components }, time) {
  const parts = components
    .map(withReference)
    .sort((one, other) => (one['bom-ref'] < other['bom-ref'] ? -1 : 1));
  const root = withReference(subject);
  const body = {
    version: 1,
    metadata: {
      timestamp: `${new Date(time * 1000).toISOString().slice(0, 19)}Z`,
      tools: {
        components: [
          { type: 'application', name: 'kube-netlink-proxy scripts/sbom.mjs', version: subject.version },
        ],
      },
      component: root,
    },
    components: parts,
    dependencies: [{ ref: root['bom-ref'], dependsOn: parts.map((part) => part['bom-ref']) }],
  };
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(body))}`;
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, ...body };
}

/**
 * A component with the name by which the document refers to it.
 *
 * @param {Component} component
 */
function withReference(component) {
  const { type, name, version, purl } = component;
  return { 'bom-ref': purl ?? `${type}:${name}@${version}`, ...shown(component) };
}

/**
 * A component in the form of the document. Several binaries may have equal parts, which therefore have no reference.
 *
 * @param {Component} component
 * @returns {Record<string, unknown>}
 */
function shown({ type, name, version, purl, license, hashes, properties, components }) {
  return {
    type,
    name,
    version,
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    ...(purl === undefined ? {} : { purl }),
    ...(hashes === undefined ? {} : { hashes }),
    ...(properties === undefined
      ? {}
      : { properties: properties.map(([name, value]) => ({ name: `kube-netlink-proxy:${name}`, value })) }),
    ...(components === undefined ? {} : { components: components.map(shown) }),
  };
}

/**
 * A UUID of version 8 (RFC 9562), made of the hash of a text: equal documents have equal serial numbers.
 *
 * @param {string} text
 */
function uuidOf(text) {
  const hash = createHash('sha256').update(text).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
