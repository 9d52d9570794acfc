// A rolling replacement of backends in iptables mode with iptables-nft.
import { selectBackend } from '../support/iptablesBackend.js';
import { IPTABLES_ROLLOUT } from '../support/rolloutModes.js';
import { testRollout } from '../support/rolloutTests.js';

selectBackend('nft');
testRollout(IPTABLES_ROLLOUT);
