// A rolling replacement of backends in iptables mode with iptables-legacy.
import { selectBackend } from '../support/iptablesBackend.js';
import { IPTABLES_ROLLOUT } from '../support/rolloutModes.js';
import { testRollout } from '../support/rolloutTests.js';

selectBackend('legacy');
testRollout(IPTABLES_ROLLOUT);
