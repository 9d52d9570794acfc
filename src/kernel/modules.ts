// Kernel modules that nothing loads by itself.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { release } from 'node:os';

/**
 * Loads a kernel module. A module that is loaded or built in is no error; a failure is reported where the
 * module is needed, so the reason is returned and not thrown.
 *
 * @returns the message of modprobe, or undefined when it succeeded
 */
export function loadModule(name: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile('modprobe', [name], (error, _stdout, stderr) => {
      resolve(error ? stderr.trim() || error.message : undefined);
    });
  });
}

/** Whether the kernel has a module: loaded, built in or to be loaded; not at all; or this host cannot know. */
export type ModulePresence = 'there' | 'missing' | 'unknown';

/**
 * Looks for a kernel module and loads nothing. Without the folder of the kernel's modules, or without modprobe, only a
 * module that is loaded is found.
 *
 * @param root folder that holds `sys/module` and `lib/modules`; default `/`
 */
export function findModule(name: string, root = '/'): Promise<ModulePresence> {
  if (existsSync(`${root}/sys/module/${name}`)) return Promise.resolve('there');
  if (!existsSync(`${root}/lib/modules/${release()}/modules.dep`)) return Promise.resolve('unknown');
  return new Promise((resolve) => {
    execFile('modprobe', ['--dirname', root, '--dry-run', name], (error, _stdout, stderr) => {
      if (!error) resolve('there');
      else resolve(stderr.includes('not found') ? 'missing' : 'unknown');
    });
  });
}
