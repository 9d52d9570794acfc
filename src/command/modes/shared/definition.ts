// The definition of a mode: how the command and the agent open it.
import type { Logger } from 'pino';
import type { ChainRule, Table } from '../../../kernel/iptables/types.js';
import type { Family } from '../../../kernel/net/address.js';
import type { Nftables } from '../../../kernel/nftables/types.js';
import type { Machine } from '../../../kernel/shared/hints.js';
import type { Batch, BatchSource } from '../../../kernel/shared/types.js';
import type { FormerState, KeyedOperation, Mode, RuleCount } from '../../../proxy/modes/mode.js';
import type { KernelCommand } from '../../config/commandLine.js';
import type { Configuration } from '../../config/configuration.js';
import type { ModeConfiguration } from '../../config/modes.js';
import type { SettingName } from '../../config/serviceSettings.js';
import type { HostKernel } from './hostKernel.js';

/** Arguments for opening a mode. */
export interface ModeSettings {
  readonly configuration: Configuration;
  readonly command: KernelCommand;
  /** Load missing kernel modules. */
  readonly loadModules: boolean;
  readonly log: Logger;
}

/** Arguments for opening the state of a mode that ran before. */
export interface FormerSettings extends Pick<ModeSettings, 'configuration' | 'command'> {
  /** Of the running mode, without the rules that it uses. */
  readonly kernel: HostKernel;
  /** The same without the rules of other former modes whose state remains: where a sign of the mode is looked for. */
  readonly unshared: Pick<HostKernel, 'iptables'>;
  /** Families that can be programmed on this host. */
  readonly families: readonly Family[];
  /** The layout of the rules of the running mode, see {@link OpenedMode.layout}. Absent: it has one, or none runs. */
  readonly layout?: string | undefined;
}

/** What shows which modes have programmed a kernel. */
export interface KernelSigns {
  /** The chains of iptables of all families, as `table/chain`. */
  readonly chains: ReadonlySet<string>;
  hasLink(name: string): Promise<boolean>;
  /** The machine, to see whether the kernel has loaded nf_tables. Default: this one. */
  readonly machine?: Machine;
  /** Opens nftables; called only if the kernel has loaded it. */
  openNftables(): Promise<Pick<Nftables, 'listTables' | 'close'>>;
}

/** The chains of iptables that a mode has whatever the Services are, and its rules in built-in chains. */
export interface RulesInUse {
  /** Names of its chains, without those of single Services and endpoints. */
  readonly chains: Readonly<Record<Table, readonly string[]>>;
  /** Its rules in built-in chains. */
  jumps(family: Family): readonly ChainRule[];
}

/** A counter of a mode, with its metric. */
interface ModeCounter {
  readonly counter: string;
  /** Name of the metric, without the prefix `kubeproxy_`. */
  readonly name: string;
  readonly help: string;
}

/** Node ports on localhost of a mode that cannot program them: the agent serves those of TCP itself. */
export interface LocalhostNodePorts {
  /** Families in which they are served. */
  readonly families: readonly Family[];
  /** The mirrored kube-proxy has metrics of them. */
  readonly hasMetrics: boolean;
  /** Packets that are rejected instead, by family and protocol (`UDP`). Rejects with a NetlinkError. */
  readRejected(): Promise<
    readonly { readonly family: Family; readonly protocol: string; readonly packets: number }[]
  >;
}

/** What a mode adds to the metrics. */
export interface ModeMetrics {
  /** Its own parts of the kernel, by the label `family`: `ipvs`. */
  readonly parts?: Readonly<Record<string, BatchSource<never>>>;
  /** Service ports without local endpoints are counted, as in kube-proxy in this mode. Absent: Services are. */
  readonly countsPorts?: true;
  /** Counts of the rules in our chains. Absent if their number does not depend on the Services. */
  ruleCounts?(): readonly RuleCount[];
  /** Counters of failed batches of one of its own parts, by family. Absent: it has none. */
  readonly failures?: {
    /** The part, as in `parts`. */
    readonly part: string;
    readonly counters: readonly ModeCounter[];
    /** The counter and the family for which a batch with a failed operation counts. */
    of(batch: Batch<unknown>): { readonly counter: string; readonly family: Family };
  };
  /** Counters of packets. Absent if the mode or the kernel has none. */
  readonly packets?: {
    readonly counters: readonly ModeCounter[];
    /** Packets by counter. Rejects with a NetlinkError. */
    read(): Promise<ReadonlyMap<string, number>>;
  };
}

