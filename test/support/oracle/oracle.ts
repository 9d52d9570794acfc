// Recordings of kube-proxy's kernel state, and the comparison with them.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../paths.js';

const RECORDINGS = join(ROOT, 'test/oracle/recordings');

/** A recorded cluster: its node, its configuration, and its objects at each step. */
export interface Scenario {
  readonly name: string;
  readonly folder: string;
  /** KubeProxyConfiguration as parsed JSON. */
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly interfaces: readonly {
    readonly link: string;
    readonly address: string;
    readonly prefix: number;
  }[];
  /** Folders with objects.yaml and the state recorded for it, in order. */
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
    .map((name) => join(RECORDINGS, name, mode))
    .filter((folder) => existsSync(join(folder, 'config.json')))
    .map(readScenario);
}

/** Whether its objects were made at random. */
export const isRandom = ({ name }: Scenario): boolean => name.startsWith('random-');

function readScenario(folder: string): Scenario {
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const later = readdirSync(folder).filter((name) => /^step\d+$/.test(name));
  return {
    name: folder.split('/').at(-2) as string,
    folder,
    configuration: JSON.parse(read('config.json')),
    interfaces: read('interfaces.txt')
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [link = '', cidr = ''] = line.split(' ');
        const [address = '', prefix] = cidr.split('/');
        return { link, address, prefix: Number(prefix) };
      }),
    steps: [folder, ...later.sort().map((name) => join(folder, name))],
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
