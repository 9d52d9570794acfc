// A minimal mode: frontends and their endpoints in one map, which is changed by transactions.
import { NetlinkError, ROLLED_BACK } from '../../../src/kernel/errors.js';
import { joinHostPort } from '../../../src/kernel/net/address.js';
import type { Comparison, Desired, Mode } from '../../../src/proxy/modes/mode.js';
import { nodePortHost } from '../../../src/proxy/modes/shared/plan/nodePortAddresses.js';
import { leaveOut } from '../../../src/proxy/modes/shared/program/leaveOut.js';
import type { NodeFacts, ServicePlanInput } from '../../../src/proxy/services/types.js';
import { type MapKernel, type MapOperation, UNDONE } from './mapKernel.js';

type Item =
  | { readonly kind: 'table' }
  | { readonly kind: 'entry'; readonly name: string; readonly endpoints: readonly string[] };

interface Operation {
  readonly key: string;
  readonly phase: 'table' | 'set' | 'delete';
  readonly call: MapOperation;
  readonly becomes: Item | undefined;
}

const TABLE = 'table';
/** Maximum number of operations in a transaction. */
const MOST = 64;

/** The mode on a kernel. */
export function createMapMode(kernel: MapKernel, auditPeriod: number): Mode<Item, Operation> {
  return {
    name: 'map',
    auditPeriod,
    host: nodePortHost({ nodePortAddresses: [], ownLink: '', onOwnLink: false }),
    items: {
      isOurs: () => true,
      keep: {
        found: (known) => new Map([...known].filter(([, { kind }]) => kind === 'entry')),
        beyond: () => undefined,
        join: (wanted) => wanted,
      },
    },
    planService,
    planNode: () => new Map([[TABLE, { kind: 'table' }]]),
    compare,
    describe: ({ key, call }) => [[`${call.do === 'set' || call.do === 'createTable' ? '+' : '-'} ${key}`]],
    apply: (operations) => apply(kernel, operations),
    async *observe() {
      yield itemsOf(kernel);
    },
    async observeAlone(items) {
      return { items: new Map([...itemsOf(kernel)].filter(([key]) => items.has(key))), failures: new Map() };
    },
    watch: async ({ disturbed }) => kernel.watch(() => disturbed(() => true)),
  };
}

function planService({ ports }: ServicePlanInput, { host }: NodeFacts): Map<string, Item> {
  const items = new Map<string, Item>();
  for (const { family, protocol, frontends, clusterEndpoints, localEndpoints } of ports) {
    for (const { kind, address, port, localPolicy } of frontends) {
      const endpoints = [...(localPolicy ? localEndpoints : clusterEndpoints)];
      for (const each of kind === 'nodePort' ? host.nodePortAddresses[family] : [address]) {
        const name = `${joinHostPort(each, port)}/${protocol}`;
        items.set(`entry ${name}`, { kind: 'entry', name, endpoints });
      }
    }
  }
  return items;
}

/** The table is created first, and deleted last. */
function compare(desired: Desired<Item>, known: ReadonlyMap<string, Item>): Comparison<Item, Operation> {
  const phases: Record<'create' | 'set' | 'delete' | 'last', Operation[]> = {
    create: [],
    set: [],
    delete: [],
    last: [],
  };
  return {
    look(key) {
      const want = desired.get(key);
      const have = known.get(key);
      if (want?.kind === 'table' && !have) {
        phases.create.push({ key, phase: 'table', call: { do: 'createTable' }, becomes: want });
      } else if (want?.kind === 'entry' && !isEqual(want, have)) {
        phases.set.push({ key, phase: 'set', call: { do: 'set', ...want }, becomes: want });
      } else if (!want && have?.kind === 'entry') {
        phases.delete.push({
          key,
          phase: 'delete',
          call: { do: 'delete', name: have.name },
          becomes: undefined,
        });
      } else if (!want && have?.kind === 'table') {
        phases.last.push({ key, phase: 'delete', call: { do: 'deleteTable' }, becomes: undefined });
      }
      return undefined;
    },
    additions: () => [...phases.create.splice(0), ...phases.set.splice(0)],
    removals: () => [...phases.delete, ...phases.last],
  };
}

function isEqual(want: Item & { kind: 'entry' }, have: Item | undefined): boolean {
  return have?.kind === 'entry' && want.endpoints.join() === have.endpoints.join();
}

async function apply(kernel: MapKernel, operations: readonly Operation[]) {
  const results: (NetlinkError | undefined)[] = [];
  for (let start = 0; start < operations.length; start += MOST) {
    const changes = operations.slice(start, start + MOST);
    const removes = ({ phase }: Operation) => phase === 'delete';
    const send = (some: readonly Operation[]) => commit(kernel, some);
    results.push(...(await leaveOut({ changes, send, ownerOf: () => undefined, removes })));
  }
  return results;
}

async function commit(kernel: MapKernel, operations: readonly Operation[]) {
  const answers = await kernel.apply(operations.map(({ call }) => call));
  return answers.map((error, i) =>
    error?.code === UNDONE
      ? new NetlinkError({ ...error, code: ROLLED_BACK, target: operations[i]?.key })
      : error,
  );
}

function itemsOf({ table }: MapKernel): Map<string, Item> {
  if (!table) return new Map();
  const entries = [...table].map(([name, endpoints]): [string, Item] => [
    `entry ${name}`,
    { kind: 'entry', name, endpoints },
  ]);
  return new Map([[TABLE, { kind: 'table' }], ...entries]);
}
