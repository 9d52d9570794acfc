// The promises of `npm run vm` in QEMU.
// Needs: vehicles
import { testVehicles } from '../support/processes/vehiclePromises.js';

testVehicles(['qemu']);
