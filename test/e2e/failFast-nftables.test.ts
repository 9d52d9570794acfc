// Connections with endpoints that failed, in nftables mode.
// Needs: conntrack, nftables, bridge filter
import { testFailFast } from '../support/disruptions/failFastTests.js';

testFailFast({ flags: ['--proxy-mode=nftables', '--iptables-min-sync-period=0s'], resetsRemoved: false });
