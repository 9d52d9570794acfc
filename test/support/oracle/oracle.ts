// Recordings of kube-proxy's kernel state, and the comparison with them.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import { ROOT } from '../paths.js';

const RECORDINGS = join(ROOT, 'test/oracle/recordings');

type Fields = Readonly<Record<string, unknown>>;

/** A recorded cluster: its node, its configuration, and its objects at each step. */
export interface Scenario {
  readonly name: string;
  /** The folder of the mode: what was recorded at the first step. */
  readonly folder: string;
  /** KubeProxyConfiguration as parsed JSON. */
  readonly configuration: Fields;
  readonly interfaces: readonly {
    readonly link: string;
    readonly address: string;
    readonly prefix: number;
  }[];
  /** Folders with the recorded state, in order; `recordedObjects` has the objects of each. */
  readonly steps: readonly string[];
}

/** The ServiceCIDRs of the cluster that was recorded: they are not among its objects. */
export const SERVICE_CIDRS = ['10.96.0.0/12', 'fd00:10:96::/112'];

/** A mode with recordings. */
export type RecordedMode = 'ipvs' | 'iptables';

/** All recordings of a mode. */
export function scenarios(mode: RecordedMode | 'nftables'): Scenario[] {
  return readdirSync(RECORDINGS)
    .sort()
    .filter((name) => existsSync(join(RECORDINGS, name, mode)))
    .map((name) => readScenario(name, mode));
}

/** Whether its objects were made at random. */
export const isRandom = ({ name }: Scenario): boolean => name.startsWith('random-');

/** The text of the objects of a step. All modes have the same. */
export function recordedObjects(step: string): string {
  const [scenario = '', , later = ''] = relative(RECORDINGS, step).split('/');
  return readShared(join(scenario, later, 'objects.yaml'), 'objects.yaml');
}

/** A scenario's own file, or the one that all scenarios without an own one share. */
function readShared(own: string, shared: string): string {
  const path = join(RECORDINGS, own);
  return readFileSync(existsSync(path) ? path : join(RECORDINGS, shared), 'utf8');
}

function readConfiguration(name: string, mode: string): Fields {
  const shared = JSON.parse(readFileSync(join(RECORDINGS, 'config.json'), 'utf8')) as Fields;
  const { kubeProxy = {} } = parse(readFileSync(join(RECORDINGS, name, 'scenario.yaml'), 'utf8')) as {
    kubeProxy?: Fields;
  };
  const isSection = (value: unknown) => typeof value === 'object' && !Array.isArray(value);
  const own = Object.entries(kubeProxy).map(([key, value]) => [
    key,
    isSection(value) ? Object.assign({}, shared[key], value) : value,
  ]);
  return { ...shared, ...Object.fromEntries(own), mode };
}

function readScenario(name: string, mode: string): Scenario {
  const folder = join(RECORDINGS, name, mode);
  const later = readdirSync(folder).filter((step) => /^step\d+$/.test(step));
  return {
    name,
    folder,
    configuration: readConfiguration(name, mode),
    interfaces: readShared(join(name, 'interfaces.txt'), 'interfaces.txt')
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [link = '', cidr = ''] = line.split(' ');
        const [address = '', prefix] = cidr.split('/');
        return { link, address, prefix: Number(prefix) };
      }),
    steps: [folder, ...later.sort().map((step) => join(folder, step))],
  };
}

/** The output of the tools for a kernel's state; compare.mjs reads one file for each. */
export interface ToolOutput {
  readonly ipvsadm: string;
  readonly ipset: string;
  readonly iptables: string;
  readonly ip6tables: string;
  readonly address: string;
  /** Lines of `key = value`, recorded once for each scenario. */
  readonly sysctl: string;
}

const compare: {
  compareFolders(
    expected: string,
    actual: string,
    only?: ReadonlySet<string>,
  ): { lines: string[]; equal: string[] };
} = await import(pathToFileURL(join(ROOT, 'test/oracle/compare.mjs')).href);

/** Compares a state with a recorded one; returns the differences, one per line. */
export function differences(recorded: string, actual: ToolOutput): string[] {
  return compareFiles(recorded, Object.entries(actual));
}

/** The same for the text of `nft list ruleset` in nftables mode. */
export function nftDifferences(recorded: string, text: string): string[] {
  return compareFiles(recorded, [['nft', text]], new Set(['nft']));
}

function compareFiles(
  recorded: string,
  files: readonly (readonly [name: string, text: string])[],
  only?: ReadonlySet<string>,
): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'knp-oracle-'));
  try {
    for (const [name, text] of files) writeFileSync(join(folder, `${name}.txt`), text);
    const { lines, equal } = compare.compareFolders(recorded, folder, only);
    return equal.length + lines.length > 0 ? lines : ['nothing was compared'];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
