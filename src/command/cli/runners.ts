// The functions that run the commands with their own options. Each is loaded when it is needed.
import type { CommandName, CommandRunner } from './command.js';

/** Loads the function of a command. */
export const RUNNERS: Readonly<Record<CommandName, () => Promise<CommandRunner>>> = {
  services: async () => (await import('./services/services.js')).runServices,
  top: async () => (await import('./services/top.js')).runTop,
  status: async () => (await import('./status/status.js')).runStatus,
  check: async () => (await import('./check/check.js')).runCheck,
  plan: async () => (await import('./plan.js')).runPlan,
  diff: async () => (await import('./diff.js')).runDiff,
  explain: async () => (await import('./explain/explain.js')).runExplain,
  completion: async () => (await import('./completion/completion.js')).runCompletion,
  man: async () => (await import('./manPage.js')).runMan,
};
