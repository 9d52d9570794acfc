// What the tests of deploy/ need: kustomize, of a later suite of Debian, and packages of npm. Helm is in no suite and in no package.

import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { installPinned } from '../lib/pinned.mjs';
import { ensureUnpacked, writeProgram } from '../lib/suites.mjs';

// The tests read these folders.
const KUSTOMIZE = join(CHECKOUT, '.cache/kustomize');
const PACKAGES = '.cache/deploy-tools';

/** Downloads kustomize and the packages unless they exist. */
export function ensureDeployTools() {
  ensureUnpacked({ name: 'kustomize', suite: 'trixie', size: '12 MB', root: KUSTOMIZE }, (root) =>
    writeProgram(root, 'usr/bin/kustomize'),
  );
  installPinned({
    folder: 'test/support/deployment/tools',
    place: PACKAGES,
    title: 'npm packages: the engine of templates, and the schemas, for the tests of deploy/ (about 15 MB)',
  });
}
