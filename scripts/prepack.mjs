// Runs before `npm pack` and `npm publish`: builds all that the package holds and the checkout does not. scripts/postpack.mjs
// runs after them.
//
//   KNP_PACK_TARGET=linux-x64-glibc npm pack    builds the binary of one platform: two minutes instead of eight
//
// Binaries of the others that are in prebuilds/ already are packed as they are.

import { buildCommand, buildTypeScript } from './lib/build.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';
import { unlinkSourceMaps } from './lib/sourceMaps.mjs';
import { nodeScript, step } from './lib/steps.mjs';
import { TARGETS } from './prebuild/targets.mjs';

process.exitCode = await reportFailures('prepack', () => {
  const options = targetOptions(process.env['KNP_PACK_TARGET'] ?? '', process.env['npm_command']);
  buildTypeScript();
  buildCommand();
  step('prebuilt binaries', nodeScript('scripts/prebuild.mjs', ...options));
  unlinkSourceMaps();
  return 0;
});

/**
 * @param {string} target of the one binary; empty for all
 * @param {string | undefined} command `pack`, `publish`
 */
function targetOptions(target, command) {
  const names = TARGETS.map(({ name }) => name);
  if (target === '') {
    const [example] = names;
    process.stderr.write(
      `prepack: the package has ${names.length} binaries, which take about two minutes each, unless they are built. With one of them: KNP_PACK_TARGET=${example} npm pack\n`,
    );
    return [];
  }
  if (!names.includes(target)) throw new Failure(`KNP_PACK_TARGET must be one of ${names.join(', ')}`);
  if (command === 'publish') throw new Failure('a package with KNP_PACK_TARGET is not published');
  return ['--target', target];
}
