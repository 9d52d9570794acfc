// The command check: a configuration, flags and manifests, without a kernel or a cluster.
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Problem } from '../../../kernel/errors.js';
import { SETTING_NAMES, type SettingName } from '../../../proxy/input/settingNames.js';
import type { ObjectChange } from '../../../proxy/objects/types.js';
import { conflictsOf } from '../../../proxy/reconcile/serviceProblems.js';
import { ServiceCache, type ServiceCacheOptions } from '../../../proxy/services/serviceCache.js';
import type { SettingRules } from '../../../proxy/services/settings/types.js';
import { ManifestSource } from '../../../proxy/source/manifests.js';
import type { KernelCommand } from '../../config/commandLine.js';
import type { Configuration } from '../../config/configuration.js';
import { FLAGS } from '../../config/flags.js';
import { fileError } from '../../config/goSyntax.js';
import { flagWarnings } from '../../config/ignored.js';
import { ConfigurationError, loadConfiguration } from '../../config/load.js';
import { mirroredVersionRule } from '../../config/mirroredVersion.js';
import { type AddressFields, servedAddresses } from '../../config/servedAddresses.js';
import { settingRulesOf } from '../../config/serviceSettings.js';
import { checkModeFlags, MODES } from '../../modes/select.js';
import type { CommandRunner } from '../command.js';
import { writeReport } from '../output/output.js';
import {
  checkConfiguration,
  configurationProblems,
  configurationWarnings,
  lineProblem,
} from './configuration.js';
import { type CheckedProblem, type CheckReport, checkLines, checkStatus } from './report.js';

/** `check`. */
export const runCheck: CommandRunner = async ({ args, options, flags, output }) => {
  checkModeFlags(flags);
  const paths = [
    ...args,
    ...(flags.config ? [flags.config] : []),
    ...(flags.manifests ? [flags.manifests] : []),
  ];
  if (paths.length === 0 && flags.given.size === 0) {
    throw new Error('there is nothing to check: name files, folders or flags of the agent');
  }
  const report = await check(paths, flags);
  writeReport(output, report, (layout) => checkLines(report, layout));
  return checkStatus(report, options['strict'] === true);
};

/** `file` of the problems of flags. */
const COMMAND_LINE = 'command line';

/** Checks files and folders, and the flags. A file that cannot be read is a problem. */
export async function check(paths: readonly string[], flags: KernelCommand): Promise<CheckReport> {
  const files: string[] = [];
  const problems: CheckedProblem[] = [];
  const unreadable = new Set<string>();
  const manifests = new CheckedManifests();
  const configurations: CheckedFields[] = [];
  // An invalid one is reported once, as a flag.
  const mirroredVersion = versionProblems(flags).length > 0 ? '' : flags.mirroredVersion;
  for (const path of new Set(paths)) {
    try {
      const isFolder = (await stat(path)).isDirectory();
      const inside = isFolder ? await filesOf(path) : [path];
      files.push(...inside);
      const found = await configurationsAmong(inside);
      for (const [file, text] of found) {
        const checked = checkConfiguration(file, text, { ...flags, mirroredVersion });
        problems.push(...checked.problems);
        if (checked.unreadable) unreadable.add(file);
        if (checked.configuration) configurations.push(checked.configuration);
      }
      if (!isFolder && found.size > 0) continue;
      const before = manifests.problems.length;
      const objects = await manifests.read(path, isFolder);
      const silent = objects === 0 && found.size === 0 && manifests.problems.length === before;
      if (silent) problems.push(nothingIn(path));
    } catch (error) {
      unreadable.add(path);
      problems.push(unreadableFile(path, error));
    }
  }
  manifests.addConflicts(optionsFor(flags, configurations));
  for (const file of manifests.unreadable) unreadable.add(file);
  const all = [...flagProblems(flags), ...problems, ...manifests.problems];
  return { files, unreadable: [...unreadable], problems: all };
}

/** The fields of configurations that decide how Services are read. */
type CheckedFields = AddressFields & Pick<Configuration, 'serviceSettings' | 'mode'>;

/** How Services are read with the configurations; without any, with the flags. */
function optionsFor(
  { given, serviceSettings, serviceExternalIPRange, loadBalancerIPRange }: KernelCommand,
  configurations: readonly CheckedFields[],
) {
  const gates = given.get('feature-gates') as Configuration['featureGates'] | undefined;
  const none = { featureGates: gates ?? {}, serviceExternalIPRange: [], loadBalancerIPRange: [] };
  const served = (configurations.length > 0 ? configurations : [none]).map((fields) => ({
    ...fields,
    ...(serviceExternalIPRange && { serviceExternalIPRange }),
    ...(loadBalancerIPRange && { loadBalancerIPRange }),
  }));
  const mode = (given.get('proxy-mode') as string | undefined) ?? '';
  const nodes: Pick<Configuration, 'serviceSettings' | 'mode'>[] = [...configurations];
  if (nodes.length === 0) nodes.push({ serviceSettings: SETTING_NAMES, mode: mode || 'unknown' });
  const settings = nodes.map((node) =>
    settingRulesOf({ ...node, ...(serviceSettings && { serviceSettings }) }, MODES),
  );
  return {
    // Of several configurations that differ, the manifests may be for the node that serves most.
    ...servedAddresses(...served),
    settingRules: joinedRules(settings),
  };
}

/** The settings that any node allows, with an effect if they have one on any. */
function joinedRules(all: readonly SettingRules[]): SettingRules {
  const joined = new Map<SettingName, string | undefined>();
  for (const rules of all) {
    for (const [name, rule] of rules) {
      if (rule === undefined || !joined.has(name)) joined.set(name, rule);
    }
  }
  return joined;
}

