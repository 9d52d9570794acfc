// Faults that are planted in simulated proxies: what each does wrong.

/** The planted faults. */
export const FLAWS = {
  lostRemoval: 'Every third endpoint that leaves stays in the kernel.',
  staleStream: 'UDP flows to endpoints that left are not deleted.',
  endpointNeverChosen: 'The last endpoint has no chance, as with weight 0.',
  unhealedDamage: 'What another program deleted at a frontend is not programmed again.',
  wrongSource: 'All connections are masqueraded.',
  rangesIgnored: 'Source ranges are not programmed.',
  affinityLost: 'Each change of a Service forgets its clients.',
  affinityStays: 'Affinity never ends.',
  establishedReset: 'Each change of a Service resets its connections.',
  readyAgainLost: 'An endpoint that was there before and not ready is never programmed when it is ready.',
  terminatingChosen: 'Terminating endpoints are chosen beside ready ones.',
  notReadyChosen: 'Endpoints are chosen whatever their condition.',
  localIgnored: 'Traffic policy Local is ignored.',
  nodePortMissing: 'A node port that is added to an existing Service is not programmed.',
  familyMissing: 'IPv6 is not programmed for Services with both families.',
  protocolMissing: 'UDP is not programmed if TCP has the same port.',
  late: 'Programming takes longer than the bound.',
  hintsIgnored: 'Hints for zones are ignored.',
  serviceLeft: 'A deleted Service stays in the kernel.',
  lostWhileDown: 'What changed while the proxy was down is never programmed.',
  flushedAtStart: 'The rules are gone for some time when the proxy starts.',
  silentWhenEmpty: 'Packets to a Service without endpoints are dropped, not rejected.',
  olderStays: 'What only an older API server had stays in the kernel when the current objects are back.',
  listKeepsDeleted: 'A list after watches that were too old does not remove what was deleted.',
  givesUpWhenForbidden: 'The API server is not asked again after it has answered 403.',
  gapAtModeChange: 'The rules of one mode go before those of the other are there.',
  zoneIgnored: 'A change of the zone of the node has no effect.',
} as const;
export type Flaw = keyof typeof FLAWS;
