// What the configuration asks a mode. The folders of the modes answer; the wiring hands the answers down.
import type { SettingName } from '../../proxy/input/settingNames.js';
import type { FieldErrors } from './fieldErrors.js';
import type { Configuration } from './schema.js';

/** A value that no rule of kube-proxy forbids, and that the kernel would refuse. */
interface RefusedValue {
  /** Path of the field: `ipvs.scheduler`. */
  readonly field: string;
  readonly value: unknown;
  readonly rule: string;
}

/** What a mode says about fields and flags. */
export interface ModeConfiguration {
  /** A feature gate: while it is off, the mode is refused. Absent: no gate decides. */
  readonly gate?: string;
  /**
   * The sections of the configuration that have its periods, and its `masqueradeAll`. kube-proxy keeps these fields for the selected mode
   * alone.
   */
  readonly sections: { readonly periods: string; readonly masqueradeAll: string };
  /** Fields and sections without effect in this mode, and the reason. */
  readonly unused: Readonly<Record<string, string>>;
  /** Flags without a field that this mode has and some other mode does not: their names, without dashes. */
  readonly ownFlags: readonly string[];
  /** The settings by annotation that have an effect in this mode. Absent: none. */
  readonly serviceSettings?: readonly SettingName[];
  /**
   * The configuration of a command without a file, in which flags have set fields: flags of another section may have effect in this
   * mode too. Absent: a flag sets the field of its own section only.
   */
  withFlags?(configuration: Configuration): Configuration;
  /** The fields with the periods of its audits and passes, in ms. */
  periods(configuration: Configuration): { readonly syncPeriod: number; readonly minSyncPeriod: number };
  /**
   * Adds the errors of its section.
   *
   * @param selected the configuration selects this mode; otherwise, a field still says what a removal of its state spares
   */
  validate(configuration: Configuration, errors: FieldErrors, selected: boolean): void;
  /**
   * What clients notice when this mode follows others, with this configuration: `plan` says it. Absent: nothing beyond what the kernel's
   * items show.
   *
   * @param former names of the modes that have left state on this node
   */
  changesAfter?(configuration: Configuration, former: ReadonlySet<string>): readonly string[];
  /** The values that the kernel would refuse, as far as that is known without the kernel. */
  refusedValues(configuration: Configuration): readonly RefusedValue[];
}

/** The modes that a configuration can select. */
export interface KnownModes {
  /** By the value of `mode`. Not empty. */
  readonly definitions: Readonly<Record<string, ModeConfiguration>>;
  /** The mode of a blank `mode`. */
  readonly blank: string;
}

/** The mode of this name; undefined if there is none. */
export function modeNamed(name: string, { definitions }: KnownModes): ModeConfiguration | undefined {
  return Object.hasOwn(definitions, name) ? definitions[name] : undefined;
}

/** The name of the first mode. */
export function firstOf({ definitions }: KnownModes): string {
  return Object.keys(definitions)[0] as string;
}
