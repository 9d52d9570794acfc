// What the versions of kube-proxy do differently: one table, which all other code asks by the name of a behaviour. Pure.
import { quote } from './goSyntax.js';
import type { Configuration } from './schema.js';

/** A version of kube-proxy that can be mirrored. */
export type MirroredVersion = '1.36' | '1.37' | '1.38';

/** The version without a setting: the newest whose kernel state was recorded (docs/decisions/0046). */
export const DEFAULT_VERSION: MirroredVersion = '1.36';

/**
 * What depends on the mirrored version, without the feature gates: `featureGates.ts` has those. That kube-proxy deprecates ipvs mode is not
 * mirrored in any version: no warning, no event.
 */
export interface Behaviour {
  /** `1.37`. */
  readonly version: MirroredVersion;
  /** The minor version before it, whose hidden metrics may be requested. */
  readonly previousVersion: string;
  /** Only a pre-release of this version was read: what it does may change. */
  readonly provisional: boolean;
  /**
   * The rule of a chain with one endpoint in nftables mode: a `map` of one element, as for several, or `direct`, without a map
   * (kubernetes/kubernetes#140723).
   */
  readonly singleEndpointRule: 'map' | 'direct';
  /**
   * `nodePortAddresses` may have the words `primary`, `localhost` and `all` beside networks; otherwise only `primary`, alone
   * (kubernetes/kubernetes#138427).
   */
  readonly mixedNodePortAddresses: boolean;
  /** A change of the node's own addresses, or the end of its Node, ends the agent with status 1 (kubernetes/kubernetes#138183). */
  readonly exitsOnNodeChange: boolean;
  /** A blank `mode` has a warning that the default will change (kubernetes/kubernetes#139957). */
  readonly warnsOfDefaultMode: boolean;
  /** The metrics of node ports on localhost exist, in nftables mode (kubernetes/kubernetes#138427). */
  readonly localhostNodePortMetrics: boolean;
  /** The list of all feature gates of this version is known: a name that is not in it is refused. */
  readonly knowsAllGates: boolean;
}

const V1_36: Behaviour = {
  version: '1.36',
  previousVersion: '1.35',
  provisional: false,
  singleEndpointRule: 'map',
  mixedNodePortAddresses: false,
  exitsOnNodeChange: false,
  warnsOfDefaultMode: false,
  localhostNodePortMetrics: false,
  knowsAllGates: true,
};

const V1_37: Behaviour = {
  version: '1.37',
  previousVersion: '1.36',
  provisional: false,
  singleEndpointRule: 'direct',
  mixedNodePortAddresses: true,
  exitsOnNodeChange: true,
  warnsOfDefaultMode: true,
  localhostNodePortMetrics: true,
  knowsAllGates: false,
};

/** As of 1.38.0-alpha.2. It differs from 1.37 by its feature gates. */
const V1_38: Behaviour = { ...V1_37, version: '1.38', previousVersion: '1.37', provisional: true };

/** The behaviour of each version. */
export const BEHAVIOURS: Readonly<Record<MirroredVersion, Behaviour>> = {
  '1.36': V1_36,
  '1.37': V1_37,
  '1.38': V1_38,
};

/** The versions that can be mirrored, the oldest first. */
export const MIRRORED_VERSIONS = Object.keys(BEHAVIOURS) as readonly MirroredVersion[];

/** Whether a text names a version that can be mirrored. */
function isMirrored(text: string): text is MirroredVersion {
  return Object.hasOwn(BEHAVIOURS, text);
}

/** The behaviour that a configuration selects. A blank or unknown version is the default; validation refuses an unknown one. */
export function behaviourOf({ mirroredVersion }: Pick<Configuration, 'mirroredVersion'>): Behaviour {
  return BEHAVIOURS[isMirrored(mirroredVersion) ? mirroredVersion : DEFAULT_VERSION];
}

/** The rule that a text of `mirroredVersion` breaks; undefined if it is blank or names a version. */
export function mirroredVersionRule(text: string): string | undefined {
  if (text === '' || isMirrored(text)) return undefined;
  const names = MIRRORED_VERSIONS.map(quote);
  return `must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}, the minor version of a kube-proxy`;
}

/** The warning about a version of which only a pre-release was read; undefined for others. */
export function provisionalVersionWarning(behaviour: Behaviour): string | undefined {
  if (!behaviour.provisional) return undefined;
  return `is provisional: version ${behaviour.version} follows a pre-release of kube-proxy, whose last form may differ`;
}
