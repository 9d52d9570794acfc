// Tables that another program flushes while the proxy runs in iptables mode, with iptables-legacy.
// Needs: conntrack, iptables-legacy, bridge filter
import { testFlushedTables } from '../support/disruptions/flushedTables.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('legacy');
testFlushedTables(0);
