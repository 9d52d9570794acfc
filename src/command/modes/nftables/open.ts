// Opens nftables mode: its parts of the kernel, and its options from the configuration and the host.
import { openNftables } from '../../../kernel/nftables/index.js';
import type { FormerState } from '../../../proxy/modes/mode.js';
import { createNftablesMode, nftablesMode } from '../../../proxy/modes/nftables/index.js';
import { ForeignChains } from '../../../proxy/modes/nftables/program/foreignChains.js';
import type { FormerSettings, ModeSettings, OpenedMode } from '../shared/definition.js';
import { openHostKernel } from '../shared/hostKernel.js';
import { loadAhead } from '../shared/loadAhead.js';
import { openParts } from '../shared/openParts.js';
import { FAILURES } from './failures.js';
import { hostFamilies } from './families.js';
import { layoutOf, nftablesOptions } from './fromConfiguration.js';
import { localhostNodePorts } from './localhost.js';
import { KERNEL_MODULES } from './modules.js';
import { checkFeatures, checkKernel, probeFeatures } from './prepare.js';

/** Opens nftables mode, as `open` of its definition. */
export async function open(settings: ModeSettings): Promise<OpenedMode> {
  const { kernel, options } = await openWithOptions(settings);
  const foreign = new ForeignChains();
  return {
    mode: nftablesMode(kernel, options, foreign),
    foreignChains: () => foreign.list(),
    layout: options.layout,
    families: options.families,
    minSyncPeriod: settings.configuration.nftables.minSyncPeriod,
    kernel,
    localhostNodePorts: localhostNodePorts(kernel.nftables, options.families, settings.configuration),
    metrics: { parts: { nftables: kernel.nftables }, countsPorts: true, failures: FAILURES },
    prepare: async () => {}, // it has no setting of its own
    probe: () => probeFeatures(kernel.nftables, options.families),
    check: async () => checkFeatures(options.families),
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
  return { kernel, options: nftablesOptions(configuration, { families, layout }) };
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
