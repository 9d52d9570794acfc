// Connections with endpoints that terminate, and a bound of draining, in nftables mode.
// Needs: conntrack, nftables, bridge filter
import { testDrainTimeout } from '../support/disruptions/drainTests.js';

testDrainTimeout(['--proxy-mode=nftables', '--iptables-min-sync-period=0s']);
