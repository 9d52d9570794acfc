// The feature gates that kube-proxy accepts: those of all Kubernetes components, so that every component can be started with the same
// gates. All gates of 1.36 are listed; of later versions, those that concern kube-proxy.
import { quote } from './goSyntax.js';
import type { Behaviour, MirroredVersion } from './mirroredVersion.js';
import { closestTo } from './suggestion.js';

/** Gates that may be true or false. */
const FREE = `
AllAlpha AllBeta AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests AllowParsingUserUIDFromCertAuth
AllowServiceExternalIPs AllowUnsafeMalformedObjectDeletion APIResponseCompression APIServerIdentity
APIServingWithRoutine AtomicFIFO AuthorizePodWebsocketUpgradeCreatePermission CBORServingAndStorage
ChangeContainerStatusOnKubeletRestart ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowCBOR
ClientsAllowTLSCacheGC ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation
CloudControllerManagerWebhook ClusterTrustBundle ClusterTrustBundleProjection ComponentFlagz ComponentStatusz
ConcurrentWatchObjectDecode ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContainerStopSignals
ContextualLogging ControllerManagerReleaseLeaderElectionLockOnExit CoordinatedLeaderElection
CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions CRDObservedGenerationTracking CRIListStreaming
CrossNamespaceVolumeDataSource CSIVolumeHealth CustomCPUCFSQuotaPeriod DeclarativeValidationBeta
DeclarativeValidationTakeover DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency
DisableCPUQuotaWithExclusiveCPUs DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaintRules DRADeviceTaints
DRAExtendedResource DRAListTypeAttributes DRANodeAllocatableResources DRAPartitionableDevices DRAPrioritizedList
DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization DRAResourcePoolStatus
DRASchedulerFilterTimeout DRAWorkloadResourceClaims EnvFiles EventedPLEG ExtendWebSocketsToKubelet GangScheduling
GenericWorkload GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HostnameOverride HPAConfigurableTolerance
HPAScaleToZero ImageVolumeWithDigest InformerResourceVersion InOrderInformersBatchProcess
InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingExclusiveCPUs
InPlacePodVerticalScalingExclusiveMemory InPlacePodVerticalScalingInitContainers KMSv1 KubeletCrashLoopBackOffMax
KubeletEnsureSecretPulledImages KubeletInUserNamespace KubeletPodResourcesListUseActivePods
KubeletRegistrationGetOnExistsOnly KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders
ListFromCacheSnapshot LocalStorageCapacityIsolationFSQuotaMonitoring LoggingAlphaOptions LoggingBetaOptions
ManifestBasedAdmissionControlConfig MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
MaxUnavailableStatefulSet MemoryQoS MutablePodResourcesForSuspendedJobs MutablePVNodeAffinity
MutableSchedulingDirectivesForSuspendedJobs MutatingAdmissionPolicy NativeHistograms NodeDeclaredFeatures
NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PersistentVolumeClaimUnusedSinceTime
PLEGOnDemandRelist PodAndContainerStatsFromCRI PodCertificateRequest PodDeletionCost PodLevelResourceManagers
PodLevelResources PodLogsQuerySplitStreams PodReadyToStartContainersCondition PodsAPI PodTopologyLabelsAdmission
PortForwardWebsockets PreventStaticPodAPIReferences QOSReserved ReduceDefaultCrashLoopBackOffDecay
RelaxedServiceNameValidation ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile RemoteRequestHeaderUID
ResourceHealthStatus ResourceHealthStatusMessage RestartAllContainersOnContainerExits RotateKubeletServerCertificate
RuntimeClassInImageCriAPI SchedulerAsyncAPICalls SchedulerAsyncPreemption SchedulerPopFromBackoffQ SELinuxMount
ServiceAccountNodeAudienceRestriction ServiceCIDRStatusFieldWiping ShardedListAndWatch SizeBasedListCostEstimate
StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StorageCapacityScoring
StorageNamespaceIndex StorageVersionAPI StorageVersionHash StorageVersionMigrator StrictIPCIDRValidation
StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics
TaintTolerationComparisonOperators TokenRequestServiceAccountUIDValidation TopologyAwareWorkloadScheduling
TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO
UserNamespacesHostNetworkSupport VolumeLimitScaling WatchCacheInitializationPostStartHook WatchList WatchListClient
WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown WindowsHostNetwork WorkloadAwarePreemption WorkloadWithJob
`;

/** Gates that may only be set to true. */
const LOCKED_ON = `
AggregatedDiscoveryRemoveBetaType AnonymousAuthConfigurableEndpoints APIServerTracing AuthorizeNodeWithSelectors
AuthorizeWithSelectors BtreeWatchCache ConsistentListFromCache CPUManagerPolicyOptions CRDValidationRatcheting
CSIServiceAccountTokenSecrets CustomResourceFieldSelectors DeclarativeValidation DisableAllocatorDualWrite
DisableNodeKubeProxyVersion DRAAdminAccess DynamicResourceAllocation ExecProbeTimeout
ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume InOrderInformers InPlacePodVerticalScaling
JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI
KubeletFineGrainedAuthz KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletPSI KubeletTracing
LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator MutableCSINodeAllocatableCount
NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap OrderedNamespaceDeletion
PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness
PreferSameTrafficDistribution ProcMountType RecoverVolumeExpansionFailure RecursiveReadOnlyMounts
RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization RetryGenerateName
SELinuxChangePolicy SELinuxMountReadWriteOncePod SeparateTaintEvictionController ServiceAccountTokenJTI
ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport VolumeAttributesClass
WinDSR WinOverlay
`;

/** Gates that may only be set to false. */
const LOCKED_OFF = 'AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC';

