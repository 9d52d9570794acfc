// Connections with endpoints that terminate, and a bound of draining, in iptables mode with iptables-nft.
// Needs: conntrack, nftables, bridge filter
import { testDrainTimeout } from '../support/disruptions/drainTests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('nft');
testDrainTimeout(['--proxy-mode=iptables', '--iptables-min-sync-period=0s']);
