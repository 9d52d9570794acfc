// Loads kernel modules that nothing loads by itself. src/kernel/shared/hints.ts finds out which ones a kernel has.
import { ProgramError, runProgram } from '../../../kernel/shared/programs/program.js';

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
