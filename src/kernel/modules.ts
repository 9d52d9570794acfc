// Kernel modules that nothing loads by itself.
import { execFile } from 'node:child_process';

/**
 * Loads a kernel module. A module that is loaded or built in is no error; a failure is told by what needs the module, so
 * the reason is returned and not thrown.
 *
 * @returns what modprobe said, or undefined when it succeeded
 */
export function loadModule(name: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile('modprobe', [name], (error, _stdout, stderr) => {
      resolve(error ? stderr.trim() || error.message : undefined);
    });
  });
}
