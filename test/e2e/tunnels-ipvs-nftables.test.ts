// Tunnels between nodes, with rules of nf_tables.
// Needs: ipvs, dummy device, nftables, command
import { testTunnels } from '../support/failover/tunnelTests.js';

testTunnels('nftables');
