// An agent in nftables mode with the seccomp profile of deploy/ and one capability.
// Needs: nftables, conntrack, command, seccomp
import { testSealedAgent } from '../support/sealing/sealedAgent.js';
import { SEALED_NFTABLES } from '../support/sealing/sealedModes.js';

testSealedAgent(SEALED_NFTABLES);
