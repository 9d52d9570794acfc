// Connections with endpoints that failed, in iptables mode with iptables-nft.
// Needs: conntrack, nftables, bridge filter
import { testFailFast } from '../support/disruptions/failFastTests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('nft');
testFailFast({ flags: ['--proxy-mode=iptables', '--iptables-min-sync-period=0s'], resetsRemoved: false });
