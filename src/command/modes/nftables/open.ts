// Opens nftables mode: its parts of the kernel, and its options from the configuration and the host.

import { NetlinkError } from '../../../kernel/errors.js';
import type { Family } from '../../../kernel/net/address.js';
import { openNftables } from '../../../kernel/nftables/index.js';
import type { Nftables } from '../../../kernel/nftables/types.js';
import type { FormerState } from '../../../proxy/modes/mode.js';
import { createNftablesMode, nftablesMode } from '../../../proxy/modes/nftables/index.js';
import { protocolOfCounter } from '../../../proxy/modes/nftables/plan/localhostPorts.js';
import { TABLE } from '../../../proxy/modes/nftables/plan/names.js';
import { TABLE_FAMILY } from '../../../proxy/modes/nftablesRules/plan/families.js';
import { ForeignChains } from '../../../proxy/modes/nftablesRules/program/foreignChains.js';
import type { Configuration } from '../../config/configuration.js';
import { behaviourOf } from '../../config/mirroredVersion.js';
import { FAILURES } from '../nftablesRules/failures.js';
import { hostFamilies } from '../nftablesRules/families.js';
import {
  checkFeatures,
  checkKernel,
  FEATURES,
  FLOW_OFFLOAD,
  modulesOf,
  probeFeatures,
} from '../nftablesRules/prepare.js';
import type { FormerSettings, LocalhostNodePorts, ModeSettings, OpenedMode } from '../shared/definition.js';
import { openHostKernel } from '../shared/hostKernel.js';
import { loadAhead } from '../shared/loadAhead.js';
import { openParts } from '../shared/openParts.js';
import { flowTableOf, layoutOf, localhostFamilies, nftablesOptions } from './fromConfiguration.js';

/** Opens nftables mode, as `open` of its definition. */
export async function open(settings: ModeSettings): Promise<OpenedMode> {
  const { kernel, options, withoutEffect } = await openWithOptions(settings);
  const foreign = new ForeignChains(TABLE);
  return {
    mode: nftablesMode(kernel, options, foreign),
    foreignChains: () => foreign.list(),
    ...(withoutEffect && { withoutEffect: [withoutEffect] }),
    layout: options.layout,
    families: options.families,
    minSyncPeriod: settings.configuration.nftables.minSyncPeriod,
    kernel,
    localhostNodePorts: localhostNodePorts(kernel.nftables, options.families, settings.configuration),
    metrics: { parts: { nftables: kernel.nftables }, countsPorts: true, failures: FAILURES },
    prepare: async () => {}, // it has no setting of its own
    probe: () => probeFeatures(kernel.nftables, options.families, FEATURES),
    check: async () => checkFeatures(options.families, FEATURES),
  };
}

/**
 * Opens the parts of the kernel, with the options of the mode on this host. Rejects with the NetlinkError of the part that cannot be
 * opened, and of a kernel that is too old.
 */
export async function openWithOptions({ configuration, command, loadModules, log }: ModeSettings) {
  checkKernel();
  const loading = loadModules ? loadAhead(KERNEL_MODULES, log) : undefined;
  const kernel = await openNftablesKernel();
  const { families, unusable } = hostFamilies();
  for (const [family, reason] of unusable) log.warn({ err: reason }, `IPv${family} is left out`);
  await loading;
  const layout = layoutOf(command.nftablesLayout);
  const wanted = flowTableOf(command.nftablesFlowTable);
  const obstacle = wanted && (await obstacleOfFlowTable(kernel.nftables, families, loadModules));
  const flowTable = obstacle === undefined ? wanted : undefined;
  const withoutEffect = obstacle && `--nftables-flow-table: ${obstacle}`;
  if (withoutEffect) log.warn(`${withoutEffect}; all packets take the rules`);
  return { kernel, options: nftablesOptions(configuration, { families, layout, flowTable }), withoutEffect };
}

/** Why the kernel can have no flow table; undefined if it can. @param mayProbe with a transaction that leaves nothing */
export async function obstacleOfFlowTable(
  nftables: Pick<Nftables, 'apply'>,
  families: readonly Family[],
  mayProbe: boolean,
): Promise<string | undefined> {
  try {
    if (mayProbe) await probeFeatures(nftables, families, [FLOW_OFFLOAD]);
    else checkFeatures(families, [FLOW_OFFLOAD]);
    return undefined;
  } catch (error) {
    if (error instanceof NetlinkError) return error.message;
    throw error;
  }
}

/** The state that nftables mode left. */
export async function openState({
  kernel: host,
  families,
  configuration,
}: FormerSettings): Promise<FormerState> {
  const nftables = await openNftables();
  return {
    mode: createNftablesMode({ ...host, nftables }, nftablesOptions(configuration, { families })),
    close: () => {
      void nftables.close();
    },
  };
}

/** Opens all parts. If one cannot be opened, closes the others and rejects with its NetlinkError. */
async function openNftablesKernel() {
  const parts = await openParts({ nftables: () => openNftables(), host: openHostKernel });
  const { nftables, host } = parts;
  return {
    ...host,
    nftables,
    close: () => {
      for (const part of Object.values(parts)) part.close();
    },
  };
}

// Node ports on localhost in nftables mode, for the agent.

/** Longest time to read the counters of a family, in ms, as in kube-proxy. */
const READ_LIMIT = 2000;

/** What the agent does for node ports on localhost with this configuration. */
export function localhostNodePorts(
  nftables: Pick<Nftables, 'listObjects'>,
  families: readonly Family[],
  configuration: Configuration,
): LocalhostNodePorts {
  const served = localhostFamilies(configuration);
  return {
    families: families.filter((family) => served.has(family)),
    hasMetrics: behaviourOf(configuration).localhostNodePortMetrics,
    readRejected: () => readRejected(nftables, families),
  };
}

/** The packets of each counter. A table that does not exist has none. */
async function readRejected(nftables: Pick<Nftables, 'listObjects'>, families: readonly Family[]) {
  const found: { family: Family; protocol: string; packets: number }[] = [];
  for (const family of families) {
    const where = { family: TABLE_FAMILY[family], table: TABLE };
    for await (const object of nftables.listObjects(where, { signal: AbortSignal.timeout(READ_LIMIT) })) {
      const protocol = protocolOfCounter(object.name);
      if (object.type !== 'counter' || protocol === undefined) continue;
      const packets = Number(object.packets ?? 0n);
      found.push({ family, protocol: protocol.toUpperCase(), packets });
    }
  }
  return found;
}

// The kernel modules of nftables mode.

const KERNEL_MODULES: readonly string[] = modulesOf(FEATURES);
