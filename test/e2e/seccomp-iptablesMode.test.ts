// The tests of iptablesMode.test.ts, with the agent under the seccomp profile of deploy/.
// Needs: conntrack, command, seccomp
import { seccompProfile, underProfile } from '../support/sealing/seccompProfile.js';

process.env['KNP_LAUNCHER'] ??= underProfile(seccompProfile()).join(' ');
await import('./iptablesMode.test.js');