/** The files of a folder that are read as manifests. */
async function filesOf(folder: string): Promise<string[]> {
  const names = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => !entry.isDirectory() && /\.(ya?ml|json)$/.test(entry.name))
    .map(({ name }) => name);
  return names.sort().map((name) => join(folder, name));
}

/** The files that are configurations, with their texts. */
async function configurationsAmong(files: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const file of files) {
    const text = await readFile(file, 'utf8');
    if (/^\s*["{]?\s*"?kind"?\s*:\s*["']?KubeProxyConfiguration\b/m.test(text)) found.set(file, text);
  }
  return found;
}

/** The problems of the flags: their values, unless a file has the configuration, and those without effect. */
function flagProblems(flags: KernelCommand): CheckedProblem[] {
  // With a file, the mode is in the file.
  const mode =
    flags.config === undefined ? (flags.given.get('proxy-mode') as string) || MODES.blank : undefined;
  const problems = flagWarnings(flags.given, mode, MODES).map((line): CheckedProblem => {
    const [, flag = '', rule = ''] = /^(?:Flag )?(--\S+) (.*)$/s.exec(line) ?? [];
    return { file: COMMAND_LINE, object: 'flags', field: flag, rule, level: 'warning' };
  });
  problems.push(...versionProblems(flags));
  const { serviceSettings, serviceExternalIPRange, loadBalancerIPRange } = flags;
  const setsField =
    [serviceSettings, serviceExternalIPRange, loadBalancerIPRange].some(Boolean) ||
    [...flags.given.keys()].some((name) => FLAGS.get(name)?.field !== undefined);
  if (flags.config !== undefined || !setsField) return problems;
  try {
    const isKnown = versionProblems(flags).length === 0;
    const { configuration } = loadConfiguration(isKnown ? flags : { ...flags, mirroredVersion: '' }, MODES);
    return [
      ...problems,
      ...configurationProblems(COMMAND_LINE, configuration),
      ...configurationWarnings(COMMAND_LINE, configuration, flags.manifests !== ''),
    ];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return [...problems, ...error.message.split('\n').map((line) => lineProblem(COMMAND_LINE, line))];
  }
}

/** `--mirrored-version` sets no field of the command line alone: it may be beside a file. */
function versionProblems({ mirroredVersion }: KernelCommand): CheckedProblem[] {
  const rule = mirroredVersionRule(mirroredVersion);
  if (rule === undefined) return [];
  const place = { file: COMMAND_LINE, object: 'flags', field: '--mirrored-version' };
  return [{ ...place, value: mirroredVersion, rule, level: 'error' }];
}

function nothingIn(file: string): CheckedProblem {
  const rule = 'has no Service, EndpointSlice, Node or KubeProxyConfiguration';
  return { file, object: 'file', field: 'contents', rule, level: 'warning' };
}

function unreadableFile(file: string, error: unknown): CheckedProblem {
  const rule = `must be readable: ${fileError(error, file)}`;
  return { file, object: 'file', field: 'contents', rule, level: 'error' };
}

// Checks manifests: the problems of their objects, and addresses that several Services claim.

/** The objects of all checked manifests, and their problems. */
class CheckedManifests {
  readonly problems: CheckedProblem[] = [];
  /** Files that cannot be read, or are neither YAML nor JSON. */
  readonly unreadable = new Set<string>();
  readonly #changes: ObjectChange[] = [];
  /** Service → the path that it was read from. */
  readonly #origins = new Map<string, string>();

  /**
   * Reads the manifests of a file or a folder. Rejects with the system's error if it cannot be listed.
   *
   * @returns the number of objects that were read
   */
  async read(path: string, isFolder: boolean): Promise<number> {
    const source = new ManifestSource({ path, follow: false });
    let objects = 0;
    await source.start({
      changed: (changes) => {
        objects += changes.length;
        for (const change of changes) {
          this.#changes.push(change);
          const { object } = change;
          if (object.kind === 'Service') this.#origins.set(`${object.namespace}/${object.name}`, path);
        }
      },
      synced() {},
      problems: (problems) => {
        for (const problem of problems) this.#add(problem, fileOf(problem, path, isFolder));
      },
    });
    source.stop();
    return objects;
  }

  /**
   * Adds the addresses and ports that a Service claims, and an older one has, and the problems of settings. Call it after the last
   * read.
   *
   * @param options `externalIPs`, `addressRanges`: the addresses that are served; nobody claims others
   */
  addConflicts(options: Pick<ServiceCacheOptions, 'externalIPs' | 'addressRanges' | 'settingRules'>): void {
    const cache = new ServiceCache(options);
    for (const change of this.#changes) cache.apply(change);
    for (const service of cache.serviceNames()) {
      const file = this.#origins.get(service) ?? '';
      for (const problem of conflictsOf(service, cache.lostClaims(service))) this.#add(problem, file);
      const problems = new Set(cache.problems(service));
      for (const problem of problems) this.#add(problem, file);
      // What a gate leaves out is no fault of the manifest.
      for (const problem of cache.refusedAddresses(service))
        if (!problems.has(problem)) this.#add(problem, file, 'warning');
    }
  }

  #add(
    { object, field, value, rule, reason }: Problem,
    file: string,
    level: CheckedProblem['level'] = 'error',
  ): void {
    // A document that is not YAML has no object.
    if (reason === 'Unreadable' || object === 'text') this.unreadable.add(file);
    const found = value === undefined ? {} : { value };
    this.problems.push({ file, object, field, ...found, rule, level });
  }
}

function fileOf({ source }: Problem, path: string, isFolder: boolean): string {
  return source === undefined || !isFolder ? path : join(path, basename(source));
}
