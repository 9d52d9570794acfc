// The promises of `npm run vm`. QEMU takes longest to boot: where there is another test machine, the tier long tries QEMU.
import { availableVehicles, testVehicles } from '../support/processes/vehiclePromises.js';

const available = await availableVehicles();
const others = available.filter((vehicle) => vehicle !== 'qemu');
testVehicles(others.length > 0 ? others : available);
