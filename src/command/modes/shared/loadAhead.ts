// Loads kernel modules before the first pass needs them: the kernel loads each when it is first needed, with a process of
// modprobe for each, and the first rules wait for all of them.
import type { Logger } from 'pino';
import { loadModules } from './loadModules.js';

/** Loads these modules with one process. A failure is only logged: a module may be built in, or not needed. */
export async function loadAhead(names: readonly string[], log: Pick<Logger, 'debug'>): Promise<void> {
  const said = await loadModules(names).catch(String);
  if (said !== undefined) log.debug({ err: said }, 'not all kernel modules were loaded ahead');
}
