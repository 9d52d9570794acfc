// The names of the settings that a Service has by annotation: docs/service-settings.md has their meaning.

/** The settings, each the end of the name of its annotation and a word of `--service-settings`. */
export const SETTING_NAMES = [
  'scheduler',
  'scheduler-flags',
  'persistence-timeout',
  'persistence-netmask',
  'one-packet',
  'upper-threshold',
  'lower-threshold',
  'drain-timeout',
  'slow-start',
  'fail-fast',
  'zone-weights',
  'forwarding',
  'weight',
] as const;

/** The name of a setting. */
export type SettingName = (typeof SETTING_NAMES)[number];

/** What the names of our annotations begin with. */
export const SETTING_PREFIX = 'kube-netlink-proxy.io/';

/** The annotations of an object that are read, as they were written, by their names. */
export type Annotations = Readonly<Record<string, string>>;

/** The kind of object that has the annotation of a setting. */
export type SettingHolder = 'Service' | 'EndpointSlice';

/**
 * Annotations of other projects that mean the same as one of this project. kube-router reads the first two
 * (https://www.kube-router.io/docs/user-guide/), Cilium the third (cilium/cilium#46061).
 */
const OTHER_NAMES: Readonly<Partial<Record<SettingName, string>>> = {
  scheduler: 'kube-router.io/service.scheduler',
  'scheduler-flags': 'kube-router.io/service.schedflags',
  weight: 'service.cilium.io/weight',
};

/** The names of the annotations of a setting: ours, which wins, and that of another project. */
export function annotationsOf(setting: SettingName): readonly [own: string, other?: string] {
  const own = `${SETTING_PREFIX}${setting}`;
  const other = OTHER_NAMES[setting];
  return other === undefined ? [own] : [own, other];
}

/** The kind of object that has a setting. */
function holderOf(setting: SettingName): SettingHolder {
  return setting === 'weight' ? 'EndpointSlice' : 'Service';
}

/** The annotations that are read of each kind of object. */
export const READ_ANNOTATIONS: Readonly<Record<SettingHolder, ReadonlySet<string>>> = {
  Service: namesFor('Service'),
  EndpointSlice: namesFor('EndpointSlice'),
};

function namesFor(holder: SettingHolder): ReadonlySet<string> {
  const settings = SETTING_NAMES.filter((setting) => holderOf(setting) === holder);
  return new Set(settings.flatMap((setting) => annotationsOf(setting) as readonly string[]));
}
