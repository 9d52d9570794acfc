// The promises of `npm run vm` in QEMU.
// Needs: testMachines
import { testPromises } from '../support/processes/testMachinePromises.js';

testPromises(['qemu']);
