// The checks of what all modes are made of: options that they share, and parts of the kernel.
import type { Iptables } from '../../../../kernel/iptables/types.js';
import { FAMILY, NETWORK } from '../../../../kernel/net/shapes.js';
import {
  type Check,
  either,
  FLAG,
  FUNCTION,
  integer,
  listOf,
  MILLISECONDS,
  methods,
  object,
  oneOf,
  optional,
  partOf,
  type Shape,
  TEXT,
} from '../../../../kernel/shapes.js';
import type { Sysctl } from '../../../../kernel/sysctl/index.js';

const DETECTORS: Readonly<Record<string, Check>> = {
  network: object({ by: TEXT, networks: object({ 4: optional(NETWORK), 6: optional(NETWORK) }) }),
  nodeNetwork: object({ by: TEXT }),
  interface: object({ by: TEXT, match: TEXT }),
};
const DETECTOR_KIND = oneOf(...Object.keys(DETECTORS));

/** The check of a detector of local traffic. */
function localDetector(value: unknown, field: string): ReturnType<Check> {
  const by = (value as { by?: unknown } | null | undefined)?.by;
  const check = typeof by === 'string' && Object.hasOwn(DETECTORS, by) ? DETECTORS[by] : undefined;
  return check ? check(value, field) : (methods()(value, field) ?? DETECTOR_KIND(by, `${field}.by`));
}

/** The checks of the options that all modes have. */
export const OPTIONS = {
  families: listOf(FAMILY),
  masqueradeAll: FLAG,
  masqueradeMark: integer(1, 0xffff_ffff),
  localDetector,
  nodePortAddresses: either(oneOf('primary'), listOf(either(oneOf('primary'), NETWORK))),
  auditPeriod: MILLISECONDS,
} as const;

/** The check of iptables. */
export const IPTABLES = partOf({
  chains: FUNCTION,
  save: FUNCTION,
  saveTables: FUNCTION,
  listRules: FUNCTION,
  restore: FUNCTION,
  onBatch: optional(FUNCTION),
  onFallback: optional(FUNCTION),
  onReplaced: optional(FUNCTION),
} satisfies Shape<Iptables>);
/** The check of kernel settings. */
export const SYSCTL = partOf({
  read: FUNCTION,
  write: FUNCTION,
  onBatch: optional(FUNCTION),
} satisfies Shape<Sysctl>);
