// An agent in iptables mode with the seccomp profile of deploy/ and two capabilities, with iptables-legacy.
// Needs: iptables-legacy, conntrack, command, seccomp
import { selectBackend } from '../support/namespaces/iptablesBackend.js';
import { testSealedAgent } from '../support/sealing/sealedAgent.js';
import { SEALED_IPTABLES_LEGACY } from '../support/sealing/sealedModes.js';

selectBackend('legacy');
testSealedAgent(SEALED_IPTABLES_LEGACY);
