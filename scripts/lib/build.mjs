// Builds the native addon in build/ and the TypeScript in dist/.

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT, filesBelow } from './checkout.mjs';
import { linkSourceMaps } from './sourceMaps.mjs';
import { heading, nodeScript, step } from './steps.mjs';

/** Builds the addon in build/Release, if its sources have changed. */
export function buildNative() {
  step('native addon', nodeScript('scripts/build-native.mjs'));
}

/** Compiles TypeScript to dist/. */
export function buildTypeScript() {
  removeOrphans();
  step('TypeScript', nodeScript('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'));
  linkSourceMaps(); // after an `npm pack` that was interrupted
}

/**
 * Writes the JavaScript of TypeScript to dist/ without a check of the types, unless it was compiled before: in 2 s instead of 20. The
 * next {@link buildTypeScript} compiles everything.
 *
 * @param {readonly string[]} folders
 */
export async function transpileTypeScript(folders) {
  if (existsSync(join(CHECKOUT, 'dist/.tsbuildinfo'))) return buildTypeScript();
  heading('TypeScript');
  const { build } = await import('esbuild');
  const files = folders.flatMap((folder) => filesBelow(folder, /\.ts$/));
  const format = /** @type {const} */ ({
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
  });
  await build({ absWorkingDir: CHECKOUT, entryPoints: files, outdir: 'dist', outbase: '.', ...format });
}

/** Bundles the command of the package in dist/command/. */
export function buildCommand() {
  step('command', nodeScript('scripts/bundle.mjs'));
}

/** Deletes the compiled files of deleted sources, because tests among them would still run. */
function removeOrphans() {
  const endings = /\.(js|js\.map|d\.ts)$/;
  for (const output of filesBelow('dist', endings)) {
    // Not compiled from a source of the same name.
    if (output.startsWith('dist/command/')) continue;
    const source = output.replace(/^dist\//, '').replace(endings, '.ts');
    if (!existsSync(join(CHECKOUT, source))) rmSync(join(CHECKOUT, output));
  }
}
