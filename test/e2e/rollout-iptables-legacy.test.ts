// A rolling replacement of backends in iptables mode with iptables-legacy.
// Needs: conntrack, iptables-legacy, bridge filter

import { IPTABLES_ROLLOUT } from '../support/disruptions/rolloutModes.js';
import { testRollout } from '../support/disruptions/rolloutTests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('legacy');
testRollout(IPTABLES_ROLLOUT);
