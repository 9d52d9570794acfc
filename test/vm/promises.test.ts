// The promises of `npm run vm`. QEMU takes longest to boot: where there is another test machine, the tier long tries QEMU.
import { availableTestMachines, testPromises } from '../support/processes/testMachinePromises.js';

const available = await availableTestMachines();
const others = available.filter((machine) => machine !== 'qemu');
testPromises(others.length > 0 ? others : available);
