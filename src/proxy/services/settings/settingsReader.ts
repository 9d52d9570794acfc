// The settings of Services and slices, each object read once: plans, their problems and the endpoints that leave need the same. Pure.
import type { EndpointSlice, Service } from '../../objects/types.js';
import { NOTHING, type ReadSettings, type ReadWeight, settingsOf, weightOf } from './read.js';
import type { SettingRules } from './types.js';

/** Reads settings by these rules. Objects do not change. */
export class SettingsReader {
  readonly #rules: SettingRules;
  readonly #ofServices = new WeakMap<Service, ReadSettings>();
  readonly #ofSlices = new WeakMap<EndpointSlice, ReadWeight>();

  constructor(rules: SettingRules) {
    this.#rules = rules;
  }

  /** The settings of a Service. */
  ofService(service: Service): ReadSettings {
    if (service.annotations === undefined) return NOTHING;
    let read = this.#ofServices.get(service);
    if (!read) {
      read = settingsOf(service, this.#rules);
      this.#ofServices.set(service, read);
    }
    return read;
  }

  /** The weight of the endpoints of a slice. */
  ofSlice(slice: EndpointSlice): ReadWeight {
    if (slice.annotations === undefined) return NOTHING;
    let read = this.#ofSlices.get(slice);
    if (!read) {
      read = weightOf(slice, this.#rules);
      this.#ofSlices.set(slice, read);
    }
    return read;
  }
}
