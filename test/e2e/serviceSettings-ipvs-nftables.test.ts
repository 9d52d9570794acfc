// Settings of a Service by annotation that end or refuse connections, with rules of nf_tables.
// Needs: ipvs, dummy device, nftables, bridge filter
import { testServiceSettings } from '../support/settings/settingsTests.js';

testServiceSettings('nftables');
