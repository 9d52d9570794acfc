// Reads all objects of manifests or of the API server once, for the commands that need the names of Services.
import { access, constants } from 'node:fs/promises';
import { ServiceCache } from '../../proxy/services/serviceCache.js';
import { ManifestSource } from '../../proxy/source/manifests.js';
import type { Source } from '../../proxy/source/source.js';
import { openApi } from '../agent/api.js';
import { openLog } from '../agent/log.js';
import type { KernelCommand } from '../config/commandLine.js';
import { fileError } from '../config/goSyntax.js';
import type { Loaded } from '../config/load.js';
import { servedAddresses } from '../config/servedAddresses.js';
import { settingRulesOf } from '../config/serviceSettings.js';
import { MODES } from '../modes/select.js';
import type { AnswerLimit } from './answerLimit.js';
import { VERSION } from './version.js';

/** The objects of a source. */
interface ReadObjects {
  readonly source: 'manifests' | 'API server';
  readonly cache: ServiceCache;
  /** Number of the problems of the objects. */
  readonly problems: number;
}

/**
 * Reads the objects that the flags name; undefined if they name none. Rejects with an Error if the source cannot be read, or
 * if the API server has not answered when the time is over.
 */
export async function readObjects(
  flags: KernelCommand,
  loaded: Loaded,
  limit: AnswerLimit,
): Promise<ReadObjects | undefined> {
  if (flags.manifests !== '') return fromManifests(flags.manifests, loaded);
  if (flags.master !== '' || flags.given.has('kubeconfig')) return fromApi(flags, loaded, limit);
  return undefined;
}

async function fromManifests(path: string, loaded: Loaded): Promise<ReadObjects> {
  await access(path, constants.R_OK).catch((error: unknown) => {
    throw new Error(`--manifests: ${fileError(error, path)}`);
  });
  return { source: 'manifests', ...(await readAll(new ManifestSource({ path, follow: false }), loaded)) };
}

async function fromApi({ master }: KernelCommand, loaded: Loaded, limit: AnswerLimit): Promise<ReadObjects> {
  const { configuration, nodeName } = loaded;
  const api = await openApi({
    ...{ configuration, master, nodeName, allNodes: false, version: VERSION },
    log: openLog(configuration.logging),
    failed: (error) => limit.failed(error),
  });
  try {
    return { source: 'API server', ...(await readAll(limit.around(api.source), loaded)) };
  } finally {
    api.close();
  }
}

/** All objects that a source reports at its start. */
async function readAll(
  source: Source,
  { configuration }: Loaded,
): Promise<Pick<ReadObjects, 'cache' | 'problems'>> {
  const cache = new ServiceCache({
    ...servedAddresses(configuration),
    settingRules: settingRulesOf(configuration, MODES),
  });
  let problems = 0;
  await source.start({
    changed(changes) {
      for (const change of changes) cache.apply(change);
    },
    synced() {},
    problems(found) {
      problems += found.length;
    },
  });
  source.stop();
  return { cache, problems };
}
