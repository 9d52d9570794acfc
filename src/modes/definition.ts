// What the command and the agent need to know of a mode, whichever it is.
import type { Logger } from 'pino';
import type { KernelCommand } from '../config/commandLine.js';
import type { Configuration } from '../config/configuration.js';
import type { BatchSource } from '../kernel/types.js';
import type { Family } from '../net/address.js';
import type { KeyedOperation, Mode } from './mode.js';
import type { HostKernel } from './shared/hostKernel.js';

/** What a mode is opened with. */
export interface ModeSettings {
  readonly configuration: Configuration;
  readonly command: KernelCommand;
  /** Load the kernel modules that are missing. */
  readonly loadModules: boolean;
  readonly log: Logger;
}

/** A mode with the kernel that it programs. */
export interface OpenedMode {
  readonly mode: Mode<unknown, KeyedOperation>;
  /** Other modes that may have run on this node: their items are removed once those of `mode` are in place. */
  readonly formerModes?: readonly Mode<unknown, KeyedOperation>[];
  /** Families that can be programmed on this host. */
  readonly families: readonly Family[];
  readonly kernel: HostKernel;
  /** The mode's own parts of the kernel, by the name of their metrics. */
  readonly parts: { readonly ipvs?: BatchSource<never>; readonly ipset?: BatchSource<never> };
  /** Does what needs more rights than the rest, once (`--init-only`). Rejects with a NetlinkError. */
  prepare(): Promise<void>;
  /**
   * Tries in the kernel what every Service needs. Rejects with a NetlinkError whose hint names the kernel module.
   *
   * @param configuration the one to try, which may be another than the mode was opened with
   */
  probe(configuration: Configuration): Promise<void>;
  /** The same without any change. Resolves to a sentence where this host cannot know. */
  check(): Promise<string | undefined>;
}

/** A mode, before it is opened. */
export interface ModeDefinition {
  /** Throws UsageError for a flag of this mode whose value it does not know. */
  checkFlags(command: KernelCommand): void;
  /** Whether it needs the Node objects of other nodes. */
  needsAllNodes(command: KernelCommand): boolean;
  /** Opens the kernel. Rejects with the NetlinkError of the part that cannot be opened. */
  open(settings: ModeSettings): Promise<OpenedMode>;
}
