// Kernel modules that nothing loads by itself.
import { existsSync } from 'node:fs';
import { release } from 'node:os';
import { ProgramError, runProgram } from './programs/program.js';

/**
 * Loads a kernel module. A module that is loaded or built in is not an error; a failure is reported where the
 * module is needed, so the reason is returned and not thrown.
 *
 * @returns the message of modprobe, or undefined when it succeeded
 */
export function loadModule(name: string): Promise<string | undefined> {
  return modprobe(name);
}

/**
 * Loads several kernel modules with one process; the others if some cannot be loaded.
 *
 * @returns the messages of modprobe, or undefined when all are loaded or built in
 */
export function loadModules(names: readonly string[]): Promise<string | undefined> {
  return modprobe('-a', ...names);
}

/** Whether the kernel has a module: loaded, built in or to be loaded; not at all; or this host cannot know. */
export type ModulePresence = 'there' | 'missing' | 'unknown';

/**
 * Looks for a kernel module and loads nothing. Without the folder of the kernel's modules, or without modprobe, only a
 * module that is loaded is found.
 *
 * @param root folder that holds `sys/module` and `lib/modules`; default `/`
 */
export async function findModule(name: string, root = '/'): Promise<ModulePresence> {
  if (existsSync(`${root}/sys/module/${name}`)) return 'there';
  if (!existsSync(`${root}/lib/modules/${release()}/modules.dep`)) return 'unknown';
  const said = await modprobe('--dirname', root, '--dry-run', name);
  if (said === undefined) return 'there';
  return said.includes('not found') ? 'missing' : 'unknown';
}

/** The message of modprobe, or undefined when it succeeded. */
async function modprobe(...args: readonly string[]): Promise<string | undefined> {
  try {
    await runProgram('modprobe', args);
    return undefined;
  } catch (error) {
    if (error instanceof ProgramError) return error.message;
    throw error;
  }
}
