// The checks of what iptables mode is made of.
import { FLAG, FUNCTION, object, optional, partOf, type Shape } from '../../../../kernel/shapes.js';
import { IPTABLES, OPTIONS as SHARED, SYSCTL } from '../../shared/program/shapes.js';
import type { IptablesOptions } from '../plan/options.js';
import type { IptablesKernel } from './kernel.js';

/** The check of the options. */
export const OPTIONS = object<IptablesOptions>({
  ...SHARED,
  localhostNodePorts: FLAG,
  nfacct: FLAG,
  conntrackLiberal: FLAG,
});

/** The check of the kernel. */
export const KERNEL = partOf({
  iptables: IPTABLES,
  sysctl: SYSCTL,
  mark: optional(FUNCTION),
} satisfies Shape<IptablesKernel>);
