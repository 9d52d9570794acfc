// The abilities of a kernel's IPVS, found without adding a virtual service or loading a module.
import { readdir, readFile } from 'node:fs/promises';
import { release } from 'node:os';
import type { IpvsCapabilities, IpvsInfo, IpvsModules } from './types.js';

/** Modules of IPVS that are not schedulers: applications, whose connections they follow. */
const APPLICATIONS = new Set(['ftp']);
const ENGINE = 'pe_';
/** Errors of a folder that this process has not. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'EACCES']);

/** The release of the kernel that has each encapsulation first. */
const ENCAPSULATIONS: readonly (readonly [
  IpvsCapabilities['encapsulations'][number],
  first: readonly [number, number],
])[] = [
  ['ipip', [0, 0]],
  ['gue', [5, 2]],
  ['gre', [5, 3]],
];

/**
 * The capabilities of the kernel that described itself with `info`.
 *
 * @param root folder that holds `sys/module` and `lib/modules`; default `/`
 * @param kernel release of the kernel; default that of the host
 */
export async function capabilitiesOf(
  info: IpvsInfo,
  root = '/',
  kernel = release(),
): Promise<IpvsCapabilities> {
  const folder = `${root}/lib/modules/${kernel}`;
  const [present, dependencies, builtin] = await Promise.all([
    orAbsent(readdir(`${root}/sys/module`)),
    orAbsent(readFile(`${folder}/modules.dep`, 'utf8')),
    orAbsent(readFile(`${folder}/modules.builtin`, 'utf8')),
  ]);
  const loaded = new Set([...(present ?? []), ...modulesIn(builtin)].flatMap(nameOf));
  const loadable = new Set([...modulesIn(dependencies)].flatMap(nameOf).filter((name) => !loaded.has(name)));
  const since = (first: readonly [number, number]) => isAtLeast(kernel, first);
  return {
    ...info,
    schedulers: select(loaded, loadable, (name) => !name.startsWith(ENGINE) && !APPLICATIONS.has(name)),
    persistenceEngines: withoutPrefix(select(loaded, loadable, (name) => name.startsWith(ENGINE))),
    modulesKnown: dependencies !== undefined,
    encapsulations: ENCAPSULATIONS.filter(([, first]) => since(first)).map(([type]) => type),
    counters64: since([4, 1]),
    daemonAttributes: since([4, 3]),
  };
}

/** The value, or undefined without the file or folder: containers often have none. */
async function orAbsent<T>(value: Promise<T>): Promise<T | undefined> {
  try {
    return await value;
  } catch (error) {
    if (ABSENT.has(String((error as NodeJS.ErrnoException).code))) return undefined;
    throw error;
  }
}

/** Names of the modules in the text of modules.dep or modules.builtin. */
function modulesIn(text = ''): string[] {
  return [...text.matchAll(/^[^:\n]*\/([^/:\n]+)\.ko/gm)].map(([, name]) => String(name));
}

/** `rr` of `ip_vs_rr`; nothing of a module that is not of IPVS. Module names have either dashes or underscores. */
function nameOf(module: string): string[] {
  const name = /^ip_vs_(.+)$/.exec(module.replaceAll('-', '_'))?.[1];
  return name === undefined ? [] : [name];
}

function select(
  loaded: ReadonlySet<string>,
  loadable: ReadonlySet<string>,
  matches: (name: string) => boolean,
): IpvsModules {
  return { loaded: [...loaded].filter(matches).sort(), loadable: [...loadable].filter(matches).sort() };
}

function withoutPrefix({ loaded, loadable }: IpvsModules): IpvsModules {
  const strip = (name: string) => name.slice(ENGINE.length);
  return { loaded: loaded.map(strip), loadable: loadable.map(strip) };
}

/** Whether the release of a kernel (`6.1.0-13-amd64`) is this one or a later one. */
function isAtLeast(kernel: string, [major, minor]: readonly [number, number]): boolean {
  const [, a = '0', b = '0'] = /^(\d+)\.(\d+)/.exec(kernel) ?? [];
  return Number(a) > major || (Number(a) === major && Number(b) >= minor);
}