const namesIn = (text: string) => text.trim().split(/\s+/);

/** Every gate of 1.36, with the value that it is locked to, if any. */
const GATES: ReadonlyMap<string, boolean | undefined> = new Map([
  ...namesIn(FREE).map((name) => [name, undefined] as const),
  ...namesIn(LOCKED_ON).map((name) => [name, true] as const),
  ...namesIn(LOCKED_OFF).map((name) => [name, false] as const),
]);

/** A gate in a version. */
interface Gate {
  readonly stage: 'Alpha' | 'Beta' | 'GA' | 'Deprecated';
  readonly default: boolean;
  /** It may only have its default. */
  readonly locked?: true;
}

const on = (stage: Gate['stage']): Gate => ({ stage, default: true });
const off = (stage: Gate['stage']): Gate => ({ stage, default: false });

/** The gates that concern kube-proxy, in each version that has them. 1.38 is that of its second alpha. */
export const KUBE_PROXY_GATES: Readonly<Record<string, { readonly [version in MirroredVersion]?: Gate }>> = {
  AllowServiceExternalIPs: { '1.36': on('GA'), '1.37': on('GA'), '1.38': on('GA') },
  ComponentFlagz: { '1.36': on('Beta'), '1.37': on('Beta'), '1.38': on('Beta') },
  ComponentStatusz: { '1.36': on('Beta'), '1.37': on('Beta'), '1.38': on('Beta') },
  KubeProxyIPVS: { '1.37': on('Deprecated'), '1.38': on('Deprecated') },
  KubeProxyNFTablesLocalhostNodePorts: { '1.37': off('Alpha'), '1.38': on('Beta') },
  NativeHistograms: { '1.36': off('Alpha'), '1.37': on('Beta'), '1.38': on('Beta') },
  NFTablesNetlink: { '1.37': on('Beta'), '1.38': on('Beta') },
  RelaxedServiceNameValidation: {
    '1.36': on('Beta'),
    '1.37': { ...on('GA'), locked: true },
    '1.38': { ...on('GA'), locked: true },
  },
};

/** The gate of nftables mode for node ports on localhost. */
export const LOCALHOST_NODE_PORTS = 'KubeProxyNFTablesLocalhostNodePorts';

/**
 * Gates that have an effect here. `AllowServiceExternalIPs` and `KubeProxyIPVS` are on, `KubeProxyNFTablesLocalhostNodePorts` has the default
 * of the mirrored version, and the others are off, unless they are set by name.
 */
export const EFFECTIVE_GATES = [
  'AllowServiceExternalIPs',
  'ComponentFlagz',
  'ComponentStatusz',
  'KubeProxyIPVS',
  LOCALHOST_NODE_PORTS,
  'LoggingAlphaOptions',
] as const;

type Gates = Readonly<Record<string, boolean>>;

/** Whether external IPs are served: the gate `AllowServiceExternalIPs`, which `AllAlpha` and `AllBeta` do not set. */
export function servesExternalIPs(gates: Gates): boolean {
  return gates['AllowServiceExternalIPs'] ?? true;
}

/**
 * Whether one of the {@link KUBE_PROXY_GATES} is on: as it is set by name, else by `AllAlpha` or `AllBeta` if it is of that stage, else its
 * default. A gate that the version does not have decides nothing: it counts as on if a later version has it as `Deprecated`, and as off
 * otherwise.
 */
export function isGateOn(name: string, gates: Gates, { version }: Pick<Behaviour, 'version'>): boolean {
  const gate = KUBE_PROXY_GATES[name]?.[version];
  if (!gate) return isDeprecatedLater(name);
  return gates[name] ?? gates[stageGate(name, { version }) ?? ''] ?? gate.default;
}

/** The gate that sets all gates of the stage of one: `AllAlpha`; undefined if no gate does, or the version does not have it. */
export function stageGate(name: string, { version }: Pick<Behaviour, 'version'>): string | undefined {
  const stage = KUBE_PROXY_GATES[name]?.[version]?.stage;
  return stage === 'Alpha' || stage === 'Beta' ? `All${stage}` : undefined;
}

/** Whether what a gate controls was there before the gate. */
function isDeprecatedLater(name: string): boolean {
  return Object.values(KUBE_PROXY_GATES[name] ?? {}).some(({ stage }) => stage === 'Deprecated');
}

/**
 * kube-proxy's errors for unknown gates, and for gates that are locked to another value. The list of all gates is known only of 1.36: with a
 * later version, an unknown gate is an error only if its name is close to that of a gate that concerns kube-proxy.
 */
export function featureGateErrors(gates: Gates, behaviour: Behaviour): string[] {
  return Object.entries(gates).flatMap(([name, value]) => {
    const own = KUBE_PROXY_GATES[name];
    if (own ? !own[behaviour.version] : !GATES.has(name)) return unknownGate(name, behaviour);
    const gate = own?.[behaviour.version];
    const locked = gate?.locked ? gate.default : GATES.get(name);
    if (locked === undefined || locked === value) return [];
    return [`cannot set feature gate ${name} to ${value}, feature is locked to ${locked}`];
  });
}

function unknownGate(name: string, { knowsAllGates }: Behaviour): string[] {
  const unrecognized = `unrecognized feature gate: ${name}`;
  if (knowsAllGates) return [unrecognized];
  // The name of a gate in Kubernetes' code is a name in Go.
  if (!/^[A-Z][A-Za-z0-9]*$/.test(name)) return [unrecognized];
  const meant = closestTo(name, EFFECTIVE_GATES);
  return meant === undefined ? [] : [`${unrecognized} (did you mean ${quote(meant)}?)`];
}
