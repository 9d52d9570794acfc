// Opens what services and top list: it depends on the mode of the node.

import { type Conntrack, openConntrack } from '../../../kernel/conntrack/index.js';
import { openIpvs } from '../../../kernel/ipvs/index.js';
import type { Ipvs, VirtualServiceState } from '../../../kernel/ipvs/types.js';
import { namedFrontends } from '../../../proxy/services/namedFrontends.js';
import { nodeFacts } from '../../../proxy/services/nodeFacts.js';
import type { KernelCommand } from '../../config/commandLine.js';
import { type Loaded, loadConfiguration } from '../../config/load.js';
import type { FrontendQuery, ProgrammedFrontend } from '../../explain/inventory.js';
import { withConnections } from '../../explain/read/connections.js';
import { readerOf } from '../../explain/read/select.js';
import { MODES } from '../../modes/select.js';
import { NoAnswer } from '../agentClient.js';
import { agentFrontends } from '../agentFrontends.js';
import { AnswerLimit } from '../answerLimit.js';
import type { Invocation } from '../command.js';
import { modeOfNode } from '../modeOfNode.js';
import type { Output } from '../output/output.js';
import { readObjects } from '../readObjects.js';
import { count } from '../summary.js';
import { frontendsInventory } from './frontendsInventory.js';
import { type Inventory, inventoryOf, sumOf } from './inventory.js';
import { namesOf, type ServiceNames, virtualServiceName } from './names.js';
import { servicesReport, type VirtualServiceReport } from './report.js';
import { serviceLines, shortNumber } from './table.js';

/**
 * Calls `use` with the inventory of this node, and closes the kernel afterwards. Resolves to exit status 0.
 *
 * @param args show only what has one of these texts in its name or address; none: all
 * @param detail whether endpoints are shown
 */
export async function withInventory(
  { args: texts, options, flags, output }: Invocation,
  detail: 'frontends' | 'endpoints',
  use: <Listing>(inventory: Inventory<Listing>) => Promise<void>,
): Promise<number> {
  const limit = new AnswerLimit(Number(options['timeout']));
  const loaded = loadConfiguration(flags, MODES);
  const mode = await modeOfNode(flags, loaded.configuration);
  const { listFrontends, uncounted } = readerOf(mode);
  const read = await readNames(flags, loaded, limit);
  if (listFrontends) {
    // The comments of rules have names too: an agent that does not answer is not a loss.
    if (read.names.origin.source !== 'none') noteNames(read, output);
    const query = { ...queryOf(read.names, texts), ...(detail === 'frontends' && { bare: true as const }) };
    const list = () => listFrontends(query);
    if (!uncounted) await use(frontendsInventory(list, read.names, texts));
    else
      await useWithConnections(
        list,
        (counted, counts) => use(frontendsInventory(counted, read.names, texts, counts)),
        output,
      );
    return 0;
  }
  noteNames(read, output);
  const ipvs = await openIpvs();
  try {
    await use(ipvsInventory(ipvs, read.names, texts));
    return 0;
  } finally {
    await ipvs.close();
  }
}

/** Writes to standard error why there are no names, and that some may be missing. */
function noteNames({ names, problems }: ReadNames, output: Output): void {
  if (names.origin.reason !== undefined) output.note(`names of Services are unknown: ${names.origin.reason}`);
  if (problems > 0) {
    const found = count(problems, 'problem');
    output.note(`some names may be missing: the objects have ${found}, see kube-netlink-proxy check`);
  }
}

/** Number of frontends up to which each is looked up by itself. */
const LOOKED_UP = 500;

/** The frontends that the texts select, if their names are known; otherwise all, from which the texts select later. */
function queryOf(names: ServiceNames, texts: readonly string[]): FrontendQuery {
  const found = texts.length === 0 ? [] : names.matching(texts);
  if (found.length === 0 || found.length > LOOKED_UP) return {};
  return {
    keys: found.map(({ kind, family, address, protocol, port }) => ({
      ...{ family, protocol, port },
      ...(kind !== 'nodePort' && { address }),
    })),
  };
}

type ListFrontends = () => Promise<readonly ProgrammedFrontend[]>;

/** Adds the connections of conntrack, if it can be read; otherwise says why there are none. */
async function useWithConnections(
  list: ListFrontends,
  use: (list: ListFrontends, counts: 'conntrack' | 'none') => Promise<void>,
  output: Output,
): Promise<void> {
  let conntrack: Conntrack;
  try {
    conntrack = await openConntrack();
  } catch (error) {
    output.note(
      `connections are not counted: the rules of this mode have no counters, and conntrack cannot be read: ${error}`,
    );
    await use(list, 'none');
    return;
  }
  try {
    await use(async () => withConnections(conntrack, await list()), 'conntrack');
  } finally {
    await conntrack.close();
  }
}

// The virtual services of IPVS as an inventory.

/**
 * The virtual services of a kernel.
 *
 * @param texts show only virtual services that have one of these texts; none: all
 */
export function ipvsInventory(
  ipvs: Pick<Ipvs, 'list'>,
  names: ServiceNames,
  texts: readonly string[],
): Inventory<readonly VirtualServiceState[]> {
  return inventoryOf<readonly VirtualServiceState[], VirtualServiceReport, 'virtualServices'>(
    {
      what: 'virtual service',
      field: 'virtualServices',
      list: () => ipvs.list(),
      report: (sample) => servicesReport(sample, names),
      addressOf: virtualServiceName,
      orders: {
        rate: ({ rates }) => rates.connections,
        active: ({ activeConnections }) => activeConnections,
        inactive: ({ inactiveConnections }) => inactiveConnections,
        bytes: ({ rates }) => rates.inBytes + rates.outBytes,
      },
      sums: (services) => [
        `${sumOf(services, ({ activeConnections }) => activeConnections)} active`,
        `${sumOf(services, ({ inactiveConnections }) => inactiveConnections)} inactive`,
        `${shortNumber(sumOf(services, ({ rates }) => rates.connections))} new/s`,
      ],
      lines: serviceLines,
    },
    texts,
  );
}

// Reads the names of Services: from manifests or the API server if a flag names them, otherwise from the running agent.

/** The names from a source, and the number of problems of its objects. */
interface ReadNames {
  readonly names: ServiceNames;
  readonly problems: number;
}

/**
 * Reads the names. If the agent does not answer, there are none, with the reason. Rejects with an Error if the flags name
 * a source that cannot be read.
 *
 * @param limit of the API server
 */
async function readNames(flags: KernelCommand, loaded: Loaded, limit: AnswerLimit): Promise<ReadNames> {
  const objects = await readObjects(flags, loaded, limit);
  if (objects) {
    const { source, cache, problems } = objects;
    const frontends = namedFrontends(cache, nodeFacts(loaded.nodeName));
    return { names: namesOf({ source }, [...frontends]), problems };
  }
  try {
    const frontends = await agentFrontends(loaded.configuration.metricsBindAddress);
    return { names: namesOf({ source: 'agent' }, frontends), problems: 0 };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const reason = `${error.message}; --manifests or --kubeconfig names other objects`;
    return { names: namesOf({ source: 'none', reason }, []), problems: 0 };
  }
}
