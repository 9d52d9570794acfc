// Keeps a set of banned networks equal to a file. Each line has an address or network, and the time of its ban in s, if it ends:
//
//   node banList.js bans.txt       with the rule: iptables -I INPUT -m set --match-set banned src -j DROP
//
// Reads the file again after SIGHUP. A set that is full is replaced by a larger one, and the rule keeps matching meanwhile.
// Needs CAP_NET_ADMIN and libipset. SIGINT and SIGTERM end it; the bans stay.
import { on } from 'node:events';
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { type Ipset, NetlinkError, openIpset } from 'kube-netlink-proxy/ipset';

const SET = { name: 'banned', type: 'hash:net', family: 4, timeout: 0 } as const;

/** A ban of a file: the network, and its time in s, 0 for one that does not end. */
export interface Ban {
  readonly network: string;
  readonly timeout: number;
}

/** Reads the lines of a file; `#` begins a comment. Throws an Error that names the line that is wrong. */
export function readBans(text: string): Ban[] {
  return text.split('\n').flatMap((line, i) => {
    const [network = '', timeout = '0', ...rest] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (network === '') return [];
    if (!/^\d+$/.test(timeout) || rest.length > 0) {
      throw new Error(`line ${i + 1} must be a network and a time in s, found '${line}'`);
    }
    return [{ network, timeout: Number(timeout) }];
  });
}

/** Adds the bans to the set, which is created if there is none, and grown when it is full. Returns its number of entries. */
export async function ban(
  ipset: Pick<Ipset, 'create' | 'add' | 'get' | 'grow'>,
  bans: readonly Ban[],
  maxElements = 65_536,
): Promise<number> {
  if (!(await ipset.get(SET.name))) await ipset.create({ ...SET, maxElements });
  for (const { network, timeout } of bans) {
    const [address = '', prefix] = network.split('/');
    const entry = { address, ...(prefix !== undefined && { prefix: Number(prefix) }), timeout };
    try {
      await ipset.add(SET, entry);
    } catch (error) {
      if (!(error instanceof NetlinkError) || error.code !== 'IPSET_ERR_HASH_FULL') throw error;
      const full = await ipset.get(SET.name);
      await ipset.grow(SET.name, { maxElements: 2 * (full?.set.maxElements ?? maxElements) });
      await ipset.add(SET, entry);
    }
  }
  return (await ipset.get(SET.name))?.entries.length ?? 0;
}

async function main(file: string, maxElements?: string): Promise<void> {
  await using ipset = await openIpset();
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end.abort());
  const read = async () => {
    const entries = await ban(ipset, readBans(await readFile(file, 'utf8')), maxElements ? Number(maxElements) : undefined);
    console.log(`${entries} networks are banned`);
  };
  await untilEnd(end.signal, read);
}

/** Acts at once, and again after each SIGHUP. */
async function untilEnd(signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  const keepAlive = setInterval(() => {}, 60_000);
  const reloads = on(process, 'SIGHUP', { signal });
  try {
    await act();
    for await (const _ of reloads) await act();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(keepAlive);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv[2] ?? 'bans.txt', process.argv[3]);