/** A mode with the kernel that it programs. */
export interface OpenedMode {
  readonly mode: Mode<unknown, KeyedOperation>;
  /** The layout of its rules, if the mode has several: agents with two of them would remove each other's rules. */
  readonly layout?: string;
  /** The chains and rules of iptables that other modes may have too. Absent: it has no rules of iptables. */
  readonly rules?: RulesInUse;
  /** Families that can be programmed on this host. */
  readonly families: readonly Family[];
  /** Time from the end of a pass to the start of the next, at least, in ms: `minSyncPeriod`. */
  readonly minSyncPeriod: number;
  readonly kernel: HostKernel;
  readonly metrics: ModeMetrics;
  /** Settings of Services that have no effect on this node, with the reasons. Absent: none. */
  readonly refusedSettings?: ReadonlyMap<SettingName, string>;
  /** Options that have no effect on this node, each with the reason. Absent: none. */
  readonly withoutEffect?: readonly string[];
  /**
   * Base chains of other programs in the tables of the mode, as the last reading of all items found them: they stay. Absent: the mode has no
   * tables of its own.
   */
  foreignChains?(): readonly string[];
  /** Node ports on localhost that the agent serves. Absent: the mode programs them, or there are none. */
  readonly localhostNodePorts?: LocalhostNodePorts;
  /** Performs the steps that need more privileges, once (`--init-only`). Rejects with a NetlinkError. */
  prepare(): Promise<void>;
  /**
   * Tests in the kernel the features that every Service needs. Rejects with a NetlinkError whose hint names the kernel
   * module.
   *
   * @param configuration may differ from the one that the mode was opened with
   */
  probe(configuration: Configuration): Promise<void>;
  /** The same, without a change in the kernel. Resolves to a warning if this host cannot determine the result. */
  check(): Promise<string | undefined>;
}

/** A mode, before it is opened. */
export interface ModeDefinition extends ModeConfiguration {
  /** Throws UsageError if a flag of this mode has an unknown value. */
  checkFlags(command: KernelCommand): void;
  /** It needs ServiceCIDRs: they are watched. Absent: no request is made for them. */
  readonly needsServiceCIDRs?: true;
  /** Whether it needs the Node objects of other nodes. */
  needsAllNodes(command: KernelCommand): boolean;
  /** Opens the kernel. Rejects with the NetlinkError of the part that cannot be opened. */
  open(settings: ModeSettings): Promise<OpenedMode>;
  /**
   * Whether the kernel has what only this mode makes: all Services are in it. Loads no module. Rejects with the NetlinkError of the part
   * that cannot be read.
   */
  isProgrammed(signs: KernelSigns): Promise<boolean>;
  /** The rules of iptables of the state that the mode leaves. Absent: it leaves none. */
  formerRules?(): Promise<RulesInUse>;
  /**
   * Opens the state that the mode left on this node; undefined if it left none. Loads no module: without it, the kernel has
   * no such state. Rejects with the NetlinkError of the part that cannot be opened or read.
   */
  openFormer(settings: FormerSettings): Promise<FormerState | undefined>;
  /**
   * The same for the rules that the mode left in another layout than the running one: it is removed while the mode runs too. Absent: the mode removes
   * them itself.
   *
   * @param remaining as in {@link FormerMode.open}, as is the result
   */
  openFormerRules?(
    settings: FormerSettings,
    remaining: readonly string[],
  ): Promise<FormerState | 'later' | undefined>;
}
