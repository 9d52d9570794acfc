// Settings of a Service by annotation, with traffic.
// Needs: ipvs, dummy device
import { testServiceSettings } from '../support/settings/settingsTests.js';

testServiceSettings('iptables');
