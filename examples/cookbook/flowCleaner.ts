// Deletes the flows of servers that are out of service, so that their clients connect to others: those that exist, and those
// that begin later.
//
//   node flowCleaner.js ADDRESS|NETWORK…
//
// Needs CAP_NET_ADMIN. Ends with SIGINT and SIGTERM.
import { pathToFileURL } from 'node:url';
import { type Conntrack, type Family, openConntrack } from 'kube-netlink-proxy/conntrack';

/** Deletes flows whose answers are from these servers, until the signal is aborted. Calls `report` with each number of them. */
export async function cleanFlows(
  conntrack: Pick<Conntrack, 'delete' | 'deleteFlows' | 'watch'>,
  servers: readonly string[],
  signal: AbortSignal,
  report: (deleted: number) => void,
): Promise<void> {
  const filters = servers.map((source) => {
    const family: Family = source.includes(':') ? 6 : 4;
    return { family, reply: { source } };
  });
  try {
    for await (const event of conntrack.watch({ kinds: ['new'], selection: filters, signal })) {
      if (event.kind !== 'resync') {
        const [error] = await conntrack.deleteFlows([event.flow]);
        if (error) throw error;
        report(1);
        continue;
      }
      // At the start, and after events were lost: all that exist.
      for (const filter of filters) {
        const { deleted, failures } = await conntrack.delete(filter);
        if (failures[0]) throw failures[0];
        report(deleted);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function main(servers: readonly string[]): Promise<void> {
  await using conntrack = await openConntrack();
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end.abort());
  await cleanFlows(conntrack, servers, end.signal, (deleted) => console.log(`deleted ${deleted} flows`));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2));
