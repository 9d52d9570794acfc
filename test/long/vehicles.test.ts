// The promises of `npm run vm` in QEMU.
import { testVehicles } from '../support/processes/vehiclePromises.js';

testVehicles(['qemu']);
