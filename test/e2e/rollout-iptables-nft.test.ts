// A rolling replacement of backends in iptables mode with iptables-nft.
// Needs: conntrack, nftables, bridge filter

import { IPTABLES_ROLLOUT } from '../support/disruptions/rolloutModes.js';
import { testRollout } from '../support/disruptions/rolloutTests.js';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';

selectBackend('nft');
testRollout(IPTABLES_ROLLOUT);
