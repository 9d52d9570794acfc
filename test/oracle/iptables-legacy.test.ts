// The recordings of iptables mode on a real kernel, with iptables-legacy.
import { judgeIptables } from '../support/oracle/judgeIptables.js';

judgeIptables('legacy');
