// Tunnels between nodes, with rules of iptables.
// Needs: ipvs, dummy device, iptables-legacy, command
import { testTunnels } from '../support/failover/tunnelTests.js';

testTunnels('iptables');
