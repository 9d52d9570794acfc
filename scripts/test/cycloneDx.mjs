// The schema of CycloneDX, and what validates with it.

import { installPinned } from '../lib/pinned.mjs';

/** Installs it unless it exists. The tests read the folder. */
export function ensureCycloneDx() {
  installPinned({
    folder: 'test/support/cycloneDx/library',
    place: '.cache/cyclonedx',
    title: 'npm packages: the schema of CycloneDX (about 12 MB)',
  });
}
