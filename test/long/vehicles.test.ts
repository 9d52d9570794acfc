// The promises of `npm run vm` in QEMU.
import { testVehicles } from '../support/vehiclePromises.js';

testVehicles(['qemu']);
