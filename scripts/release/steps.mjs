// The steps of `npm run task -- release publish`, as shell scripts.

/** The platforms of the images, as buildah names them. */
export const PLATFORMS = ['linux/amd64', 'linux/arm64'];

/** The images: the suffix of the tag, and the build argument AUTH_PROVIDERS. */
export const FLAVOURS = [
  { suffix: '', authProviders: 'without' },
  { suffix: '-auth-providers', authProviders: 'with' },
];

/** The folder for bills of materials, provenances and digests, in the checkout. */
const FOLDER = '.cache/release';

/**
 * @param {object} release
 * @param {string} release.version
 * @param {string} release.tag of the images: the version, or VERSION-rNUMBER if they are built again
 * @param {string} release.registry
 * @param {string | undefined} release.snapshot
 * @param {string} release.revision
 * @param {number} release.time of the commit, in s since the epoch
 * @returns {{ title: string, script: string }[]}
 */
export function stepsOf(release) {
  const { version, tag } = release;
  const built = { title: 'the binaries of the addon', script: BUILD.join('\n') };
  const published = {
    title: 'the package, with a provenance of npm and its bill of materials',
    script: PUBLISH.join('\n'),
  };
  return [
    built,
    // npm accepts each version once.
    ...(tag === version ? [published] : []),
    ...FLAVOURS.flatMap((flavour) => [
      ...PLATFORMS.map((platform) => ({
        title: `the image ${tag}${flavour.suffix} of ${platform}`,
        script: imageScript(release, flavour, platform),
      })),
      {
        title: `push, signature and attestations of ${tag}${flavour.suffix}`,
        script: pushScript(release, flavour),
      },
    ]),
  ];
}

const BUILD = [`mkdir -p ${FOLDER}`, 'npm ci --ignore-scripts && npm run build && npm run task -- prebuild'];

const PUBLISH = [
  `npm run --silent task -- sbom --output ${FOLDER}/package.cdx.json`,
  'npm publish --provenance --access public',
];

/**
 * @param {Parameters<typeof stepsOf>[0]} release
 * @param {typeof FLAVOURS[number]} flavour
 * @param {string} platform
 */
function imageScript({ tag, snapshot, revision, time }, { suffix, authProviders }, platform) {
  const name = nameOf(tag, suffix);
  const file = fileOf(suffix, platform);
  const args = { VERSION: tag, REVISION: revision, AUTH_PROVIDERS: authProviders, SNAPSHOT: snapshot ?? '' };
  const options = Object.entries(args).map(([key, value]) => `--build-arg ${key}=${value}`);
  const flags = `--platform ${platform} --timestamp ${time} --no-cache ${options.join(' ')}`;
  return [
    `buildah bud ${flags} --iidfile ${file}.id --manifest ${name} .`,
    `container=$(buildah from "$(cat ${file}.id)")`,
    `SOURCE_DATE_EPOCH=${time} npm run --silent task -- sbom --image "$(buildah mount "$container")" --output ${file}.cdx.json`,
    'buildah rm "$container"',
    `npm run --silent task -- release provenance --platform ${platform} --flavour ${authProviders} --snapshot '${snapshot ?? ''}' >${file}.slsa.json`,
  ].join('\n');
}

/**
 * @param {Parameters<typeof stepsOf>[0]} release
 * @param {typeof FLAVOURS[number]} flavour
 */
function pushScript({ tag, registry }, { suffix }) {
  const image = `${registry}/kube-netlink-proxy`;
  const pushed = `${FOLDER}/digest${suffix}`;
  return [
    `buildah manifest push --all --digestfile ${pushed} ${nameOf(tag, suffix)} docker://${image}:${tag}${suffix}`,
    `cosign sign --yes --recursive "${image}@$(cat ${pushed})"`,
    ...PLATFORMS.flatMap((platform) => {
      const file = fileOf(suffix, platform);
      const architecture = platform.replace('linux/', '');
      return [
        `digest=$(buildah manifest inspect ${nameOf(tag, suffix)} | ${digestOf(architecture)})`,
        `cosign attest --yes --type cyclonedx --predicate ${file}.cdx.json "${image}@$digest"`,
        `cosign attest --yes --type slsaprovenance1 --predicate ${file}.slsa.json "${image}@$digest"`,
      ];
    }),
  ].join('\n');
}

/**
 * @param {string} tag
 * @param {string} suffix
 */
const nameOf = (tag, suffix) => `localhost/kube-netlink-proxy:${tag}${suffix}`;

/**
 * @param {string} suffix
 * @param {string} platform
 */
const fileOf = (suffix, platform) => `${FOLDER}/image${suffix}-${platform.replace('/', '-')}`;

/**
 * A command that prints the digest of an architecture in a manifest list on its standard input.
 *
 * @param {string} architecture
 */
function digestOf(architecture) {
  const find = `.manifests.find((each) => each.platform.architecture === "${architecture}").digest`;
  return `node -p 'JSON.parse(require("fs").readFileSync(0, "utf8"))${find}'`;
}
