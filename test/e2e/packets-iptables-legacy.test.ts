// Real packets in iptables mode with iptables-legacy, compared with test/support/packetTable.ts.
import { testIptablesPackets } from '../support/iptablesPackets.js';

testIptablesPackets('legacy');
