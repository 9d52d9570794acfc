// The recordings of iptables mode on a real kernel, with iptables-legacy.
// Needs: conntrack, iptables-legacy
import { judgeIptables } from '../support/oracle/judgeIptables.js';

judgeIptables('legacy');
