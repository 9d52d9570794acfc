// Real packets in iptables mode with iptables-legacy, compared with test/support/packets/packetTable.ts.
// Needs: iptables-legacy, bridge filter, time
import { testIptablesPackets } from '../support/packets/iptablesPackets.js';

testIptablesPackets('legacy');
