// Packages that few users of the library need: npm does not install them with it (`peerDependenciesMeta` of package.json).

/**
 * The package that `load` loads. Throws an Error that names the package and its use if it is not installed.
 *
 * @param use its use, as the subject of the error: `a manifest`
 */
export function optionalPackage<T>(name: string, use: string, load: () => T): T {
  try {
    return load();
  } catch (cause) {
    // Other errors are of the package itself.
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== 'MODULE_NOT_FOUND' || !message.includes(`'${name}'`)) throw cause;
    const advice = `run \`npm install ${name}\``;
    throw new Error(`${use} needs the package ${name}, which is not installed: ${advice}`, { cause });
  }
}
