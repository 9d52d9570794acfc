// A Service and its slices → its settings, and the problems of their annotations. Pure. A wrong value has the default: not a former
// value, so that all nodes decide alike, whenever they were started.
import type { Problem } from '../../../kernel/errors.js';
import { type Annotations, annotationsOf, type SettingName } from '../../input/settingNames.js';
import type { EndpointSlice, Service } from '../../objects/types.js';
import { externalPolicyIsLocal } from '../frontends.js';
import { SETTING_OF, type ServiceScheduler, type ServiceSettings, type SettingRules } from './types.js';
import {
  type ReadValue,
  readFailFast,
  readFlag,
  readForwarding,
  readNetmask,
  readScheduler,
  readSchedulerFlags,
  readSeconds,
  readSecondsOfDay,
  readSecondsOrNone,
  readThreshold,
  readWeight,
  readZoneWeights,
} from './values.js';

/** The settings of a Service, with the problems of its annotations. */
export interface ReadSettings {
  /** Absent: no setting. */
  readonly settings?: ServiceSettings;
  readonly problems: readonly Problem[];
}

/** The weight of a slice, with the problems of its annotation. */
export interface ReadWeight {
  /** Absent: none, or weights are not allowed. */
  readonly weight?: number;
  readonly problems: readonly Problem[];
}

/** What is read of an object without annotations. */
export const NOTHING: { readonly problems: readonly Problem[] } = Object.freeze({ problems: [] });

/** The settings of a Service. */
export function settingsOf(service: Service, rules: SettingRules): ReadSettings {
  const { annotations } = service;
  if (annotations === undefined) return NOTHING;
  const reader = new Reader(aboutOf('v1', service), annotations, rules);
  const settings: ServiceSettings = {
    ...present('scheduler', reader.read('scheduler', readScheduler)),
    ...present('schedulerFlags', reader.read('scheduler-flags', readSchedulerFlags)),
    ...present('persistenceTimeout', reader.read('persistence-timeout', readSeconds)),
    ...present('persistenceNetmask', reader.read('persistence-netmask', readNetmask)),
    ...present('onePacket', reader.read('one-packet', readFlag)),
    ...present('upperThreshold', reader.read('upper-threshold', readThreshold)),
    ...present('lowerThreshold', reader.read('lower-threshold', readThreshold)),
    ...present('drainTimeout', reader.read('drain-timeout', readSecondsOrNone)),
    ...present('slowStart', reader.read('slow-start', readSecondsOfDay)),
    ...present('failFast', reader.read('fail-fast', readFailFast)),
    ...present('zoneWeights', reader.read('zone-weights', readZoneWeights)),
    ...present('forwarding', reader.read('forwarding', readForwarding)),
  };
  const fitting = onlyFitting(settings, service, reader);
  const { problems } = reader;
  return Object.keys(fitting).length > 0 ? { settings: fitting, problems } : { problems };
}

/** The weight of the endpoints of a slice. */
export function weightOf(slice: EndpointSlice, rules: SettingRules): ReadWeight {
  const { annotations } = slice;
  if (annotations === undefined) return NOTHING;
  const reader = new Reader(aboutOf('discovery.k8s.io/v1', slice), annotations, rules);
  const weight = reader.read('weight', readWeight);
  const { problems } = reader;
  return weight === undefined ? { problems } : { weight, problems };
}

/**
 * The schedulers that follow a weight that grows. Those that hash would move clients at each step, weights of `fo` and `ovf` are ranks and
 * numbers of connections, and others do not use them.
 */
const SLOW_STARTERS: ReadonlySet<ServiceScheduler> = new Set(['wrr', 'wlc', 'sed', 'nq']);

