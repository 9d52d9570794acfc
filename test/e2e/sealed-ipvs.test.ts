// An agent in ipvs mode with the seccomp profile of deploy/ and two capabilities.
// Needs: ipvs, dummy device, command, seccomp
import { testSealedAgent } from '../support/sealing/sealedAgent.js';
import { SEALED_IPVS } from '../support/sealing/sealedModes.js';

testSealedAgent(SEALED_IPVS);
