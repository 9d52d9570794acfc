// Makes what runs: the native addon in build/, the compiled TypeScript in dist/.

import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT, filesBelow } from './checkout.mjs';
import { nodeScript, step } from './steps.mjs';

/** C++ into build/Release; does nothing while the sources are unchanged. */
export function buildNative() {
  step('native addon', nodeScript('scripts/build-native.mjs'));
}

/** TypeScript into dist/. */
export function buildTypeScript() {
  removeOrphans();
  step('TypeScript', nodeScript('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'));
  const { bin } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'));
  for (const command of Object.values(bin)) {
    const path = join(CHECKOUT, command);
    if (existsSync(path)) chmodSync(path, 0o755);
  }
}

/** Removes what was compiled from sources that are gone: the tests among them would still run. */
function removeOrphans() {
  const endings = /\.(js|js\.map|d\.ts)$/;
  for (const output of filesBelow('dist', endings)) {
    const source = output.replace(/^dist\//, '').replace(endings, '.ts');
    if (!existsSync(join(CHECKOUT, source))) rmSync(join(CHECKOUT, output));
  }
}