/** Leaves out the settings that another field, or another setting, leaves without effect, and reports them. */
function onlyFitting(settings: ServiceSettings, service: Service, reader: Reader): ServiceSettings {
  const fitting: { -readonly [Name in keyof ServiceSettings]: ServiceSettings[Name] } = { ...settings };
  const leaveOut = (field: keyof ServiceSettings, rule: string) => {
    if (fitting[field] === undefined) return;
    delete fitting[field];
    reader.report(SETTING_OF[field], rule);
  };
  if (service.affinitySeconds === 0) {
    const rule = 'has an effect only with spec.sessionAffinity ClientIP';
    leaveOut('persistenceTimeout', rule);
    leaveOut('persistenceNetmask', rule);
  }
  if (!service.ports.some(({ protocol }) => protocol === 'udp'))
    leaveOut('onePacket', 'has an effect only on UDP ports, of which the Service has none');
  const { scheduler, upperThreshold = 0, lowerThreshold = 0 } = fitting;
  if (scheduler !== undefined && scheduler !== 'sh' && scheduler !== 'mh')
    leaveOut('schedulerFlags', 'has an effect only with the schedulers sh and mh');
  if (scheduler === undefined || !SLOW_STARTERS.has(scheduler))
    leaveOut('slowStart', `has an effect only with the schedulers ${[...SLOW_STARTERS].join(', ')}`);
  if (lowerThreshold > upperThreshold) leaveOut('lowerThreshold', 'must be at most the upper-threshold');
  const obstacle = fitting.forwarding === 'tunnel' ? obstacleOfTunnels(fitting, service) : undefined;
  if (obstacle !== undefined) leaveOut('forwarding', obstacle);
  return fitting;
}

/**
 * The rule that a Service breaks whose packets are to go through tunnels: the node of the endpoint must choose the same endpoint as the
 * node before it. Undefined if it breaks none.
 */
function obstacleOfTunnels(settings: ServiceSettings, service: Service): string | undefined {
  if (settings.scheduler !== 'mh') return 'tunnel has an effect only with the scheduler mh';
  if (settings.upperThreshold !== undefined) return 'tunnel has an effect only without upper-threshold';
  if (settings.zoneWeights?.has('same')) return 'tunnel has an effect only without same in zone-weights';
  if (service.affinitySeconds > 0) return 'tunnel has an effect only with spec.sessionAffinity None';
  if (externalPolicyIsLocal(service))
    return 'tunnel has an effect only with spec.externalTrafficPolicy Cluster';
  return undefined;
}

/** Reads the annotations of one object. */
class Reader {
  readonly problems: Problem[] = [];
  readonly #about: Omit<Problem, 'field' | 'rule'>;
  readonly #annotations: Annotations;
  readonly #rules: SettingRules;

  constructor(about: Omit<Problem, 'field' | 'rule'>, annotations: Annotations, rules: SettingRules) {
    this.#about = about;
    this.#annotations = annotations;
    this.#rules = rules;
  }

  /** The value of a setting that is present, allowed, of this mode and valid; undefined otherwise. */
  read<Value>(setting: SettingName, readText: (text: string) => ReadValue<Value>): Value | undefined {
    const written = annotationIn(this.#annotations, setting);
    if (!written) return undefined;
    if (!this.#rules.has(setting)) {
      // Another project may read its annotation here: it is no mistake.
      return written.isOwn
        ? this.report(setting, 'is not allowed: --service-settings does not name it')
        : undefined;
    }
    const read = readText(written.text);
    if ('rule' in read) return this.report(setting, read.rule);
    const without = this.#rules.get(setting);
    return without === undefined ? read.value : this.report(setting, without);
  }

  report(setting: SettingName, rule: string): undefined {
    const written = annotationIn(this.#annotations, setting);
    if (!written) return undefined;
    const { name, text: value } = written;
    this.problems.push({ ...this.#about, field: `metadata.annotations.${name}`, value, rule });
    return undefined;
  }
}

/** The annotation of a setting: ours, or that of another project. */
function annotationIn(annotations: Annotations, setting: SettingName) {
  const [own, other] = annotationsOf(setting);
  const name = Object.hasOwn(annotations, own) ? own : other;
  const text = name === undefined ? undefined : annotations[name];
  return name === undefined || text === undefined ? undefined : { name, text, isOwn: name === own };
}

function present<Field extends keyof ServiceSettings>(field: Field, value: ServiceSettings[Field]) {
  return value === undefined ? {} : { [field]: value };
}

/** What a problem of an object says of it. */
export function aboutOf(
  apiVersion: string,
  { kind, namespace, name }: Service | EndpointSlice,
): Omit<Problem, 'field' | 'rule'> {
  return {
    object: `${kind} ${namespace}/${name}`,
    kind,
    reference: { apiVersion, kind, namespace, name },
  };
}
