// Tables that another program flushes while the proxy runs in iptables mode and waits between passes.
// Needs: conntrack, iptables-legacy, bridge filter
import { testFlushedTables } from '../support/disruptions/flushedTables.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('legacy');
testFlushedTables(2);
