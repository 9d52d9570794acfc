// The purpose of the rules of ipvs mode, in words. Other rules are described by their effect.
import type { RuleMeanings } from '../shared/trace.js';

/** By chain and target. */
const MEANINGS: Readonly<Record<string, string>> = {
  'nat/KUBE-SERVICES ACCEPT': 'no later rule of the chain marks the packet',
  'nat/KUBE-SERVICES KUBE-MARK-MASQ': 'the packet must be masqueraded',
  'nat/KUBE-SERVICES DNAT':
    'packets to this address go through tunnels: clients of the cluster use the cluster IP',
  'nat/KUBE-NODE-PORT KUBE-MARK-MASQ': 'the packet must be masqueraded',
  'nat/KUBE-LOAD-BALANCER KUBE-MARK-MASQ': 'the packet must be masqueraded',
  'nat/KUBE-LOAD-BALANCER RETURN': 'externalTrafficPolicy is Local, the packet keeps its source',
  'nat/KUBE-NODE-PORT RETURN': 'externalTrafficPolicy is Local, the packet keeps its source',
  'nat/KUBE-POSTROUTING RETURN': 'the packet keeps its source',
  'filter/KUBE-IPVS-FILTER RETURN': 'a Service has this port',
  'filter/KUBE-IPVS-FILTER REJECT': 'no Service has this port, the packet is rejected',
  'filter/KUBE-NODE-PORT ACCEPT': 'the port is a health check node port, the packet is accepted',
  'filter/KUBE-PROXY-FIREWALL KUBE-SOURCE-RANGES-FIREWALL': 'the Service has source ranges',
  'filter/KUBE-SOURCE-RANGES-FIREWALL RETURN': 'a source range contains the client',
  'filter/KUBE-SOURCE-RANGES-FIREWALL DROP': 'no source range contains the client, the packet is dropped',
  'filter/KUBE-IPVS-OUT-FILTER DROP': 'no source range contains this node, the packet is dropped',
};

/** Chains of which a drop means that the source ranges of a Service exclude the client. */
const SOURCE_RANGES = /\/KUBE-(SOURCE-RANGES-FIREWALL|IPVS-OUT-FILTER)$/;

/** The purpose of the rules. */
export const IPVS_MEANINGS: RuleMeanings = {
  meaningOf: ({ at, target }) => MEANINGS[`${at} ${target}`],
  causeOf: ({ at }, of) =>
    SOURCE_RANGES.test(at)
      ? { code: 'SourceRanges', text: `${at} drops ${of}: no source range contains its source` }
      : undefined,
};
