// A kernel that tells the metrics what is done to it. Changes nothing about it.
import { performance } from 'node:perf_hooks';
import type { NetlinkError } from '../errors.js';
import type { Conntrack } from '../kernel/conntrack/types.js';
import type { IpvsKernel } from '../modes/ipvs/index.js';
import { type Family, familyOf } from '../net/address.js';
import type { KernelFamily, Metrics } from '../servers/metrics.js';

type Result = NetlinkError | undefined;

/** The part of the metrics that is told. */
export type KernelMetrics = Pick<
  Metrics,
  'operations' | 'batch' | 'restoreFailed' | 'conntrackReconciled' | 'conntrackDeleted'
>;

/** The same kernel, measured: operations by kind and result, batches, and the time that each took. */
type MeasuredKernel = IpvsKernel & { readonly conntrack: Pick<Conntrack, 'list' | 'deleteFlows'> };

export function measured(kernel: MeasuredKernel, metrics: KernelMetrics): MeasuredKernel {
  const { ipvs, ipset, rtnetlink, iptables, conntrack, sysctl } = kernel;
  const applied = async <Operation extends { readonly do: string }>(
    family: KernelFamily,
    operations: readonly Operation[],
    apply: () => Promise<Result[]>,
  ) => {
    const kinds = operations.map((operation) => operation.do);
    return batch(metrics, family, kinds, apply);
  };
  const single = async (family: KernelFamily, kind: string, act: () => Promise<void>) => {
    await batch(metrics, family, [kind], async () => [await act().then(() => undefined)]);
  };
  return {
    ipvs: {
      listServices: () => ipvs.listServices(),
      listRealServers: (ids) => ipvs.listRealServers(ids),
      get: (id) => ipvs.get(id),
      timeouts: () => ipvs.timeouts(),
      setTimeouts: (timeouts) => single('ipvs', 'setTimeouts', () => ipvs.setTimeouts(timeouts)),
      apply: (operations) => applied('ipvs', operations, () => ipvs.apply(operations)),
    },
    ipset: {
      list: () => ipset.list(),
      get: (name) => ipset.get(name),
      apply: (operations) => applied('ipset', operations, () => ipset.apply(operations)),
    },
    rtnetlink: {
      getLink: (name) => rtnetlink.getLink(name),
      listAddresses: (link) => rtnetlink.listAddresses(link),
      apply: (operations) => applied('rtnetlink', operations, () => rtnetlink.apply(operations)),
    },
    iptables: {
      save: (family) => iptables.save(family),
      async restore(family, operations) {
        const [error] = await batch(metrics, 'iptables', ['restore'], async () => [
          await iptables.restore(family, operations),
        ]);
        if (error) metrics.restoreFailed(family, false);
        return error;
      },
    },
    conntrack: {
      async list(selections, options) {
        const started = performance.now();
        const flows = await conntrack.list(selections, options);
        for (const family of familiesOf([selections ?? []].flat())) {
          metrics.conntrackReconciled(family, secondsSince(started));
        }
        return flows;
      },
      async deleteFlows(flows) {
        const kinds = flows.map(() => 'deleteFlow');
        const results = await batch(metrics, 'conntrack', kinds, () => conntrack.deleteFlows(flows));
        for (const [i, { original }] of flows.entries()) {
          if (!results[i]) metrics.conntrackDeleted(familyOf(original.destination), 1);
        }
        return results;
      },
    },
    sysctl: {
      read: (name) => sysctl.read(name),
      write: (name, value) => single('sysctl', 'write', () => sysctl.write(name, value)),
    },
  };
}

/** Counts what came of each operation. What breaks as a whole fails each of them. */
async function batch(
  metrics: KernelMetrics,
  family: KernelFamily,
  kinds: readonly string[],
  act: () => Promise<Result[]>,
): Promise<Result[]> {
  const started = performance.now();
  const count = (resultOf: (i: number) => string) => {
    const counts = new Map<string, Map<string, number>>();
    for (const [i, kind] of kinds.entries()) {
      const ofKind = counts.get(kind) ?? new Map<string, number>();
      const result = resultOf(i);
      counts.set(kind, ofKind.set(result, (ofKind.get(result) ?? 0) + 1));
    }
    for (const [kind, ofKind] of counts) {
      for (const [result, count] of ofKind) metrics.operations(family, kind, result, count);
    }
    metrics.batch(family, kinds.length, secondsSince(started));
  };
  try {
    const results = await act();
    count((i) => results[i]?.code ?? 'ok');
    return results;
  } catch (error) {
    count(() => (error as Partial<NetlinkError>).code ?? 'ERR_UNKNOWN');
    throw error;
  }
}

function familiesOf(selections: readonly { readonly family: Family }[]): Set<Family> {
  return new Set(selections.map(({ family }) => family));
}

function secondsSince(started: number): number {
  return (performance.now() - started) / 1000;
}
