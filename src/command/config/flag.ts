// What a flag is. flags.ts and ownFlags.ts declare the flags.

/** The type of a flag's value, by pflag's name for it; `FLAG_TYPES` in flagTypes.ts says how its text is read. */
export type FlagTypeName =
  | 'bool'
  | 'duration'
  | 'float32'
  | 'int32'
  | 'ip'
  | 'ipport'
  | 'level'
  | 'mapStringBool'
  | 'port-range'
  | 'quantity'
  | 'string'
  | 'strings'
  | 'version'
  | 'vmodule';

/** The value of a flag: durations in ms, lists, feature gates by name. */
export type FlagValue =
  | string
  | number
  | boolean
  | readonly string[]
  | Readonly<Record<string, boolean>>
  | readonly VerbosityPattern[];

/** An entry of `--vmodule`. */
export interface VerbosityPattern {
  readonly filePattern: string;
  readonly verbosity: number;
}

/** A flag. */
export interface Flag {
  readonly type: FlagTypeName;
  /** Its one-letter form, without the dash. */
  readonly short?: string;
  /** Its description in `--help`. */
  readonly help: string;
  /** Path of the field of KubeProxyConfiguration that it sets: `ipvs.scheduler`. The field has the default. */
  readonly field?: string;
  /** Its default as text, if it sets no field. */
  readonly default?: string;
  /** It takes effect with `--config` too. */
  readonly withConfig?: true;
  /** kube-proxy's warning when the flag is used. */
  readonly deprecated?: string;
}
