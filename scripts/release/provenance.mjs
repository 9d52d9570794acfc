// The provenance of an image: what it was built from, and by whom (https://slsa.dev/spec/v1.0/provenance).

import { createHash } from 'node:crypto';

/**
 * @param {object} built
 * @param {string | undefined} built.platform
 * @param {string | undefined} built.flavour the build argument AUTH_PROVIDERS
 * @param {string | undefined} built.snapshot
 * @param {string} built.revision
 * @param {Record<string, import('./bases.mjs').Base>} built.bases
 * @param {string} built.lock the text of package-lock.json
 * @param {NodeJS.ProcessEnv} built.environment of the builder
 */
export function provenanceOf({ platform, flavour = 'with', snapshot, revision, bases, lock, environment }) {
  return {
    buildDefinition: {
      buildType: 'urn:kube-netlink-proxy:release:1',
      externalParameters: { platform, authProviders: flavour, snapshot: snapshot || null },
      resolvedDependencies: [
        { name: 'source', digest: { gitCommit: revision } },
        { name: 'package-lock.json', digest: { sha256: createHash('sha256').update(lock).digest('hex') } },
        ...Object.values(bases).map(({ image, digest }) => ({
          uri: `docker://${image}`,
          ...(digest === undefined ? {} : { digest: { sha256: digest.replace('sha256:', '') } }),
        })),
      ],
    },
    runDetails: { builder: { id: builderOf(environment) } },
  };
}

/**
 * The job that builds: of GitHub or of GitLab, by their variables; else a machine of a person.
 *
 * @param {NodeJS.ProcessEnv} environment
 */
function builderOf(environment) {
  const { GITHUB_SERVER_URL, GITHUB_WORKFLOW_REF, CI_JOB_URL } = environment;
  if (GITHUB_SERVER_URL && GITHUB_WORKFLOW_REF) return `${GITHUB_SERVER_URL}/${GITHUB_WORKFLOW_REF}`;
  return CI_JOB_URL || 'urn:kube-netlink-proxy:release:by-hand';
}
